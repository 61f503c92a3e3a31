#include "ui/setup/question_row.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QStyle>

#include "ui/bridge/retranslation.h"

namespace mantissa::ui {

QuestionRow::QuestionRow(int number, const char* objectName, QWidget* parent)
    : QWidget(parent),
      m_number(number),
      m_question(new QLabel(this)),
      m_answer(new QLabel(this)),
      m_controls(new QHBoxLayout),
      m_texts(new Retranslation(this)) {
    setObjectName(QLatin1String(objectName));
    m_question->setProperty("title", true);
    m_question->setFixedWidth(118);
    m_answer->setObjectName(QStringLiteral("answer"));
    m_answer->setProperty("muted", true);
    m_answer->setWordWrap(true);
    m_answer->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_answer->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_controls->setContentsMargins(0, 0, 0, 0);
    m_controls->setSpacing(8);
    m_controls->addStretch(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(4, 6, 0, 6);
    row->setSpacing(6);
    row->addWidget(m_question);
    row->addLayout(m_controls, 58);  // the answers of all questions begin below each other
    row->addWidget(m_answer, 42);
}

QPushButton* QuestionRow::addMenuButton(const char* objectName) {
    auto* button = new QPushButton(this);
    button->setObjectName(QLatin1String(objectName));
    button->setProperty("menuButton", true);
    auto* menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    button->setMenu(menu);
    addControl(button);
    return button;
}

void QuestionRow::addControl(QWidget* control) {
    m_controls->insertWidget(m_controls->count() - 1, control);
}

void QuestionRow::setQuestion(const QString& question) {
    m_question->setText(QStringLiteral("%1  %2").arg(m_number).arg(question));
}

void QuestionRow::setAnswer(const QString& answer, const QString& problem) {
    m_answer->setText(problem.isEmpty() ? answer : problem);
    const bool wrong = !problem.isEmpty();
    if (m_answer->property("fieldError").toBool() != wrong) {
        m_answer->setProperty("fieldError", wrong);
        m_answer->setProperty("muted", !wrong);
        m_answer->style()->unpolish(m_answer);
        m_answer->style()->polish(m_answer);
    }
}

void QuestionRow::setButtonText(QPushButton* button, const QString& label, const QString& value) {
    const QString text = label.isEmpty() ? value : label + QStringLiteral(": ") + value;
    button->setText(text + QStringLiteral(" ▾"));
    button->setAccessibleName(text);
}

}  // namespace mantissa::ui
