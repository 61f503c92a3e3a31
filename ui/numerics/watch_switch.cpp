#include "ui/numerics/watch_switch.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>

#include "base/numbers.h"
#include "record/meta_keys.h"
#include "ui/numerics/choice_row.h"
#include "ui/numerics/heat_scale.h"
#include "ui/numerics/numerics_words.h"

namespace mantissa::ui {
namespace {

std::optional<double> numberOf(const RunFacts& run, const char* key) {
    const auto found = run.meta.find(key);
    return found == run.meta.end() ? std::nullopt : parse_double(found->second);
}

/// What looking at a step takes on average, at the present level.
std::optional<double> watchNsOf(const RunFacts& run) {
    const auto ns = numberOf(run, meta::watch_ns), steps = numberOf(run, meta::watch_steps);
    if (!ns || !steps || *steps - run.watchedStepsBefore < 1) {
        return std::nullopt;
    }
    return (*ns - run.watchedNsBefore) / (*steps - run.watchedStepsBefore);
}

}  // namespace

std::optional<int> watchLevelOf(const RunFacts& run) {
    if (const auto level = numberOf(run, meta::watch_level)) {
        return static_cast<int>(*level);
    }
    const auto plan = watchPlanOf(run);
    return plan && run.hasRecords() ? std::optional(plan->level) : std::nullopt;
}

QString watchCostOf(const RunFacts& run) {
    const auto perStep = watchNsOf(run);
    if (!perStep || !run.stepNs || *run.stepNs < 1) {
        return {};
    }
    return WatchSwitch::tr("costs %1").arg(shareText(*perStep / static_cast<double>(*run.stepNs)));
}

QString watchCostDetails(const RunFacts& run) {
    const auto perStep = watchNsOf(run);
    const auto recordNs = numberOf(run, meta::watch_record_ns), recordSteps = numberOf(run, meta::watch_record_steps);
    if (!perStep) {
        return {};
    }
    const auto time = [](double value) { return QString::fromStdString(readable_duration_ns(static_cast<std::int64_t>(value))); };
    QString text = WatchSwitch::tr("Measured: %1 a step on average.").arg(time(*perStep));
    if (recordNs && recordSteps && *recordSteps > 0) {
        text += QLatin1Char(' ') + WatchSwitch::tr("A step with tensor records takes %1 more.").arg(time(*recordNs / *recordSteps));
    }
    const auto list = run.meta.find(meta::watch_thinned);
    const QJsonArray thinned = list == run.meta.end() ? QJsonArray() : QJsonDocument::fromJson(QByteArray::fromStdString(list->second)).array();
    if (!thinned.isEmpty()) {
        const QJsonObject last = thinned.last().toObject();
        text += QLatin1Char(' ') + WatchSwitch::tr("The recording had grown enough at step %1: from there a record every %2 steps.")
                                       .arg(last.value(QLatin1String("step")).toInteger())
                                       .arg(last.value(QLatin1String("every")).toInteger());
    }
    return text;
}

WatchSwitch::WatchSwitch(QWidget* parent) : QWidget(parent), m_levels(new ChoiceRow("watchLevels", this)), m_cost(new QLabel(this)) {
    m_cost->setObjectName(QStringLiteral("watchCost"));
    m_cost->setProperty("muted", true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    row->addWidget(m_levels);
    row->addWidget(m_cost);
    connect(m_levels, &ChoiceRow::chosen, this, [this](int level) {
        m_asked = level;
        Q_EMIT levelChosen(level);
    });
    retranslate();
}

void WatchSwitch::show(const RunFacts* run, bool isControlled, const QString& reason) {
    const std::filesystem::path folder = run ? run->folder : std::filesystem::path();
    if (folder != m_run) {
        m_run = folder;
        m_asked.reset();
    }
    const auto level = run ? watchLevelOf(*run) : std::nullopt;
    if (m_asked && level == m_asked) {
        m_asked.reset();
    }
    const bool canSwitch = run && !run->hasEnded() && isControlled;
    setVisible(run != nullptr && (canSwitch || level.has_value()));
    m_levels->setCurrent(m_asked.value_or(level.value_or(-1)));
    m_levels->setEnabled(canSwitch);
    m_levels->setToolTip(canSwitch ? QString() : run && run->hasEnded() ? tr("This run is over: its level is as it was recorded.") : reason);
    m_cost->setText(run ? watchCostOf(*run) : QString());
    m_cost->setToolTip(run ? watchCostDetails(*run) : QString());
    m_cost->setVisible(!m_cost->text().isEmpty());
}

QString WatchSwitch::costText() const { return m_cost->text(); }

void WatchSwitch::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
}

void WatchSwitch::retranslate() {
    m_levels->setLabel(tr("Watching"));
    m_levels->setChoices({QStringLiteral("0"), QStringLiteral("1"), QStringLiteral("2")},
                         {tr("Level 0: the largest value of every parameter and gradient, every step"),
                          tr("Level 1: every tensor with its histogram, every N steps (observe.every_steps of the plan)"),
                          tr("Level 2: every tensor with its histogram, every step")});
}

}  // namespace mantissa::ui
