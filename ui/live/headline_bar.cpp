#include "ui/live/headline_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

QString iconOf(const QString& severity) {
    if (severity == QLatin1String("error") || severity == QLatin1String("warning")) {
        return QStringLiteral("⚠");
    }
    return severity == QLatin1String("ok") ? QStringLiteral("✓") : QStringLiteral("●");
}

QColor colourOf(const QString& severity, const ThemeColours& c) {
    if (severity == QLatin1String("error")) {
        return c.error;
    }
    if (severity == QLatin1String("warning")) {
        return c.warning;
    }
    return severity == QLatin1String("ok") ? c.good : c.muted;
}

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

}  // namespace

QString HeadlineBar::confidenceWord(const std::string& confidence) {
    if (confidence == "low") {
        return tr("low");
    }
    if (confidence == "medium") {
        return tr("medium");
    }
    return confidence == "high" ? tr("high") : escaped(confidence);
}

QString verdictHtml(const Verdict& verdict, const ThemeColours& colours) {
    const QString severity = QString::fromStdString(verdict.severity);
    QString html = QStringLiteral("<span style=\"color:%1\">%2</span>&nbsp; %3%4")
                       .arg(colourOf(severity, colours).name(), iconOf(severity),
                            verdict.mode.empty() ? QString() : QStringLiteral("<b>%1</b> · ").arg(escaped(verdict.mode)),
                            escaped(verdict.text));
    if (!verdict.evidence.empty()) {
        QStringList facts;
        for (const std::string& fact : verdict.evidence) {
            facts << escaped(fact);
        }
        html += QStringLiteral("<br><span style=\"color:%1\">%2</span>").arg(colours.muted.name(), facts.join(QStringLiteral(" · ")));
    }
    return html;
}

HeadlineBar::HeadlineBar(Theme& theme, QWidget* parent)
    : QFrame(parent), m_theme(theme), m_icon(new QLabel(this)), m_text(new QLabel(this)),
      m_why(new QPushButton(tr("&Why?"), this)), m_question(new QPushButton(this)), m_grounds(new QFrame(this)), m_lines(new QVBoxLayout(m_grounds)) {
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setAccessibleName(tr("Headline"));
    m_why->setCheckable(true);
    m_why->setAccessibleDescription(tr("Shows the reasons and the verdicts behind the headline."));
    m_grounds->hide();
    m_grounds->setFrameShape(QFrame::NoFrame);
    m_lines->setContentsMargins(26, 0, 6, 6);
    m_lines->setSpacing(7);
    auto* row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(m_icon);
    row->addWidget(m_text, 1);
    row->addWidget(m_why);
    row->addWidget(m_question);
    m_question->setObjectName(QStringLiteral("whyStopped"));
    m_question->setProperty("primary", true);
    m_question->setAccessibleDescription(tr("Opens the step: what happened, what keeps it finite, and how it got there."));
    m_question->setToolTip(m_question->accessibleDescription());
    m_question->hide();
    connect(m_question, &QPushButton::clicked, this, &HeadlineBar::replayRequested);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 6, 10, 6);
    layout->setSpacing(6);
    layout->addLayout(row);
    layout->addWidget(m_grounds);
    connect(m_why, &QPushButton::toggled, this, &HeadlineBar::setExpanded);
    connect(&m_theme, &Theme::changed, this, &HeadlineBar::paintAll);
    setHeadline({}, QStringLiteral("note"));
    setGrounds(std::nullopt, {});
}

QString HeadlineBar::text() const { return m_text->property("plain").toString(); }

void HeadlineBar::setHeadline(const QString& text, const QString& severity) {
    if (text == this->text() && severity == m_severity) {
        return;
    }
    m_severity = severity;
    m_text->setProperty("plain", text);
    m_text->setAccessibleDescription(text);
    setProperty("headline", severity);
    style()->unpolish(this);  // the sheet chooses by the property
    style()->polish(this);
    paintAll();
}

void HeadlineBar::setGrounds(const std::optional<Decision>& decision, const std::vector<Verdict>& verdicts) {
    m_decision = decision;
    m_verdicts = verdicts;
    m_why->setVisible(decision.has_value() || !verdicts.empty());
    if (!m_why->isVisibleTo(this)) {
        m_why->setChecked(false);
    }
    paintAll();
}

void HeadlineBar::setQuestion(const QString& question) {
    m_question->setText(question);
    m_question->setVisible(!question.isEmpty());
}

void HeadlineBar::setExpanded(bool expanded) {
    m_why->setChecked(expanded);
    m_grounds->setVisible(expanded);
}

bool HeadlineBar::isExpanded() const { return m_why->isChecked(); }

void HeadlineBar::addLine(const QString& html) {
    auto* line = new QLabel(html, m_grounds);
    line->setWordWrap(true);
    line->setTextFormat(Qt::RichText);
    line->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_lines->addWidget(line);
}

void HeadlineBar::paintAll() {
    const ThemeColours& c = m_theme.colours();
    m_icon->setText(QStringLiteral("<span style=\"color:%1; font-size:15px\">%2</span>")
                        .arg(colourOf(m_severity, c).name(), iconOf(m_severity)));
    m_text->setText(QStringLiteral("<b>%1</b>").arg(text().toHtmlEscaped()));
    while (QLayoutItem* item = m_lines->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (m_decision) {
        QStringList reasons, changes;
        for (const std::string& reason : m_decision->reasons) {
            reasons << QStringLiteral("• %1").arg(escaped(reason));
        }
        if (!reasons.isEmpty()) {
            addLine(reasons.join(QStringLiteral("<br>")));
        }
        for (const std::string& change : m_decision->would_change_it) {
            changes << escaped(change);
        }
        const QString confidence = tr("Confidence: %1.").arg(confidenceWord(m_decision->confidence));
        addLine(changes.isEmpty() ? confidence
                                  : confidence + QLatin1Char(' ') +
                                        tr("What would change it: %1.").arg(changes.join(QStringLiteral("; "))));
    }
    for (const Verdict& verdict : m_verdicts) {
        addLine(verdictHtml(verdict, c));
    }
}

}  // namespace mantissa::ui
