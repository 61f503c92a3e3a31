#include "ui/numerics/choice_row.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace mantissa::ui {

ChoiceRow::ChoiceRow(const char* name, QWidget* parent)
    : QWidget(parent), m_label(new QLabel(this)), m_row(new QHBoxLayout(this)), m_group(new QButtonGroup(this)) {
    setObjectName(QLatin1String(name));
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(1);
    m_label->setProperty("muted", true);
    m_label->hide();
    m_row->addWidget(m_label);
    m_group->setExclusive(true);
    connect(m_group, &QButtonGroup::idClicked, this, &ChoiceRow::chosen);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
}

void ChoiceRow::setLabel(const QString& text) {
    m_label->setText(text);
    m_label->setContentsMargins(0, 0, 4, 0);
    m_label->setVisible(!text.isEmpty());
}

void ChoiceRow::setChoices(const std::vector<QString>& texts, const std::vector<QString>& toolTips) {
    const int before = current();
    if (m_group->buttons().size() != static_cast<qsizetype>(texts.size())) {
        for (QAbstractButton* button : m_group->buttons()) {
            m_group->removeButton(button);
            delete button;
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {
            auto* button = new QToolButton(this);
            button->setCheckable(true);
            button->setFocusPolicy(Qt::StrongFocus);
            m_group->addButton(button, static_cast<int>(i));
            m_row->addWidget(button);
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        QAbstractButton* button = m_group->button(static_cast<int>(i));
        button->setText(texts[i]);
        button->setToolTip(i < toolTips.size() ? toolTips[i] : QString());
        button->setAccessibleName(m_label->text().isEmpty() ? texts[i] : QStringLiteral("%1 %2").arg(m_label->text(), texts[i]));
    }
    setCurrent(before);
}

void ChoiceRow::setCurrent(int index) {
    if (QAbstractButton* button = m_group->button(index)) {
        button->setChecked(true);
    }
}

int ChoiceRow::current() const { return m_group->checkedId(); }

int ChoiceRow::count() const { return static_cast<int>(m_group->buttons().size()); }

}  // namespace mantissa::ui
