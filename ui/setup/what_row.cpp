#include "ui/setup/what_row.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

#include "launch/trusted_files.h"
#include "plan/catalogue.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/data_dialog.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

std::vector<layers::LayerPreset> listsOfTheProgram() {
    auto lists = layers::list_layer_presets();
    return lists ? std::move(*lists) : std::vector<layers::LayerPreset>{};
}

/// Without what doesn't change how the file is read.
DatasetPlan readingOf(DatasetPlan plan) {
    plan.validation = DatasetPlan{}.validation;
    plan.split_seed = 0;
    plan.normalise = Normalise::Auto;
    return plan;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

WhatRow::WhatRow(PlanEditor& editor, std::vector<Preset> presets, QWidget* parent)
    : QuestionRow(1, "whatRow", parent),
      m_editor(editor),
      m_presets(std::move(presets)),
      m_lists(listsOfTheProgram()),
      m_preset(addMenuButton("presetButton")),
      m_model(addMenuButton("modelButton")),
      m_data(addMenuButton("dataButton")) {
    connect(&editor, &PlanEditor::changed, this, &WhatRow::refresh);
    connect(&editor, &PlanEditor::errorsChanged, this, &WhatRow::refresh);
    connect(&m_reader, &DataReader::ready, this, [this](const std::shared_ptr<const DataLook>& look) {
        m_facts = look->samples.facts;
        m_editor.setFileSamples(m_facts->samples);
        Q_EMIT dataRead(*m_facts);
        refresh();
    });
    connect(&m_reader, &DataReader::failed, this, [this](const QString& sentence) {
        m_fileProblem = sentence;
        refresh();
    });
    for (QPushButton* button : {m_preset, m_model, m_data}) {
        connect(button->menu(), &QMenu::aboutToShow, this, &WhatRow::fillMenus);
    }
    texts().bind([this] {
        setQuestion(tr("What?"));
        fillMenus();
        refresh();
    });
}

void WhatRow::fillMenus() {
    m_preset->menu()->clear();
    for (const Preset& preset : m_presets) {
        QAction* action =
            m_preset->menu()->addAction(text(preset.id) + QStringLiteral("  –  ") + text(preset.title));
        action->setToolTip(text(preset.summary));
        connect(action, &QAction::triggered, this, [this, id = text(preset.id)] { Q_EMIT presetChosen(id); });
    }
    const RunPlan& plan = m_editor.plan();
    m_model->menu()->clear();
    for (const auto& model : catalogue::models()) {
        QAction* action =
            m_model->menu()->addAction(text(model.id) + QStringLiteral("  –  ") + text(model.title));
        action->setToolTip(text(model.description + "\n" + model.layers));
        action->setCheckable(true);
        action->setChecked(plan.model.file.empty() && model.id == plan.model.name);
        connect(action, &QAction::triggered, this, [this, id = text(model.id)] {
            m_editor.edit("model.file", QString());
            m_editor.edit("model.name", id);
        });
    }
    addLayerLists();
    QAction* file = m_model->menu()->addAction(tr("Model file…"));
    file->setObjectName("modelFileAction");
    file->setToolTip(tr("A layer list, or a model that torch.jit.script or torch.jit.trace saved"));
    file->setCheckable(true);
    file->setChecked(!plan.model.file.empty() && !isListOfOurs(plan.model.file));
    connect(file, &QAction::triggered, this, &WhatRow::chooseModelFile);
    fillDataMenu();
}

void WhatRow::fillDataMenu() {
    const RunPlan& plan = m_editor.plan();
    m_data->menu()->clear();
    const auto* model = plan.model.file.empty() ? catalogue::find_model(plan.model.name) : nullptr;
    for (const auto& entry : catalogue::datasets()) {
        QAction* action =
            m_data->menu()->addAction(text(entry.id) + QStringLiteral("  –  ") + text(entry.title));
        action->setToolTip(text(entry.description));
        action->setCheckable(true);
        action->setChecked(plan.dataset.file.empty() && entry.id == plan.dataset.name);
        if (model != nullptr && !contains(model->datasets, entry.id)) {
            action->setEnabled(false);
            action->setToolTip(tr("The model %1 can't take this data.").arg(text(model->id)));
        }
        connect(action, &QAction::triggered, this, [this, id = entry.id] {
            DatasetPlan wanted = otherData();
            wanted.name = id;
            m_editor.setData(wanted, 0);
        });
    }
    m_data->menu()->addSeparator();
    QAction* file = m_data->menu()->addAction(tr("Data file…"));
    file->setObjectName("dataFileAction");
    file->setToolTip(tr("IDX, npy, npz, safetensors, a CSV table or a text, told by its content"));
    file->setCheckable(true);
    file->setChecked(!plan.dataset.file.empty());
    connect(file, &QAction::triggered, this, &WhatRow::chooseDataFile);
    if (!plan.dataset.file.empty()) {
        QAction* look = m_data->menu()->addAction(tr("Look into %1…").arg(QFileInfo(text(plan.dataset.file)).fileName()));
        look->setObjectName("dataLookAction");
        connect(look, &QAction::triggered, this, [this] { openDataDialog(m_editor.plan().dataset); });
    }
}

void WhatRow::chooseDataFile() {
    fillMenus();  // a check mark that nobody chose
    auto* dialog = new QFileDialog(window(), tr("Choose a data file"), QString(),
                                   tr("Data (*.csv *.tsv *.txt *.npy *.npz *.safetensors *.gz *ubyte *.idx);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &WhatRow::takeDataFile);
    dialog->open();
}

void WhatRow::takeDataFile(const QString& file) {
    DatasetPlan wanted = otherData();
    wanted.file = QFileInfo(file).absoluteFilePath().toStdString();
    openDataDialog(wanted);
}

DatasetPlan WhatRow::otherData() const {
    DatasetPlan other;
    other.validation = m_editor.plan().dataset.validation;
    other.split_seed = m_editor.plan().dataset.split_seed;
    return other;
}

void WhatRow::openDataDialog(const DatasetPlan& plan) {
    auto* dialog = new DataDialog(plan, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &DataDialog::used, this, [this, dialog](const DatasetPlan& chosen, qint64 samples) {
        m_looked = readingOf(chosen);
        m_facts = dialog->look()->samples.facts;  // no need to read it once more
        m_fileProblem.clear();
        m_editor.setData(chosen, samples);
    });
    dialog->open();
}

/// The counts of a file are known when it was read; the plan may come from anywhere.
void WhatRow::lookAtFile() {
    const DatasetPlan reading = readingOf(m_editor.plan().dataset);
    if (reading == m_looked) {
        return;
    }
    m_looked = reading;
    m_facts.reset();
    m_fileProblem.clear();
    if (reading.file.empty()) {
        return m_reader.forget();
    }
    m_reader.read(reading);
}

/// The layer lists that come with the program.
void WhatRow::addLayerLists() {
    m_model->menu()->addSeparator();
    for (const layers::LayerPreset& preset : m_lists) {
        QAction* action = m_model->menu()->addAction(tr("%1  –  layer list").arg(text(preset.id)));
        action->setToolTip(text(preset.about));
        action->setCheckable(true);
        action->setChecked(m_editor.plan().model.file == preset.file.string());
        connect(action, &QAction::triggered, this, [this, file = text(preset.file.string())] { useModelFile(file); });
    }
    m_model->menu()->addSeparator();
}

bool WhatRow::isListOfOurs(const std::string& file) const {
    return std::any_of(m_lists.begin(), m_lists.end(), [&file](const layers::LayerPreset& preset) { return preset.file.string() == file; });
}

void WhatRow::chooseModelFile() {
    fillMenus();  // a check mark that nobody chose
    auto* dialog = new QFileDialog(window(), tr("Choose a model file"), QString(), tr("Models (*.json *.pt *.ts *.pth);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &WhatRow::takeModelFile);
    dialog->open();
}

void WhatRow::takeModelFile(const QString& file) {
    RunPlan plan;
    plan.model.file = file.toStdString();
    if (require_trusted_model(plan)) {
        return useModelFile(file);
    }
    auto* question = new QMessageBox(QMessageBox::NoIcon, tr("Trust this file?"), tr("%1 is a program that runs with your rights.").arg(QFileInfo(file).fileName()),
                                     QMessageBox::Cancel, window());
    question->setObjectName("trustQuestion");
    question->setInformativeText(tr("Use it only if you know where it comes from. You are asked once for each content. It is loaded in worker processes, not in this window."));
    question->setAttribute(Qt::WA_DeleteOnClose);
    const QPushButton* trust = question->addButton(tr("Trust and use"), QMessageBox::AcceptRole);
    connect(trust, &QPushButton::clicked, this, [this, file] {
        if (const auto trusted = trust_file(file.toStdString()); !trusted) {
            return setAnswer(QString(), text(describe(trusted.error())));
        }
        useModelFile(file);
    });
    question->open();
}

void WhatRow::useModelFile(const QString& file) { m_editor.edit("model.file", file); }

void WhatRow::refresh() {
    const RunPlan& plan = m_editor.plan();
    QString preset;
    for (const auto& [path, origin] : m_editor.sourced().origins) {
        if (origin.source == ValueSource::Preset) {
            preset = text(origin.detail);
            preset.remove(QStringLiteral("preset "));
            break;
        }
    }
    setButtonText(m_preset, preset.isEmpty() ? QString() : tr("Preset"),
                  preset.isEmpty() ? tr("Presets") : preset);
    setButtonText(m_model, tr("Model"), plan.model.file.empty() ? text(plan.model.name) : QFileInfo(text(plan.model.file)).fileName());
    setButtonText(m_data, tr("Data"), plan.dataset.file.empty() ? text(plan.dataset.name) : QFileInfo(text(plan.dataset.file)).fileName());
    lookAtFile();
    QString problem;
    for (const char* path : {"model.name", "dataset.name", "model.hidden", "model.file", "dataset.file", "dataset.labels", "dataset.leave_out"}) {
        problem = problem.isEmpty() ? m_editor.error(path) : problem;
    }
    setAnswer(dataAnswer(), problem.isEmpty() ? m_fileProblem : problem);
}

QString WhatRow::dataAnswer() const {
    const RunPlan& plan = m_editor.plan();
    const QLocale locale;
    PlannedSamples samples = planned_samples(plan.dataset);
    if (!plan.dataset.file.empty()) {
        if (!m_facts) {
            return m_fileProblem.isEmpty() ? tr("reading %1…").arg(QFileInfo(text(plan.dataset.file)).fileName()) : QString();
        }
        samples.validation = catalogue::held_out_samples(m_facts->samples, plan.dataset.validation);
        samples.training = m_facts->samples - samples.validation;
    }
    QString answer = samples.validation > 0
                         ? tr("%1 training and %2 validation samples")
                               .arg(locale.toString(samples.training), locale.toString(samples.validation))
                         : tr("%1 training samples, none held out").arg(locale.toString(samples.training));
    if (m_facts) {
        return answer + QStringLiteral(" · ") + dataSummary(*m_facts);
    }
    if (const auto* entry = catalogue::find_dataset(plan.dataset.name); entry != nullptr) {
        answer += QStringLiteral(" · ") + tr("%1 features, %2 classes").arg(entry->features).arg(entry->classes);
    }
    return answer;
}

}  // namespace mantissa::ui
