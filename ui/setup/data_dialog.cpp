#include "ui/setup/data_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "plan/plan_names.h"

namespace mantissa::ui {
namespace {

constexpr std::size_t classesShown = 10;

template <typename Enumeration>
void select(QComboBox* box, Enumeration value) {
    box->setCurrentIndex(box->findData(static_cast<int>(value)));
}

template <typename Enumeration>
Enumeration selected(const QComboBox* box) {
    return static_cast<Enumeration>(box->currentData().toInt());
}

}  // namespace

DataDialog::DataDialog(const DatasetPlan& plan, QWidget* parent) : QDialog(parent), m_plan(plan) {
    setObjectName(QStringLiteral("dataDialog"));
    setWindowTitle(tr("Data of your own · %1").arg(QFileInfo(QString::fromStdString(plan.file)).fileName()));
    build();
    connect(&m_reader, &DataReader::ready, this, &DataDialog::take);
    connect(&m_reader, &DataReader::failed, this, &DataDialog::fail);
    connect(&m_columns, &DataColumnsModel::leftOut, this, [this](const std::vector<std::string>& names) {
        m_plan.leave_out = names;
        readAgain();
    });
    readAgain();
}

void DataDialog::build() {
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("dataSummary"));
    m_summary->setProperty("role", "title");
    m_summary->setWordWrap(true);
    m_classes = new QLabel(this);
    m_classes->setObjectName(QStringLiteral("dataClasses"));
    m_classes->setProperty("muted", true);
    m_classes->setWordWrap(true);
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("dataProblem"));
    m_problem->setProperty("fieldError", true);
    m_problem->setWordWrap(true);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_problem->hide();
    m_busy = new QProgressBar(this);
    m_busy->setRange(0, 0);
    m_busy->setTextVisible(false);
    m_busy->setFixedHeight(4);

    const auto choice = [this](const char* name) {
        auto* box = new QComboBox(this);
        box->setObjectName(QLatin1String(name));
        return box;
    };
    m_labels = choice("dataLabels");
    m_target = choice("dataTarget");
    m_target->addItem(tr("as the labels are"), static_cast<int>(TargetWish::Auto));
    m_target->addItem(tr("one of several classes"), static_cast<int>(TargetWish::Classes));
    m_target->addItem(tr("a value"), static_cast<int>(TargetWish::Values));
    m_header = choice("dataHeader");
    m_header->addItem(tr("found"), static_cast<int>(TableHeader::Auto));
    m_header->addItem(tr("names of columns"), static_cast<int>(TableHeader::Names));
    m_header->addItem(tr("a sample"), static_cast<int>(TableHeader::None));
    m_missing = choice("dataMissing");
    m_missing->addItem(tr("refuse the file"), static_cast<int>(MissingRule::Refuse));
    m_missing->addItem(tr("leave the sample out"), static_cast<int>(MissingRule::Drop));
    m_missing->addItem(tr("mean of the column"), static_cast<int>(MissingRule::Mean));
    m_normalise = choice("dataNormalise");
    m_normalise->addItem(tr("bytes by 255, else as it is"), static_cast<int>(Normalise::Auto));
    m_normalise->addItem(tr("as it is"), static_cast<int>(Normalise::None));
    m_normalise->addItem(tr("largest value 1"), static_cast<int>(Normalise::Unit));
    m_normalise->addItem(tr("mean 0, deviation 1"), static_cast<int>(Normalise::Standardise));
    m_context = new QSpinBox(this);
    m_context->setObjectName(QStringLiteral("dataContext"));
    m_context->setRange(1, 65536);
    m_context->setKeyboardTracking(false);
    select(m_target, m_plan.target);
    select(m_header, m_plan.header);
    select(m_missing, m_plan.missing);
    select(m_normalise, m_plan.normalise);
    m_context->setValue(static_cast<int>(m_plan.context));

    m_form = new QFormLayout;
    m_form->setRowWrapPolicy(QFormLayout::WrapAllRows);
    m_form->addRow(tr("Labels"), m_labels);
    m_form->addRow(tr("To be learned"), m_target);
    m_form->addRow(tr("First line"), m_header);
    m_form->addRow(tr("Missing values"), m_missing);
    m_form->addRow(tr("Range"), m_normalise);
    m_form->addRow(tr("Characters of a sample"), m_context);
    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("dataColumns"));
    m_table->setModel(&m_columns);
    m_table->verticalHeader()->hide();
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setAlternatingRowColors(true);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_strip = new SampleStrip(this);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(16);
    auto* side = new QWidget(this);
    side->setFixedWidth(210);
    side->setLayout(m_form);
    middle->addWidget(side, 0, Qt::AlignTop);
    auto* right = new QVBoxLayout;
    right->setSpacing(10);
    right->addWidget(m_strip);
    right->addWidget(m_table, 1);
    right->addStretch(0);  // where there is no table, what is above it stays above
    middle->addLayout(right, 1);

    for (QLabel* line : {m_summary, m_classes, m_problem}) {
        line->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    }
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_use = buttons->addButton(tr("Use this data"), QDialogButtonBox::AcceptRole);
    m_use->setObjectName(QStringLiteral("dataUse"));
    m_use->setProperty("primary", true);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT used(m_plan, m_look->samples.facts.samples);
        accept();
    });
    auto* column = new QVBoxLayout(this);
    column->setSpacing(10);
    column->addWidget(m_summary);
    column->addWidget(m_busy);
    column->addWidget(m_classes);
    column->addWidget(m_problem);
    column->addLayout(middle, 1);
    column->addWidget(buttons);
    resize(900, 500);

    connect(m_labels, &QComboBox::activated, this, [this](int index) {
        m_plan.labels = m_labels->itemData(index).toString().toStdString();
        std::erase(m_plan.leave_out, m_plan.labels);
        readAgain();
    });
    const auto changes = [this](QComboBox* box, auto member) {
        connect(box, &QComboBox::activated, this, [this, box, member] {
            using Enumeration = std::remove_reference_t<decltype(m_plan.*member)>;
            m_plan.*member = selected<Enumeration>(box);
            readAgain();
        });
    };
    changes(m_target, &DatasetPlan::target);
    changes(m_header, &DatasetPlan::header);
    changes(m_missing, &DatasetPlan::missing);
    changes(m_normalise, &DatasetPlan::normalise);
    connect(m_context, &QSpinBox::valueChanged, this, [this](int value) {
        m_plan.context = value;
        readAgain();
    });
}

