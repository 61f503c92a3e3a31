#include "ui/live/checks_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int panelWidth = 560;
constexpr int textInset = 24 + 16 + 24;  // margins of the panel, room for a scroll bar, the column of signs
constexpr int boxMargin = 10, lineSpacing = 10;

QColor colourOf(CheckMark mark, const ThemeColours& c) {
    switch (mark) {
        case CheckMark::Passed: return c.good;
        case CheckMark::Note: return c.warning;
        case CheckMark::Failed: return c.error;
        case CheckMark::Open:
        case CheckMark::NotNeeded: return c.muted;
    }
    return c.muted;
}

struct BoxColours {
    QColor fill, border;
};

BoxColours boxOf(CheckMark mark, const ThemeColours& c) {
    switch (mark) {
        case CheckMark::Passed: return {c.goodFill, c.goodBorder};
        case CheckMark::Note: return {c.warningFill, c.warningBorder};
        case CheckMark::Failed: return {c.errorFill, c.errorBorder};
        case CheckMark::Open:
        case CheckMark::NotNeeded: return {c.surface, c.border};
    }
    return {c.surface, c.border};
}

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString spokenMark(CheckMark mark) {
    switch (mark) {
        case CheckMark::Passed: return ChecksPanel::tr("passed");
        case CheckMark::Note: return ChecksPanel::tr("note");
        case CheckMark::Failed: return ChecksPanel::tr("failed");
        case CheckMark::Open: return ChecksPanel::tr("open");
        case CheckMark::NotNeeded: return ChecksPanel::tr("not needed");
    }
    return {};
}

}  // namespace

ChecksPanel::ChecksPanel(const Theme& theme, QWidget* parent)
    : QFrame(parent, Qt::Popup), m_theme(theme), m_scroll(new QScrollArea(this)), m_title(new QLabel(this)), m_box(new QFrame(this)) {
    setObjectName(QStringLiteral("fourChecks"));
    setAttribute(Qt::WA_DeleteOnClose);
    setProperty("card", true);
    m_title->setProperty("title", true);
    auto* content = new QWidget(m_scroll);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 4, 0);
    column->setSpacing(lineSpacing);
    m_box->setObjectName(QStringLiteral("precisionAnswer"));
    auto* box = new QVBoxLayout(m_box);
    box->setContentsMargins(boxMargin, 8, boxMargin, 8);
    m_answer = addLine(box);
    column->addWidget(m_box);
    for (int i = 0; i < 4; ++i) {
        m_checks.push_back(addLine(column));
    }
    m_scroll->setWidget(content);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    content->setAutoFillBackground(false);
    auto* copy = new QPushButton(tr("Copy as text"), this);
    copy->setObjectName(QStringLiteral("copyChecks"));
    auto* close = new QPushButton(tr("Close"), this);
    close->setObjectName(QStringLiteral("closeChecks"));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(copy);
    buttons->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 12, 10, 10);
    layout->setSpacing(9);
    layout->addWidget(m_title);
    layout->addWidget(m_scroll, 1);
    layout->addLayout(buttons);
    setFixedWidth(panelWidth);
    setFocusProxy(close);
    connect(copy, &QPushButton::clicked, this, [this, copy] {
        QGuiApplication::clipboard()->setText(m_plain);
        copy->setText(tr("Copied ✓"));
    });
    connect(close, &QPushButton::clicked, this, &QWidget::close);
}

/// The sign stands in a column of its own, so that the sentences begin below each other.
ChecksPanel::Line ChecksPanel::addLine(QVBoxLayout* column) {
    const Line line{new QLabel(this), new QLabel(this)};
    line.sign->setFixedWidth(18);
    line.text->setWordWrap(true);
    line.text->setTextFormat(Qt::RichText);
    line.text->setTextInteractionFlags(Qt::TextSelectableByKeyboard | Qt::TextSelectableByMouse);
    line.text->setFocusPolicy(Qt::StrongFocus);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(line.sign, 0, Qt::AlignTop);
    row->addWidget(line.text, 1);
    column->addLayout(row);
    return line;
}

void ChecksPanel::put(const Line& line, CheckMark mark, const QString& html, const QString& spoken,
                      const std::vector<std::string>& facts) {
    const ThemeColours& c = m_theme.colours();
    line.sign->setText(QStringLiteral("<b style=\"color:%1\">%2</b>").arg(colourOf(mark, c).name(), QString::fromUtf8(check_sign(mark))));
    QString text = html;
    QStringList words{spokenMark(mark), spoken};
    for (const std::string& fact : facts) {
        text += QStringLiteral("<br><span style=\"color:%1\">%2</span>").arg(c.muted.name(), escaped(fact));
        words << QString::fromStdString(fact);
    }
    line.text->setText(text);
    line.text->setAccessibleName(words.join(QStringLiteral(". ")));
}

void ChecksPanel::setAnswer(const PrecisionAnswer& answer) {
    const QString plain = QString::fromStdString(to_plain_text(answer));
    if (plain == m_plain) {
        return;
    }
    m_plain = plain;
    const BoxColours box = boxOf(answer.mark, m_theme.colours());
    m_title->setText(QString::fromStdString(answer.title));
    setAccessibleName(m_title->text());
    m_box->setStyleSheet(QStringLiteral("#precisionAnswer{background:%1;border:1px solid %2;border-radius:6px;}")
                             .arg(box.fill.name(), box.border.name()));
    const QString sentence = QString::fromStdString(answer.sentence);
    put(m_answer, answer.mark, QStringLiteral("<b>%1</b>").arg(sentence.toHtmlEscaped()), sentence, answer.facts);
    for (std::size_t i = 0; i < m_checks.size() && i < answer.checks.size(); ++i) {
        const PrecisionCheck& check = answer.checks[i];
        m_checks[i].text->setObjectName(QStringLiteral("check_%1").arg(QString::fromStdString(check.id)));
        put(m_checks[i], check.mark, QStringLiteral("<b>%1</b>&nbsp; %2").arg(escaped(check.title), escaped(check.sentence)),
            QStringLiteral("%1: %2").arg(QString::fromStdString(check.title), QString::fromStdString(check.sentence)), check.facts);
    }
    fit();
}

/// As high as its text, but inside the screen; what doesn't fit is scrolled.
void ChecksPanel::fit() {
    // Asked of the texts themselves: a layout that was never shown doesn't know yet that its labels wrap.
    const int width = panelWidth - textInset;
    int wanted = m_answer.text->heightForWidth(width - 2 * boxMargin) + 2 * boxMargin;
    for (const Line& line : m_checks) {
        wanted += lineSpacing + line.text->heightForWidth(width);
    }
    int most = wanted;
    if (m_anchor != nullptr) {
        const int below = m_anchor->mapToGlobal(QPoint(0, m_anchor->height())).y();
        const QRect screen = m_anchor->screen()->availableGeometry();
        most = std::max(160, screen.bottom() - below - 110);
    }
    m_scroll->setFixedHeight(std::min(wanted, most));
    adjustSize();
}

void ChecksPanel::openAt(QWidget* anchor) {
    m_anchor = anchor;
    fit();
    const QRect screen = anchor->screen()->availableGeometry();
    QPoint at = anchor->mapToGlobal(QPoint(0, anchor->height() + 2));
    at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
    at.setY(std::clamp(at.y(), screen.top(), std::max(screen.top(), screen.bottom() - height())));
    move(at);
    show();
    setFocus();
}

void ChecksPanel::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    if (m_anchor != nullptr) {
        m_anchor->setFocus();
    }
}

}  // namespace mantissa::ui
