#include "ui/setup/setup_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "plan/catalogue.h"
#include "plan/plan_file.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/setup/config_line.h"
#include "ui/setup/join_card.h"
#include "ui/setup/layer_card.h"
#include "ui/setup/length_row.h"
#include "ui/setup/modes_row.h"
#include "ui/setup/overruled_line.h"
#include "ui/setup/sections.h"
#include "ui/setup/trial_card.h"
#include "ui/setup/what_row.h"
#include "ui/setup/where_row.h"

namespace mantissa::ui {
namespace {

std::vector<Preset> presetsOf(const std::filesystem::path& folder) {
    auto presets = list_presets(folder);
    return presets ? std::move(*presets) : std::vector<Preset>{};
}

}  // namespace

SetupPage::SetupPage(const Theme& theme, const SetupOptions& options, QWidget* parent)
    : QWidget(parent),
      m_theme(theme),
      m_options(options),
      m_presets(presetsOf(options.presets)),
      m_probe(options.places),
      m_files(m_editor, this),
      m_trial(m_editor, options.trials),
      m_starter(options.runs) {
    setObjectName(QStringLiteral("SetupPage"));
    auto* content = new QWidget;
    content->setProperty("page", true);
    auto* cards = new QVBoxLayout(content);
    cards->setContentsMargins(12, 10, 12, 6);
    cards->setSpacing(8);
    m_trialCard = new TrialCard(theme, m_trial, content);
    m_sections = new Sections(theme, m_editor, content);
    cards->addWidget(buildQuestions());
    auto* join = new JoinCard(m_editor, options.runs, content);
    connect(join, &JoinCard::runAppeared, this, &SetupPage::joined);
    connect(join, &JoinCard::message, this, &SetupPage::message);
    cards->addWidget(join);
    cards->addWidget(m_trialCard);
    auto* layers = new LayerCard(m_editor, content);
    connect(m_what, &WhatRow::dataRead, layers, &LayerCard::setFacts);
    cards->addWidget(layers);
    cards->addWidget(m_sections);
    cards->addWidget(new OverruledLine(m_editor, content));
    cards->addWidget(new ConfigLine(m_editor, content));
    cards->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setObjectName(QStringLiteral("setupScroll"));
    scroll->setWidget(content);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(m_sections, &Sections::opened, scroll, [scroll](QWidget* body) {
        // Once the layout has given it its place.
        QTimer::singleShot(0, body, [scroll, body] { scroll->ensureWidgetVisible(body, 0, 8); });
    });
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(scroll, 1);
    column->addWidget(buildBottom());

    connect(&m_editor, &PlanEditor::changed, this, [this] {
        m_failure.clear();
        m_fresh->hide();
        Q_EMIT planLineChanged();
    });
    connect(&m_editor, &PlanEditor::errorsChanged, this, &SetupPage::refreshBottom);
    connect(&m_files, &PlanFiles::message, this, &SetupPage::message);
    connect(&m_files, &PlanFiles::refused, this, &SetupPage::showProblem);
    connect(&m_trial, &ModelTrial::changed, this, &SetupPage::refreshBottom);
    connect(&m_probe, &MachineProbe::changed, this, &SetupPage::refreshMachine);
    connect(&m_starter, &JobStarter::started, this, [this](const auto& folder, bool isComparison) {
        refreshBottom();
        Q_EMIT started(folder, isComparison);
    });
    connect(&m_starter, &JobStarter::failed, this, &SetupPage::showProblem);
    connect(&m_starter, &JobStarter::freshProcessNeeded, this, &SetupPage::offerFreshProcess);
    setFocusProxy(m_compare);
    refreshMachine();
    m_probe.ask();
}

SetupPage::~SetupPage() = default;

QWidget* SetupPage::buildQuestions() {
    auto* card = new QFrame(this);
    card->setProperty("card", true);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(16, 4, 16, 4);
    column->setSpacing(0);
    m_what = new WhatRow(m_editor, m_presets, card);
    connect(m_what, &WhatRow::presetChosen, this, &SetupPage::choosePreset);
    QWidget* rows[] = {m_what, new WhereRow(m_editor, m_probe, card),
                       new ModesRow(m_theme, m_editor, m_probe, card),
                       new LengthRow(m_editor, m_trial, card)};
    for (QWidget* row : rows) {
        if (row != m_what) {
            auto* rule = new QFrame(card);
            rule->setProperty("rule", true);
            rule->setFixedHeight(1);
            column->addWidget(rule);
        }
        column->addWidget(row);
    }
    return card;
}

QWidget* SetupPage::buildPlanButtons() {
    auto* buttons = new QWidget(this);
    auto* undo = new QPushButton(QStringLiteral("↶"), buttons);
    auto* redo = new QPushButton(QStringLiteral("↷"), buttons);
    auto* open = new QPushButton(buttons);
    auto* save = new QPushButton(buttons);
    auto* config = new QPushButton(buttons);
    config->setObjectName(QStringLiteral("openConfigButton"));
    auto* row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    for (QPushButton* button : {undo, redo, open, save, config}) {
        row->addWidget(button);
    }
    QUndoStack& stack = m_editor.undoStack();
    connect(undo, &QPushButton::clicked, &stack, &QUndoStack::undo);
    connect(redo, &QPushButton::clicked, &stack, &QUndoStack::redo);
    connect(&stack, &QUndoStack::canUndoChanged, undo, &QWidget::setEnabled);
    connect(&stack, &QUndoStack::canRedoChanged, redo, &QWidget::setEnabled);
    undo->setEnabled(false);
    redo->setEnabled(false);
    connect(open, &QPushButton::clicked, &m_files, &PlanFiles::openPlan);
    connect(save, &QPushButton::clicked, &m_files, &PlanFiles::savePlan);
    connect(config, &QPushButton::clicked, &m_files, &PlanFiles::openConfig);
    auto* texts = new Retranslation(buttons);
    texts->bind([=] {
        undo->setAccessibleName(tr("Undo"));
        undo->setToolTip(tr("Undo the last edit (Ctrl+Z)"));
        redo->setAccessibleName(tr("Redo"));
        redo->setToolTip(tr("Redo (Ctrl+Shift+Z)"));
        open->setText(tr("Open plan…"));
        save->setText(tr("Save plan…"));
        config->setText(tr("Accelerate…"));
        config->setAccessibleName(tr("Open Accelerate's configuration…"));
        config->setToolTip(tr("Open Accelerate's configuration file as a source of settings"));
    });
    return buttons;
}

QWidget* SetupPage::buildBottom() {
    auto* bottom = new QWidget(this);
    m_problem = new QLabel(bottom);
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setProperty("fieldError", true);
    m_problem->setWordWrap(true);
    m_fresh = new QPushButton(bottom);
    m_fresh->setObjectName(QStringLiteral("freshProcessButton"));
    m_fresh->hide();
    m_oneMode = new QPushButton(bottom);
    m_oneMode->setObjectName(QStringLiteral("oneModeButton"));
    m_oneMode->setProperty("menuButton", true);
    m_oneMode->setProperty("tall", true);
    m_oneMode->setMenu(new QMenu(m_oneMode));
    m_compare = new QPushButton(bottom);
    m_compare->setObjectName(QStringLiteral("compareButton"));
    m_compare->setProperty("primary", true);
    m_compare->setProperty("tall", true);
    m_compare->setDefault(true);
    auto* column = new QVBoxLayout(bottom);
    column->setContentsMargins(12, 2, 12, 10);
    column->setSpacing(6);
    column->addWidget(m_problem);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    column->addLayout(row);
    row->addWidget(buildPlanButtons());
    row->addStretch(1);
    row->addWidget(m_fresh);
    row->addWidget(m_oneMode);
    row->addWidget(m_compare);
    connect(m_fresh, &QPushButton::clicked, this, [this] {
        if (m_editor.edit("launch.scope", QStringLiteral("process"))) {
            startOneMode(m_freshMode);
        }
    });
    connect(m_compare, &QPushButton::clicked, this, &SetupPage::startComparison);
    for (const Precision mode : all_precisions) {
        m_oneMode->menu()->addAction(QLatin1String(to_string(mode)), this,
                                     [this, mode] { startOneMode(mode); });
    }
    auto* texts = new Retranslation(bottom);
    texts->bind([this] {
        m_fresh->setText(tr("Use a fresh process"));
        m_oneMode->setText(tr("Only one mode") + QStringLiteral(" ▾"));
        m_oneMode->setAccessibleName(tr("Only one mode"));
        refreshMachine();
    });
    return bottom;
}

QString SetupPage::whyNot(JobKind kind) const {
    if (m_probe.state() == MachineProbe::State::NoEngine) {
        return tr("The engine (libmantissa-engine.so) isn't beside this program: install Mantissa whole to train.");
    }
    if (const QString problem = m_editor.firstProblem(); !problem.isEmpty()) {
        return problem;
    }
    if (kind == JobKind::Comparison && m_editor.plan().launch.scope == LaunchScope::Thread) {
        return tr(
            "A comparison needs a fresh process for each mode: choose it under “Where?”, or run only one "
            "mode.");
    }
    if (kind == JobKind::Comparison) {
        for (const ModelTrial::Row& row : m_trial.rows()) {
            if (row.state == ModelTrial::State::Done && !row.report.runs) {
                return tr("%1 can't run this model here: take it out of the comparison.")
                    .arg(QLatin1String(to_string(row.mode)));
            }
        }
    }
    return {};
}

void SetupPage::takeDataFile(const QString& file) { m_what->takeDataFile(file); }

void SetupPage::takeModelFile(const QString& file) {
    m_what->takeModelFile(file);
}

void SetupPage::showProblem(const QString& sentence) {
    m_failure = sentence;
    m_fresh->hide();
    refreshBottom();
}

void SetupPage::offerFreshProcess(Precision mode) {
    m_freshMode = mode;
    showProblem(tr("This window has trained in another precision and keeps it; %1 needs a fresh process.")
                    .arg(QLatin1String(to_string(mode))));
    m_fresh->show();
}

void SetupPage::refreshBottom() {
    QStringList names;
    for (const Precision mode : m_editor.plan().modes) {
        names << QLatin1String(to_string(mode));
    }
    m_compare->setText(names.size() > 1 ? tr("Compare %1").arg(names.join(QStringLiteral(" / ")))
                                        : tr("Run %1").arg(names.value(0, QStringLiteral("no"))));
    // A launcher's run begins in its own shell: there is nothing to press here.
    const bool isJoin = m_editor.plan().launch.scope == LaunchScope::Join;
    m_compare->setVisible(!isJoin);
    m_oneMode->setVisible(!isJoin);
    const QString why = whyNot(isJoin ? JobKind::SingleRun : JobKind::Comparison);
    m_compare->setEnabled(why.isEmpty() && !m_starter.isStarting());
    m_compare->setToolTip(why);
    m_oneMode->setEnabled(whyNot(JobKind::SingleRun).isEmpty() && !m_starter.isStarting());
    m_problem->setText(m_failure.isEmpty() ? why : m_failure);
    m_problem->setVisible(!m_problem->text().isEmpty());
}

void SetupPage::refreshMachine() {
    switch (m_probe.state()) {
        case MachineProbe::State::NoEngine:
            m_trialCard->setNotice(tr("needs the engine, which is missing"));
            break;
        case MachineProbe::State::Failed:
            m_trialCard->setNotice(tr("this machine could not be asked"));
            break;
        case MachineProbe::State::Asking:
        case MachineProbe::State::Known:
            m_trialCard->setNotice({});
            break;
    }
    m_trial.setEnabled(m_probe.state() == MachineProbe::State::Known);
    refreshBottom();
}

QString SetupPage::planLine() const {
    const RunPlan& plan = m_editor.plan();
    std::string optimizer = plan.training.optimizer.name;
    for (const auto& entry : catalogue::optimizers()) {
        optimizer = entry.id == optimizer ? entry.title : optimizer;
    }
    return tr("%1 · batch %2 · %3 %4 · seed %5")
        .arg(QString::fromStdString(plan.dataset.file.empty() ? plan.dataset.name : std::filesystem::path(plan.dataset.file).filename().string()))
        .arg(plan.training.batch_size)
        .arg(QString::fromStdString(optimizer),
             QString::fromStdString(to_text(plan.training.optimizer.learning_rate)))
        .arg(plan.training.seed);
}

Result<void> SetupPage::startFrom(const std::string& presetOrFile, std::vector<PlanLayer> otherSources) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(presetOrFile, failure)) {
        auto file = read_plan_file(presetOrFile);
        if (!file) {
            return file.error();
        }
        auto layer = plan_text_layer(to_json(*file).dump(), ValueSource::Plan, presetOrFile);
        if (!layer) {
            return layer.error();
        }
        otherSources.push_back(std::move(*layer));
        return m_editor.start(std::move(otherSources));
    }
    auto preset = load_preset(presetOrFile, m_options.presets);
    if (!preset) {
        return preset.error();
    }
    auto layer = preset_layer(*preset);
    if (!layer) {
        return layer.error();
    }
    otherSources.push_back(std::move(*layer));
    return m_editor.start(std::move(otherSources), compare_defaults(*preset));
}