void DataDialog::readAgain() {
    m_busy->show();
    m_use->setEnabled(false);
    if (m_look == nullptr) {
        m_summary->setText(tr("Reading…"));
    }
    m_reader.read(m_plan);
}

/// Columns of a table may be the labels; arrays and files are found by their names.
void DataDialog::fillLabels() {
    const SampleFacts& facts = m_look->samples.facts;
    const QSignalBlocker quiet(m_labels);
    m_labels->clear();
    m_labels->addItem(tr("found: %1").arg(QString::fromStdString(facts.target_name)), QString());
    std::vector<std::string> names = facts.columns;
    names.insert(names.end(), m_plan.leave_out.begin(), m_plan.leave_out.end());
    if (!facts.columns.empty() && std::find(names.begin(), names.end(), facts.target_name) == names.end()) {
        names.push_back(facts.target_name);
    }
    for (const std::string& name : names) {
        m_labels->addItem(QString::fromStdString(name), QString::fromStdString(name));
    }
    if (!m_plan.labels.empty() && m_labels->findData(QString::fromStdString(m_plan.labels)) < 0) {
        m_labels->addItem(QString::fromStdString(m_plan.labels), QString::fromStdString(m_plan.labels));
    }
    m_labels->setCurrentIndex(std::max(0, m_labels->findData(QString::fromStdString(m_plan.labels))));
    m_labels->setEnabled(m_labels->count() > 1);
    // Only what makes a difference to this kind of file.
    m_form->setRowVisible(m_header, !facts.columns.empty());
    m_form->setRowVisible(m_context, facts.are_tokens);
    for (QWidget* choice : {static_cast<QWidget*>(m_labels), static_cast<QWidget*>(m_target), static_cast<QWidget*>(m_missing), static_cast<QWidget*>(m_normalise)}) {
        m_form->setRowVisible(choice, !facts.are_tokens);
    }
}

void DataDialog::take(std::shared_ptr<const DataLook> look) {
    m_look = std::move(look);
    m_busy->hide();
    m_problem->hide();
    m_use->setEnabled(true);
    const SampleFacts& facts = m_look->samples.facts;
    m_summary->setText(dataSummary(facts));
    QStringList classes;
    for (std::size_t i = 0; i < std::min(facts.classes.size(), classesShown) && !facts.are_tokens; ++i) {
        classes << QStringLiteral("%1: %2").arg(QString::fromStdString(facts.classes[i]), QLocale().toString(static_cast<qlonglong>(m_look->statistics.of_class[i])));
    }
    if (facts.classes.size() > classesShown && !classes.isEmpty()) {
        classes << QStringLiteral("…");
    }
    QString words = classes.join(QStringLiteral(" · "));
    if (facts.dropped > 0) {
        words += (words.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("%n sample(s) left out for missing values", nullptr, static_cast<int>(facts.dropped));
    }
    m_classes->setText(words);
    m_classes->setVisible(!words.isEmpty());
    fillLabels();
    m_columns.setLook(m_look);
    m_table->setVisible(m_columns.rowCount() > 0);
    m_strip->setLook(m_look);
}

/// What was seen before stays in sight, so that the choice that led here can be taken back.
void DataDialog::fail(const QString& sentence) {
    m_busy->hide();
    m_use->setEnabled(false);
    if (m_look == nullptr) {
        m_summary->setText(QFileInfo(QString::fromStdString(m_plan.file)).fileName());
    }
    m_problem->setText(sentence);
    m_problem->show();
}

}  // namespace mantissa::ui
