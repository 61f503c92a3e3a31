#include "ui/replay/evidence_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/bridge/elided_label.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/replay/grown_chart.h"
#include "ui/replay/replay_delegate.h"
#include "ui/replay/replay_view.h"
#include "ui/replay/step_ops_model.h"

namespace mantissa::ui {
namespace {

constexpr int rowHeight = 29;

QLabel* titleLabel(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setProperty("title", true);
    return label;
}

}  // namespace

void setUpReplayTable(QTableView& table, const char* name) {
    table.setObjectName(QLatin1String(name));
    table.setProperty("replayTable", true);
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setSelectionMode(QAbstractItemView::SingleSelection);
    table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    QFont font = table.font();
    font.setPixelSize(14);
    table.setFont(font);
    table.setShowGrid(false);
    table.setWordWrap(false);
    table.setFrameShape(QFrame::NoFrame);
    table.setTabKeyNavigation(false);
    table.verticalHeader()->hide();
    table.verticalHeader()->setDefaultSectionSize(rowHeight);
    table.horizontalHeader()->setHighlightSections(false);
    table.horizontalHeader()->setSectionsClickable(false);
    table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

EvidencePanel::EvidencePanel(const Theme& theme, QWidget* parent)
    : QWidget(parent), m_theme(theme), m_grown(new GrownModel(this)), m_ops(new StepOpsModel(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(buildGrown(), 4);
    column->addWidget(buildStep(), 6);
    (new Retranslation(this))->bind([this] { retranslate(); });
}

QFrame* EvidencePanel::buildGrown() {
    auto* card = new QFrame(this);
    card->setProperty("card", true);
    m_grownTitle = titleLabel(card);
    m_grownSubject = new ElidedLabel(card);
    m_grownSubject->setProperty("muted", true);
    m_twin = new QToolButton(card);
    m_twin->setObjectName(QStringLiteral("grownTwin"));
    m_twin->setCheckable(true);
    m_twin->setFocusPolicy(Qt::StrongFocus);
    auto* head = new QHBoxLayout;
    head->setSpacing(12);
    head->addWidget(m_grownTitle);
    head->addWidget(m_grownSubject, 1);
    head->addWidget(m_twin);
    m_chart = new GrownChart(m_theme, card);
    m_chart->setObjectName(QStringLiteral("grownChart"));
    m_grownTable = new QTableView(card);
    setUpReplayTable(*m_grownTable, "grownTable");
    m_grownTable->setModel(m_grown);
    m_grownTable->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_stack = new QStackedWidget(card);
    m_stack->addWidget(m_chart);
    m_stack->addWidget(m_grownTable);
    m_chart->setMinimumSize(240, 80);  // 1024×600 has room for no more
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(10, 7, 10, 7);
    column->setSpacing(4);
    column->addLayout(head);
    column->addWidget(m_stack, 1);
    connect(m_twin, &QToolButton::toggled, this, &EvidencePanel::showTable);
    return card;
}

QFrame* EvidencePanel::buildStep() {
    m_stepCard = new QFrame(this);
    m_stepCard->setProperty("card", true);
    m_stepTitle = titleLabel(m_stepCard);
    m_opsTable = new QTableView(m_stepCard);
    setUpReplayTable(*m_opsTable, "stepOps");
    m_opsTable->setModel(m_ops);
    m_opsTable->setMinimumHeight(60);
    m_opsTable->setItemDelegate(new ReplayDelegate(m_theme, m_opsTable));
    QHeaderView* header = m_opsTable->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(StepOpsModel::Op, QHeaderView::Stretch);  // its name may end in an ellipsis, the numbers may not
    header->setMinimumSectionSize(44);
    m_further = new ElidedLabel(m_stepCard);
    m_further->setProperty("muted", true);
    m_further->setObjectName(QStringLiteral("furtherTensors"));
    auto* column = new QVBoxLayout(m_stepCard);
    column->setContentsMargins(10, 7, 10, 7);
    column->setSpacing(4);
    column->addWidget(m_stepTitle);
    column->addWidget(m_opsTable, 1);
    column->addWidget(m_further);
    column->addStretch(0);
    connect(&m_theme, &Theme::changed, m_opsTable->viewport(), qOverload<>(&QWidget::update));
    return m_stepCard;
}

void EvidencePanel::setSnapshot(const ReplaySnapshot& snapshot, std::int64_t step) {
    m_values = grownValues(snapshot, step);
    const Precision mode = snapshot.replay ? snapshot.replay->mode : (snapshot.incident ? snapshot.incident->mode : Precision::No);
    m_chart->setValues(m_values, mode);
    m_grown->setValues(m_values);
    const int before = m_ops->birthRow();
    m_ops->setSnapshot(snapshot);
    if (m_ops->birthRow() >= 0 && m_ops->birthRow() != before) {
        QTimer::singleShot(0, this, &EvidencePanel::scrollToBirth);  // once the layout has given the table its height
    }
    m_stepCard->setVisible(m_ops->rowCount() > 0);
    // No taller than its rows: what is downstream is told right below them.
    m_opsTable->setMaximumHeight(m_opsTable->horizontalHeader()->sizeHint().height() + m_ops->rowCount() * rowHeight + 4);
    refreshWords();
}

void EvidencePanel::scrollToBirth() {
    if (m_ops->birthRow() >= 0) {
        m_opsTable->scrollTo(m_ops->index(m_ops->birthRow(), 0), QAbstractItemView::PositionAtCenter);
    }
}

void EvidencePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    QTimer::singleShot(0, this, &EvidencePanel::scrollToBirth);
}

void EvidencePanel::showTable(bool show) {
    m_twin->setChecked(show);
    m_stack->setCurrentWidget(show ? static_cast<QWidget*>(m_grownTable) : m_chart);
}

void EvidencePanel::retranslate() {
    m_grownTitle->setText(tr("How it got here"));
    m_stepTitle->setText(tr("In this step"));
    m_twin->setText(tr("table"));
    m_twin->setToolTip(tr("The same values as a table"));
    m_grownTable->setAccessibleName(tr("Largest value, a row per step"));
    m_opsTable->setAccessibleName(tr("Operations of this step around the first bad value"));
    m_grown->retranslate();
    m_ops->retranslate();
    refreshWords();
}

void EvidencePanel::refreshWords() {
    m_grownSubject->setWholeText(m_values.tensor.isEmpty() ? QString() : tr("largest value of %1").arg(m_values.tensor));
    m_chart->setAccessibleName(tr("Chart: how it got here. %1").arg(m_grownSubject->text()));
    m_further->setVisible(m_ops->further() > 0);
    const auto further = static_cast<int>(m_ops->further());
    // Two counts that must not be taken for each other: an incident looks as far as the loss, a replay at the whole step.
    m_further->setWholeText(m_ops->isOfReplay() ? tr("%n more non-finite tensor(s) downstream, counted in the replay", nullptr, further)
                                                : tr("%n more non-finite tensor(s) downstream at the incident; a replay counts all", nullptr, further));
}

}  // namespace mantissa::ui
