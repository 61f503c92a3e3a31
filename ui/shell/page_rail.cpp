#include "ui/shell/page_rail.h"

#include <QButtonGroup>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/icons.h"

namespace mantissa::ui {

PageRail::PageRail(QWidget* parent)
    : QFrame(parent), m_group(new QButtonGroup(this)), m_layout(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("PageRail"));
    setFixedWidth(72);
    m_layout->setContentsMargins(0, 6, 0, 0);
    m_layout->setSpacing(0);
    m_layout->addStretch(1);
    m_group->setExclusive(true);
}

void PageRail::addPage(const QString& id, const QString& iconName) {
    auto* button = new QToolButton(this);
    button->setObjectName(QStringLiteral("rail.") + id);
    button->setCheckable(true);
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setIconSize(QSize(20, 20));
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setMinimumHeight(52);
    button->setProperty("rail", true);
    m_group->addButton(button);
    m_layout->insertWidget(m_layout->count() - 1, button);
    connect(button, &QToolButton::clicked, this, [this, id] { Q_EMIT pageChosen(id); });
    m_entries.insert(id, {button, iconName});
    m_order << id;
}

void PageRail::setPageText(const QString& id, const QString& text, const QString& toolTip) {
    QToolButton* button = m_entries.value(id).button;
    button->setText(text);
    button->setAccessibleName(text);
    button->setToolTip(toolTip);
}

void PageRail::setCurrent(const QString& id) {
    if (const Entry entry = m_entries.value(id); entry.button != nullptr) {
        entry.button->setChecked(true);
    }
}

void PageRail::tint(const QColor& normal, const QColor& current) {
    for (const Entry& entry : std::as_const(m_entries)) {
        entry.button->setIcon(tintedIcon(entry.iconName, normal, current));
    }
}

}  // namespace mantissa::ui
