#include "ui/charts/chart_card.h"

#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/bridge/elided_label.h"
#include "ui/charts/chart_export.h"
#include "ui/charts/step_table_model.h"

namespace mantissa::ui {

ChartCard::ChartCard(Theme& theme, StepRange& range, const QString& title, QWidget* parent)
    : QFrame(parent), m_title(new QLabel(title, this)), m_subtitle(new ElidedLabel(this)), m_header(new QHBoxLayout),
      m_menu(new QMenu(this)), m_stack(new QStackedWidget(this)), m_chart(new RunChart(theme, range, this)),
      m_table(new QTableView(this)), m_model(new StepTableModel(this)) {
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_subtitle->setProperty("muted", true);
    m_subtitle->setObjectName(QStringLiteral("chartSubtitle"));
    m_table->setModel(m_model);
    m_table->verticalHeader()->hide();
    // Raw values have up to 17 digits; a value that is cut off would be a wrong one.
    m_table->horizontalHeader()->setDefaultSectionSize(
        m_table->fontMetrics().horizontalAdvance(QStringLiteral("-0.00000000000000000e-00")));
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setTabKeyNavigation(false);
    auto* menuButton = new QToolButton(this);
    menuButton->setText(QStringLiteral("⋯"));
    menuButton->setPopupMode(QToolButton::InstantPopup);
    menuButton->setMenu(m_menu);
    menuButton->setFocusPolicy(Qt::StrongFocus);
    menuButton->setToolTip(tr("Table, export and zoom of this chart"));
    m_header->setSpacing(6);
    m_header->addWidget(m_title);
    m_header->addSpacing(6);
    m_header->addWidget(m_subtitle, 1);
    m_header->addWidget(menuButton);
    m_stack->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // the page gives the height
    m_table->setMinimumHeight(40);
    m_stack->addWidget(m_chart);
    m_stack->addWidget(m_table);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 5, 8, 4);
    layout->setSpacing(3);
    layout->addLayout(m_header);
    layout->addWidget(m_stack, 1);
    setTitle(title);
    menuButton->setAccessibleName(tr("Menu of the chart %1").arg(title));
    connect(m_chart, &RunChart::stepPicked, this, [this](qint64 step) {
        if (isTableShown()) {
            m_table->selectRow(static_cast<int>(step));
        }
    });
    buildMenu();
}

void ChartCard::setTitle(const QString& title) {
    m_title->setText(title);
    m_chart->setAccessibleName(tr("Chart: %1").arg(title));
    m_chart->setAccessibleDescription(
        tr("Arrow keys move the cursor, plus and minus zoom, N jumps to the next step that was not applied. "
           "The menu of the chart shows the same values as a table."));
    m_table->setAccessibleName(tr("Table of the steps: %1").arg(title));
}

void ChartCard::setSubtitle(const QString& text) { m_subtitle->setWholeText(text); }

void ChartCard::addControl(QWidget* control) { m_header->insertWidget(2 + m_controls++, control); }

void ChartCard::addRightControl(QWidget* control) { m_header->insertWidget(m_header->count() - 1, control); }

void ChartCard::setRuns(const std::vector<ChartRun>& runs) {
    m_chart->setRuns(runs);
    m_model->setRuns(runs);
}

void ChartCard::setRepetitions(const std::vector<const RunSeries*>& repetitions) {
    m_chart->setRepetitions(repetitions);
    m_model->setRepetitions(repetitions);
}

void ChartCard::setOptions(const PlotOptions& options) {
    m_chart->setOptions(options);
    m_model->setQuantity(options.quantity);
}

void ChartCard::refresh() {
    m_chart->refresh();
    if (isTableShown()) {
        m_model->refresh();
    }
}

bool ChartCard::isTableShown() const { return m_stack->currentWidget() == m_table; }

void ChartCard::showTable(bool show) {
    if (show) {
        m_model->refresh();
        m_stack->setCurrentWidget(m_table);
        if (const auto cursor = m_chart->range().cursor()) {
            m_table->selectRow(static_cast<int>(*cursor));
        }
    } else {
        m_stack->setCurrentWidget(m_chart);
    }
}

void ChartCard::buildMenu() {
    QAction* table = m_menu->addAction(tr("Show as &table"));
    table->setCheckable(true);
    connect(table, &QAction::toggled, this, &ChartCard::showTable);
    m_menu->addSeparator();
    connect(m_menu->addAction(tr("Save picture as &PNG…")), &QAction::triggered, this, [this] {
        exportAs(tr("PNG pictures (*.png)"), QStringLiteral("png"),
                 [this](const QString& file) { return exportPng(*m_chart, file); });
    });
    connect(m_menu->addAction(tr("Save picture as &SVG…")), &QAction::triggered, this, [this] {
        exportAs(tr("SVG pictures (*.svg)"), QStringLiteral("svg"),
                 [this](const QString& file) { return exportSvg(*m_chart, file, m_title->text()); });
    });
    connect(m_menu->addAction(tr("Save all values as &CSV…")), &QAction::triggered, this, [this] {
        exportAs(tr("Comma-separated values (*.csv)"), QStringLiteral("csv"),
                 [this](const QString& file) { return exportCsv(*m_chart, file); });
    });
    m_menu->addSeparator();
    m_menu->addActions(m_chart->range().actions());
}

void ChartCard::exportAs(const QString& filter, const QString& suffix,
                         const std::function<Result<void>(const QString&)>& write) {
    auto* dialog = new QFileDialog(this, tr("Save %1").arg(m_title->text()), QString(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    // open() instead of exec(): no nested event loop while runs go on.
    connect(dialog, &QFileDialog::fileSelected, this, [this, write](const QString& file) {
        if (const Result<void> written = write(file); !written) {
            Q_EMIT failed(QString::fromStdString(describe(written.error())));
        }
    });
    dialog->open();
}

}  // namespace mantissa::ui
