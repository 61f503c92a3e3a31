#include "ui/numerics/twin_card.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/bridge/elided_label.h"

namespace mantissa::ui {
TwinCard::TwinCard(QWidget* chart, const char* name, QWidget* parent)
    : QFrame(parent), m_title(new QLabel(this)), m_readout(new ElidedLabel(this)), m_header(new QHBoxLayout), m_switch(new QToolButton(this)),
      m_stack(new QStackedWidget(this)), m_chart(chart), m_model(new ValueTableModel(this)),
      m_view(makeValueView(m_model, name, this)) {
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_readout->setProperty("muted", true);
    m_switch->setCheckable(true);
    m_switch->setFocusPolicy(Qt::StrongFocus);
    m_header->setSpacing(6);
    m_header->addWidget(m_title);
    m_header->addSpacing(4);
    m_header->addWidget(m_readout, 1);
    m_header->addWidget(m_switch);
    m_stack->addWidget(chart);
    m_stack->addWidget(m_view);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 5, 8, 6);
    layout->setSpacing(3);
    layout->addLayout(m_header);
    layout->addWidget(m_stack, 1);
    connect(m_switch, &QToolButton::toggled, this, [this](bool isTable) {
        if (isTable) {
            Q_EMIT tableShown();
        }
        m_stack->setCurrentWidget(isTable ? static_cast<QWidget*>(m_view) : m_chart);
    });
    retranslate();
}

void TwinCard::setTitle(const QString& title) {
    m_title->setText(title);
    m_chart->setAccessibleName(tr("Chart: %1").arg(title));
    m_view->setAccessibleName(tr("Table: %1").arg(title));
    m_switch->setAccessibleName(tr("%1 as a table").arg(title));
}

void TwinCard::setReadout(const QString& text) {
    m_readout->setWholeText(text);
}

QString TwinCard::readout() const { return m_readout->text(); }

void TwinCard::addControl(QWidget* control) { m_header->insertWidget(1 + m_controls++, control); }

bool TwinCard::isTableShown() const { return m_stack->currentWidget() == m_view; }

void TwinCard::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
}

void TwinCard::retranslate() {
    m_switch->setText(tr("Table"));
    m_switch->setToolTip(tr("The same values as a table"));
}

}  // namespace mantissa::ui
