#include "ui/runs/continue_dialog.h"

#include <QButtonGroup>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "judge/resume_text.h"
#include "ui/runs/checkpoint_model.h"
#include "ui/runs/continued_plan.h"

namespace mantissa::ui {
namespace {

constexpr int tableRows = 5;
constexpr int rowHeight = 28;

const ModeSupport* supportOf(const DeviceReport* device, Precision mode) {
    if (device == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(device->modes.begin(), device->modes.end(), [mode](const ModeSupport& one) { return one.mode == mode; });
    return found == device->modes.end() ? nullptr : &*found;
}

}  // namespace

ContinueDialog::ContinueDialog(const CheckpointList& list, const QString& runName, const DeviceReport* device,
                               const std::string& language, QWidget* parent)
    : QDialog(parent), m_language(language), m_model(new CheckpointModel(list.checkpoints, this)), m_table(new QTableView(this)),
      m_modes(new QButtonGroup(this)), m_steps(new QSpinBox(this)), m_end(new QLabel(this)), m_scale(new QLabel(this)),
      m_problem(new QLabel(this)) {
    MANTISSA_ASSERT(!list.checkpoints.empty());
    setObjectName(QStringLiteral("continueDialog"));
    setWindowTitle(tr("Continue from checkpoint"));
    auto* head = new QLabel(tr("Continue <b>%1</b> from one of its checkpoints, as a new run. The old one stays as it is.")
                                .arg(runName.toHtmlEscaped()),
                            this);
    head->setWordWrap(true);
    QStringList damaged;
    for (const std::string& sentence : list.damaged) {
        damaged << QString::fromStdString(sentence);
    }
    auto* broken = new QLabel(damaged.join(QLatin1Char('\n')), this);
    broken->setWordWrap(true);
    broken->setProperty("fieldError", true);
    broken->setVisible(!damaged.isEmpty());
    for (QLabel* label : {m_scale, m_problem}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_scale->setObjectName(QStringLiteral("scaleSentence"));
    m_scale->setMinimumHeight(2 * fontMetrics().lineSpacing() + 2);  // so that the dialog doesn't jump between modes
    m_scale->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_problem->setProperty("fieldError", true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    buttons->button(QDialogButtonBox::Cancel)->setIcon({});
    m_go = new QPushButton(this);
    m_go->setObjectName(QStringLiteral("continueButton"));
    m_go->setProperty("primary", true);
    buttons->addButton(m_go, QDialogButtonBox::AcceptRole);
    m_go->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &ContinueDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(18, 16, 18, 14);
    column->setSpacing(10);
    column->addWidget(head);
    column->addWidget(buildTable());
    column->addWidget(broken);
    column->addWidget(buildModes(device));
    column->addWidget(buildSteps());
    column->addWidget(m_scale);
    column->addWidget(m_problem);
    column->addWidget(buttons);
    resize(600, sizeHint().height());
    m_table->selectRow(0);
    takeCheckpoint();
}

QWidget* ContinueDialog::buildTable() {
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("checkpointTable"));
    m_table->setAccessibleName(tr("Checkpoints"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(rowHeight);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setMinimumSectionSize(84);
    m_table->horizontalHeader()->setStretchLastSection(true);
    const int rows = std::clamp(m_model->rowCount(), 2, tableRows);
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + rows * rowHeight + 6);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ContinueDialog::takeCheckpoint);
    return m_table;
}

QWidget* ContinueDialog::buildModes(const DeviceReport* device) {
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(16);
    layout->addWidget(new QLabel(tr("Go on in"), row));
    for (const Precision mode : all_precisions) {
        const QString name = QLatin1String(to_string(mode));
        const ModeSupport* support = supportOf(device, mode);
        QString word;
        if (support != nullptr && mode != Precision::No) {
            word = support->support == Support::Native ? tr("native") : (support->support == Support::Emulated ? tr("emulated") : tr("unsupported"));
        }
        auto* button = new QRadioButton(word.isEmpty() ? name : QStringLiteral("%1 – %2").arg(name, word), row);
        button->setObjectName(QStringLiteral("mode_%1").arg(name));
        // A run that was emulated goes on emulated: its plan allows it.
        const bool ranHere = mode == Precision::Fp8 && hasCheckpointIn(mode);
        button->setEnabled((support == nullptr && mode != Precision::Fp8) || ranHere ||
                           (support != nullptr && support->support != Support::Unsupported));
        button->setToolTip(support == nullptr ? QString() : QString::fromStdString(support->reason));
        m_modes->addButton(button, static_cast<int>(mode));
        layout->addWidget(button);
    }
    layout->addStretch(1);
    connect(m_modes, &QButtonGroup::idClicked, this, &ContinueDialog::refresh);
    return row;
}

QWidget* ContinueDialog::buildSteps() {
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(10);
    auto* label = new QLabel(tr("&Further steps"), row);
    label->setBuddy(m_steps);
    m_steps->setObjectName(QStringLiteral("furtherSteps"));
    m_steps->setRange(1, 100'000'000);
    m_steps->setGroupSeparatorShown(true);
    m_steps->setButtonSymbols(QAbstractSpinBox::NoButtons);  // arrow keys and typing do; small arrows are hard to hit
    m_steps->setMinimumWidth(110);
    m_end->setProperty("muted", true);
    layout->addWidget(label);
    layout->addWidget(m_steps);
    layout->addWidget(m_end, 1);
    connect(m_steps, &QSpinBox::valueChanged, this, &ContinueDialog::refresh);
    return row;
}

bool ContinueDialog::hasCheckpointIn(Precision mode) const {
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->checkpoint(row)->mode == mode) {
            return true;
        }
    }
    return false;
}

const CheckpointInfo& ContinueDialog::checkpoint() const {
    return *m_model->checkpoint(std::max(0, m_table->currentIndex().row()));
}

Precision ContinueDialog::mode() const {
    return static_cast<Precision>(std::max(0, m_modes->checkedId()));
}

QString ContinueDialog::scaleSentence() const {
    return m_scale->text();
}

QString ContinueDialog::problem() const {
    return m_problem->text();
}

void ContinueDialog::choose(int row, Precision mode, int furtherSteps) {
    m_table->selectRow(row);
    if (QAbstractButton* button = m_modes->button(static_cast<int>(mode)); button != nullptr && button->isEnabled()) {
        button->setChecked(true);
    }
    m_steps->setValue(furtherSteps);
    refresh();
}

/// Another checkpoint brings its own mode and length; a mode that isn't there falls back to `no`, which always is.
void ContinueDialog::takeCheckpoint() {
    const CheckpointInfo& info = checkpoint();
    QAbstractButton* own = m_modes->button(static_cast<int>(info.mode));
    (own != nullptr && own->isEnabled() ? own : m_modes->button(static_cast<int>(Precision::No)))->setChecked(true);
    m_steps->setValue(static_cast<int>(std::min<std::int64_t>(suggestedSteps(info), std::numeric_limits<int>::max())));
    refresh();
}

void ContinueDialog::refresh() {
    const CheckpointInfo& info = checkpoint();
    auto plan = continuedPlan(info, mode(), m_steps->value());
    m_plan = plan ? std::optional(*plan) : std::nullopt;
    m_problem->setText(plan ? QString() : QString::fromStdString(describe(plan.error())));
    m_problem->setVisible(!plan);
    m_go->setEnabled(plan.ok());
    m_go->setText(tr("Continue from step %1").arg(QLocale().toString(static_cast<qlonglong>(info.step))));
    m_end->setText(tr("up to step %1").arg(QLocale().toString(static_cast<qlonglong>(info.step + m_steps->value()))));
    const double initial = plan ? plan->plan.loss_scale.initial : LossScalePlan{}.initial;
    const auto texts = text_catalogue(m_language);
    const auto sentence = texts ? resumed_scale_text(**texts, info.mode, mode(), info.loss_scale, initial) : Result<std::string>(texts.error());
    m_scale->setText(QString::fromStdString(sentence ? *sentence : describe(sentence.error())));
}

void ContinueDialog::accept() {
    if (m_plan) {
        Q_EMIT chosen(*m_plan);
        QDialog::accept();
    }
}

}  // namespace mantissa::ui
