#include "ui/setup/layer_card.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "base/numbers.h"
#include "layers/layer_file.h"
#include "plan/model_file.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/layer_table_model.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

constexpr int mostRowsShown = 10;  // the rest is scrolled
constexpr int rowHeight = 24;

/// Without what changes no sample's form.
DatasetPlan formOf(DatasetPlan data) {
    const DatasetPlan fresh;
    data.validation = fresh.validation;
    data.split_seed = fresh.split_seed;
    data.normalise = fresh.normalise;
    return data;
}

}  // namespace

LayerCard::LayerCard(PlanEditor& editor, QWidget* parent)
    : QFrame(parent), m_editor(editor), m_model(new LayerTableModel(this)), m_table(new QTableView(this)), m_title(new QLabel(this)), m_sum(new QLabel(this)),
      m_problem(new QLabel(this)) {
    setObjectName(QStringLiteral("layerCard"));
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_sum->setProperty("muted", true);
    m_problem->setProperty("fieldError", true);
    m_problem->setObjectName(QStringLiteral("layerProblem"));
    for (QLabel* label : {m_sum, m_problem}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_table->setObjectName(QStringLiteral("layerTable"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(rowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(LayerTableModel::Layer, QHeaderView::Stretch);
    m_table->setShowGrid(false);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 8, 16, 10);
    column->setSpacing(6);
    for (QWidget* part : {static_cast<QWidget*>(m_title), static_cast<QWidget*>(m_sum), static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_problem)}) {
        column->addWidget(part);
    }
    connect(&editor, &PlanEditor::changed, this, &LayerCard::planChanged);
    // Editors write a new file in place of the old one, which is watched no more: the next moment it is there.
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, [this] { QTimer::singleShot(100, this, &LayerCard::readAgain); });
    auto* texts = new Retranslation(this);
    texts->bind([this] { retranslate(); });
}

void LayerCard::planChanged() {
    const RunPlan& plan = m_editor.plan();
    const std::string file = is_layer_list(plan.model) ? plan.model.file : std::string();
    const DatasetPlan samples = formOf(plan.dataset);
    if (file == m_file && samples == m_data) {
        return;
    }
    if (samples != m_data) {
        m_form.reset();
    }
    m_file = file;
    m_data = samples;
    readAgain();
}

void LayerCard::setFacts(const SampleFacts& facts) {
    m_data = formOf(m_editor.plan().dataset);
    m_form = layers::sample_form(QFileInfo(QString::fromStdString(m_data.file)).fileName().toStdString(), facts);
    showList();
}

void LayerCard::readAgain() {
    const QStringList watched = m_watcher.files();
    if (!watched.isEmpty()) {
        m_watcher.removePaths(watched);
    }
    if (!m_file.empty()) {
        m_watcher.addPath(QString::fromStdString(m_file));
    }
    showList();
}

void LayerCard::showList() {
    setVisible(!m_file.empty());
    if (m_file.empty()) {
        return m_model->setRows({});
    }
    m_title->setText(tr("Layers of %1").arg(QFileInfo(QString::fromStdString(m_file)).fileName()));
    auto list = layers::read_layer_list(m_file);
    QString problem, sum;
    if (!list) {
        m_model->setRows({});
        problem = QString::fromStdString(describe(list.error()));
    } else {
        problem = fitted(std::move(*list));
        const layers::LayerSums sums = layers::sums_of(m_model->rows());
        if (problem.isEmpty() && m_form) {
            sum = tr("%1 weights · %2 with gradients and Adam · %3 multiply-adds for a sample").arg(QString::fromStdString(readable_count(sums.parameters)),
                  QString::fromStdString(readable_bytes(sums.training_bytes)), QString::fromStdString(readable_count(sums.multiply_adds)));
        }
    }
    m_sum->setText(sum);
    m_sum->setVisible(!sum.isEmpty());
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    const int rows = m_model->rowCount();
    m_table->setVisible(rows > 0);
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + std::min(rows, mostRowsShown) * rowHeight + 4);
    if (m_model->wrongRow() >= 0) {
        m_table->selectRow(m_model->wrongRow());
        m_table->scrollTo(m_model->index(m_model->wrongRow(), 0));
    }
}

/// Fills the table; what is wrong with the list for these samples, or empty.
QString LayerCard::fitted(layers::LayerList list) {
    layers::FittedList fitted{std::move(list), {}, {}};
    if (!m_form && m_data.file.empty()) {
        const auto form = layers::sample_form(m_data);
        if (form) {
            m_form = *form;
        } else {
            fitted.problem = form.error();
        }
    }
    if (m_form) {
        fitted = layers::fit(std::move(fitted.list), *m_form);
    }
    m_model->setRows(layers::layer_rows(fitted));
    return fitted.problem ? QString::fromStdString(describe(*fitted.problem)) : QString();
}

void LayerCard::retranslate() {
    m_table->setAccessibleName(tr("Layers of the model"));
    m_model->retranslate();
    showList();
}

}  // namespace mantissa::ui
