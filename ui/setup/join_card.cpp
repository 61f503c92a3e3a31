#include "ui/setup/join_card.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "launch/supervisor.h"
#include "plan/plan_file.h"
#include "record/run_folder.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

constexpr int saveAfterMs = 400, lookEveryMs = 500;

/// Tells two plans apart; the same one keeps its file.
std::string hashOf(const std::string& text) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    char digits[9] = "";
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
    return digits;
}

QString launcherName(RankLauncher launcher) {
    switch (launcher) {
        case RankLauncher::Torchrun: return QStringLiteral("torchrun");
        case RankLauncher::Slurm: return QStringLiteral("Slurm");
        case RankLauncher::OpenMpi: return QStringLiteral("MPI");
    }
    return {};
}

}  // namespace

JoinCard::JoinCard(PlanEditor& editor, fs::path runs, QWidget* parent)
    : QFrame(parent),
      m_editor(editor),
      m_runs(std::move(runs)),
      m_title(new QLabel(this)),
      m_subtitle(new QLabel(this)),
      m_state(new QLabel(this)),
      m_tabs(new QTabWidget(this)) {
    setObjectName(QStringLiteral("joinCard"));
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_subtitle->setProperty("muted", true);
    m_subtitle->setWordWrap(true);
    m_state->setProperty("muted", true);
    m_state->setWordWrap(true);
    m_state->setObjectName(QStringLiteral("joinState"));
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_tabs->setObjectName(QStringLiteral("joinTabs"));
    m_tabs->setDocumentMode(true);
    for (const RankLauncher launcher : {RankLauncher::Torchrun, RankLauncher::Slurm, RankLauncher::OpenMpi}) {
        m_tabs->addTab(buildTab(launcher), launcherName(launcher));
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 9, 16, 10);
    column->setSpacing(6);
    auto* head = new QHBoxLayout;
    head->setSpacing(14);
    head->addWidget(m_title);
    head->addWidget(m_subtitle, 1);
    column->addLayout(head);
    column->addWidget(buildChoices());
    column->addWidget(m_tabs);
    column->addWidget(m_state);
    connect(m_tabs, &QTabWidget::currentChanged, this, &JoinCard::fitTab);
    m_save.setSingleShot(true);
    m_save.setInterval(saveAfterMs);
    m_look.setInterval(lookEveryMs);
    connect(&m_save, &QTimer::timeout, this, &JoinCard::refresh);
    connect(&m_look, &QTimer::timeout, this, &JoinCard::look);
    connect(&editor, &PlanEditor::changed, this, [this] {
        const bool isJoin = m_editor.plan().launch.scope == LaunchScope::Join;
        setVisible(isJoin);
        if (!isJoin) {
            m_save.stop();
            m_look.stop();
        } else {
            m_save.start();
            if (!m_look.isActive()) {
                m_known = foldersNow();
                m_look.start();
            }
        }
    });
    auto* texts = new Retranslation(this);
    texts->bind([this] { retranslate(); });
    hide();
}

QWidget* JoinCard::buildChoices() {
    auto* choices = new QWidget(this);
    m_modeLabel = new QLabel(choices);
    m_machinesLabel = new QLabel(choices);
    m_processesLabel = new QLabel(choices);
    m_mode = new QComboBox(choices);
    m_mode->setObjectName(QStringLiteral("joinMode"));
    for (const Precision mode : {Precision::No, Precision::Fp16, Precision::Bf16}) {
        m_mode->addItem(QLatin1String(to_string(mode)), static_cast<int>(mode));
    }
    m_machines = new QSpinBox(choices);
    m_machines->setObjectName(QStringLiteral("joinMachines"));
    m_machines->setRange(1, 1024);
    m_processes = new QSpinBox(choices);
    m_processes->setObjectName(QStringLiteral("joinProcesses"));
    m_processes->setRange(1, 64);
    m_processes->setValue(2);
    for (QSpinBox* number : {m_machines, m_processes}) {
        number->setButtonSymbols(QAbstractSpinBox::NoButtons);
        number->setFixedWidth(56);
    }
    m_modeLabel->setBuddy(m_mode);
    m_machinesLabel->setBuddy(m_machines);
    m_processesLabel->setBuddy(m_processes);
    auto* row = new QHBoxLayout(choices);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    for (const auto& [label, field] :
         {std::pair<QLabel*, QWidget*>{m_modeLabel, m_mode}, {m_machinesLabel, m_machines}, {m_processesLabel, m_processes}}) {
        row->addWidget(label);
        row->addWidget(field);
        row->addSpacing(10);
    }
    row->addStretch(1);
    connect(m_mode, &QComboBox::currentIndexChanged, this, &JoinCard::refresh);
    connect(m_machines, &QSpinBox::valueChanged, this, &JoinCard::refresh);
    connect(m_processes, &QSpinBox::valueChanged, this, &JoinCard::refresh);
    return choices;
}

