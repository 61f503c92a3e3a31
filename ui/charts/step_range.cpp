#include "ui/charts/step_range.h"

#include <QAction>
#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr double narrowest = 4;          // steps (or seconds): closer there is nothing to see
constexpr std::size_t deepestStack = 32;

}  // namespace

StepRange::StepRange(QObject* parent) : QObject(parent) {
    const auto make = [this](const QString& text, const char* name) {
        auto* action = new QAction(text, this);
        action->setObjectName(QLatin1String(name));
        return action;
    };
    m_zoomIn = make(tr("Zoom in (+)"), "zoomIn");
    m_zoomOut = make(tr("Zoom out (−)"), "zoomOut");
    m_everything = make(tr("Show all steps (0)"), "zoomReset");
    m_back = make(tr("Previous zoom (Backspace)"), "zoomBack");
    m_follow = make(tr("Follow the newest steps (F)"), "followEnd");
    m_follow->setCheckable(true);
    connect(m_zoomIn, &QAction::triggered, this, [this] { zoomBy(0.5, middle()); });
    connect(m_zoomOut, &QAction::triggered, this, [this] { zoomBy(2.0, middle()); });
    connect(m_everything, &QAction::triggered, this, &StepRange::reset);
    connect(m_back, &QAction::triggered, this, &StepRange::back);
    connect(m_follow, &QAction::toggled, this, &StepRange::setFollowing);
    updateActions();
}

QList<QAction*> StepRange::actions() const { return {m_zoomIn, m_zoomOut, m_everything, m_back, m_follow}; }

void StepRange::setWhole(XSpan whole, double dataEnd) {
    if (whole.width() < narrowest) {
        whole.to = whole.from + narrowest;
    }
    const bool isSame = whole == m_whole && dataEnd == m_dataEnd;
    m_whole = whole;
    m_dataEnd = dataEnd;
    if (!isSame) {
        followEnd();
        Q_EMIT changed();
    }
}

void StepRange::restart() {
    m_zoom.clear();
    m_cursor.reset();
    m_whole = {0, narrowest};
    m_dataEnd = 0;
    updateActions();
    Q_EMIT cursorChanged();
    Q_EMIT changed();
}

XSpan StepRange::clamped(XSpan span) const {
    const double width = std::clamp(span.width(), std::min(narrowest, m_whole.width()), m_whole.width());
    const double from = std::clamp(span.from, m_whole.from, m_whole.to - width);
    return {from, from + width};
}

void StepRange::zoomTo(XSpan span) {
    const XSpan wanted = clamped(span);
    if (wanted == visible()) {
        return;
    }
    if (wanted.width() >= m_whole.width()) {
        reset();
        return;
    }
    m_zoom.push_back(wanted);
    if (m_zoom.size() > deepestStack) {
        m_zoom.erase(m_zoom.begin());
    }
    updateActions();
    Q_EMIT changed();
}

void StepRange::zoomBy(double factor, double around) {
    const XSpan now = visible();
    const double x = std::clamp(around, now.from, now.to);
    const double width = std::max(now.width() * factor, narrowest);
    const double share = (x - now.from) / now.width();
    zoomTo({x - share * width, x - share * width + width});
}

void StepRange::pan(double shareOfWidth) {
    if (m_zoom.empty()) {
        return;
    }
    const double shift = shareOfWidth * visible().width();
    const XSpan wanted = clamped({visible().from + shift, visible().to + shift});
    if (wanted != m_zoom.back()) {
        m_zoom.back() = wanted;  // a pan is no new level of the stack
        Q_EMIT changed();
    }
}

void StepRange::back() {
    if (!m_zoom.empty()) {
        m_zoom.pop_back();
        updateActions();
        Q_EMIT changed();
    }
}

void StepRange::reset() {
    if (!m_zoom.empty()) {
        m_zoom.clear();
        updateActions();
        Q_EMIT changed();
    }
}

void StepRange::setFollowing(bool follow) {
    if (follow == m_isFollowing) {
        return;
    }
    m_isFollowing = follow;
    m_follow->setChecked(follow);
    if (follow && m_zoom.empty() && m_dataEnd - m_whole.from > 2 * narrowest) {
        // Following needs a window to move: the last fifth of what is there.
        const double width = std::max((m_dataEnd - m_whole.from) / 5, 2 * narrowest);
        zoomTo({m_dataEnd - width, m_dataEnd});
    }
    followEnd();
    Q_EMIT changed();
}

void StepRange::followEnd() {
    if (m_isFollowing && !m_zoom.empty()) {
        const double width = m_zoom.back().width();
        m_zoom.back() = clamped({m_dataEnd - width, m_dataEnd});
    }
}

void StepRange::setCursor(std::optional<double> x) {
    if (x != m_cursor) {
        m_cursor = x;
        Q_EMIT cursorChanged();
    }
}

void StepRange::reveal(double x) {
    const XSpan now = visible();
    if (x < now.from || x > now.to) {
        pan((x - (now.from + now.to) / 2) / now.width());
    }
}

void StepRange::updateActions() {
    m_back->setEnabled(!m_zoom.empty());
    m_everything->setEnabled(!m_zoom.empty());
    m_zoomOut->setEnabled(!m_zoom.empty());
}

}  // namespace mantissa::ui