void SetupPage::choosePreset(const QString& id) {
    auto preset = load_preset(id.toStdString(), m_options.presets);
    auto layer = preset ? preset_layer(*preset) : Result<PlanLayer>(preset.error());
    const auto taken =
        layer ? m_editor.replacePlan(std::move(*layer), compare_defaults(*preset), tr("Preset %1").arg(id))
              : Result<void>(layer.error());
    if (!taken) {
        Q_EMIT message(QString::fromStdString(describe(taken.error())));
    }
}

void SetupPage::startComparison() {
    if (m_editor.plan().launch.scope == LaunchScope::Join) {
        Q_EMIT message(tr("A launcher starts this run: copy its lines."));
        return;
    }
    if (m_editor.plan().modes.size() < 2) {
        startOneMode(Precision::No);
        return;
    }
    if (whyNot(JobKind::Comparison).isEmpty()) {
        m_starter.start(JobKind::Comparison, m_editor.sourced());
        refreshBottom();
    }
}

void SetupPage::startOneMode(Precision mode) {
    const auto plan = m_editor.planOfOneMode(mode);
    if (!plan) {
        m_failure = QString::fromStdString(describe(plan.error()));
    } else {
        m_failure.clear();
        m_starter.start(JobKind::SingleRun, *plan);
    }
    refreshBottom();
}

}  // namespace mantissa::ui