QWidget* JoinCard::buildTab(RankLauncher launcher) {
    auto* page = new QWidget(m_tabs);
    auto* text = new QPlainTextEdit(page);
    text->setReadOnly(true);
    text->setTabChangesFocus(true);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setObjectName(QStringLiteral("lines_%1").arg(launcherName(launcher)));
    auto* copy = new QPushButton(page);
    copy->setObjectName(QStringLiteral("copy_%1").arg(launcherName(launcher)));
    auto* row = new QHBoxLayout(page);
    row->setContentsMargins(0, 6, 0, 0);
    row->setSpacing(8);
    row->addWidget(text, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    connect(copy, &QPushButton::clicked, this, [this, launcher] {
        QApplication::clipboard()->setText(lines(launcher));
        Q_EMIT message(tr("Copied: the lines for %1").arg(launcherName(launcher)));
    });
    m_launchers.push_back({launcher, text, copy});
    return page;
}

void JoinCard::retranslate() {
    m_title->setText(tr("Started by a launcher"));
    m_subtitle->setText(tr("it starts the processes, they train one run together; no window is needed for that"));
    m_modeLabel->setText(tr("&Precision"));
    m_machinesLabel->setText(tr("&Machines"));
    m_processesLabel->setText(tr("P&rocesses on each"));
    for (const Tab& tab : m_launchers) {
        tab.copy->setText(tr("Copy"));
        tab.copy->setAccessibleName(tr("Copy the lines for %1").arg(launcherName(tab.launcher)));
        tab.text->setAccessibleName(tr("Lines for %1").arg(launcherName(tab.launcher)));
    }
    refresh();
}

QString JoinCard::lines(RankLauncher launcher) const {
    JobScript script;
    script.program = mantissa_program();
    script.plan = m_planFile;
    script.runs = fs::absolute(m_runs).lexically_normal();
    script.name = m_editor.plan().name;
    script.machines = m_machines->value();
    script.processes = m_processes->value();
    script.threads = m_editor.plan().launch.threads;
    return QString::fromStdString(job_script(launcher, script));
}

Result<fs::path> JoinCard::savePlan() const {
    const auto plan = m_editor.planOfOneMode(static_cast<Precision>(m_mode->currentData().toInt()));
    if (!plan) {
        return plan.error();
    }
    const fs::path folder = fs::absolute(m_runs).lexically_normal() / "plans";
    std::error_code failed;
    fs::create_directories(folder, failed);
    const std::string name = folder_name_part(plan->plan.name) + "-" + to_string(plan->plan.mixed_precision);
    const fs::path file = folder / (name + "-" + hashOf(to_json(*plan).dump()) + ".json");
    if (fs::exists(file, failed)) {
        return file;
    }
    if (auto written = write_plan_file(file, *plan); !written) {
        return written.error();
    }
    return file;
}

void JoinCard::refresh() {
    if (m_editor.plan().launch.scope != LaunchScope::Join) {
        return;
    }
    const auto saved = savePlan();
    m_planFile = saved ? *saved : fs::path();
    for (const Tab& tab : m_launchers) {
        tab.text->setPlainText(saved ? lines(tab.launcher).trimmed() : QString());
        tab.copy->setEnabled(static_cast<bool>(saved));
    }
    fitTab();
    m_state->setProperty("fieldError", !saved);
    m_state->setText(saved ? tr("Waiting for a new run “%1” in %2: Live opens it when its rank 0 has made the folder. All machines must see this "
                                "folder; the plan is saved in %3.")
                                 .arg(QString::fromStdString(m_editor.plan().name), QString::fromStdString(fs::absolute(m_runs).lexically_normal().string()),
                                      QString::fromStdString(m_planFile.filename().string()))
                           : QString::fromStdString(describe(saved.error())));
}

/// As high as the lines of the launcher that is shown: a command of three lines needs no box of twelve.
void JoinCard::fitTab() {
    constexpr int around = 32;  // frame, margins, and a scroll bar below long lines
    for (const Tab& tab : m_launchers) {
        tab.text->setFixedHeight(QFontMetrics(tab.text->font()).lineSpacing() * tab.text->document()->blockCount() + around);
    }
    const Tab& shown = m_launchers.at(static_cast<std::size_t>(m_tabs->currentIndex()));
    // A QTabWidget itself is as high as its highest page.
    m_tabs->setFixedHeight(m_tabs->tabBar()->sizeHint().height() + shown.text->height() + 8);
}

std::set<fs::path> JoinCard::foldersNow() const {
    std::set<fs::path> folders;
    if (const auto all = list_run_folders(m_runs)) {
        for (const RunFolder& folder : *all) {
            folders.insert(folder.path);
        }
    }
    return folders;
}

void JoinCard::look() {
    for (const fs::path& folder : foldersNow()) {
        if (m_known.contains(folder)) {
            continue;
        }
        const auto plan = read_plan_file(RunFolder{folder}.plan());
        if (!plan) {
            continue;  // it is being made: looked at again
        }
        m_known.insert(folder);
        const bool isOurs = plan->plan.launch.scope == LaunchScope::Join && plan->plan.name == m_editor.plan().name &&
                            plan->plan.mixed_precision == static_cast<Precision>(m_mode->currentData().toInt());
        if (isOurs) {
            Q_EMIT runAppeared(folder);
        }
    }
}

}  // namespace mantissa::ui
