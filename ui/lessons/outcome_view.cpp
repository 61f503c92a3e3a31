#include "ui/lessons/outcome_view.h"

#include "ui/bridge/theme.h"

namespace mantissa::ui {
namespace {

QString escaped(const QString& text) { return text.toHtmlEscaped(); }
QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString coloured(const QString& text, const QColor& colour) { return QStringLiteral("<span style='color:%1'><b>%2</b></span>").arg(colour.name(), text); }

}  // namespace

OutcomeView::OutcomeView(const Theme& theme, const LessonWords& words, QWidget* parent) : QLabel(parent), m_theme(theme), m_words(words) {
    setObjectName(QStringLiteral("lessonOutcome"));
    setTextFormat(Qt::RichText);
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    connect(&theme, &Theme::changed, this, &OutcomeView::write);
}

void OutcomeView::clear() {
    m_lesson.reset();
    m_outcome.reset();
    QLabel::clear();
}

void OutcomeView::show(const Lesson& lesson, const std::string& prediction, const std::optional<LessonOutcome>& outcome) {
    m_lesson = lesson;
    m_prediction = prediction;
    m_outcome = outcome;
    write();
}

QString OutcomeView::answerHtml() const {
    const auto answer = [this](const std::string& key) { return m_words.of(*m_lesson, "answers." + key).toStdString(); };
    const bool isRight = m_prediction == m_lesson->right;
    QString html;
    if (!m_prediction.empty()) {
        html += QStringLiteral("<p>%1<br>").arg(escaped(m_words.course("prediction", {{"answer", answer(m_prediction)}})));
    } else {
        html += QStringLiteral("<p>");
    }
    const QString right = escaped(m_words.course(isRight ? "right" : "wrong", {{"answer", answer(m_lesson->right)}}));
    return html + coloured(right, isRight ? m_theme.colours().good : m_theme.colours().warning) + QStringLiteral("</p>");
}

QString OutcomeView::claimsHtml() const {
    QString rows;
    for (const ClaimOutcome& claim : m_outcome->claims) {
        const QString mark = claim.is_met ? coloured(QStringLiteral("✓"), m_theme.colours().good) : coloured(QStringLiteral("✗"), m_theme.colours().error);
        rows += QStringLiteral("<tr><td>%1&nbsp;</td><td>%2&nbsp;&nbsp;</td><td align='right'><b>%3</b></td></tr>").arg(mark, escaped(claim.text), escaped(claim.seen));
    }
    return QStringLiteral("<h4>%1</h4><table cellspacing='2'>%2</table>").arg(escaped(m_words.course("claims")), rows);
}

QString OutcomeView::figuresHtml() const {
    QString rows;
    for (const FigureValue& figure : m_outcome->figures) {
        if (figure.label.empty() || !figure.usual) {
            continue;
        }
        const QString usual = escaped(m_words.course(figure.is_usual ? "usual" : "unusual", {{"range", figure.usual_text}}));
        rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align='right'><b>%2</b>&nbsp;&nbsp;</td><td>%3</td></tr>")
                    .arg(escaped(figure.label), escaped(figure.text), QStringLiteral("<span style='color:%1'>%2</span>").arg((figure.is_usual ? m_theme.colours().muted : m_theme.colours().warning).name(), usual));
    }
    return rows.isEmpty() ? QString() : QStringLiteral("<h4>%1</h4><table cellspacing='2'>%2</table>").arg(escaped(m_words.course("seen")), rows);
}

void OutcomeView::write() {
    if (!m_lesson) {
        return;
    }
    const QString explanation = m_outcome ? QString::fromStdString(m_outcome->explanation) : m_words.of(*m_lesson, "explanation");
    const QString told = QStringLiteral("<h4>%1</h4><p>%2</p>").arg(escaped(m_words.course("explanation")), escaped(explanation));
    setText(answerHtml() + told + (m_outcome ? claimsHtml() + figuresHtml() : QString()));
}

}  // namespace mantissa::ui
