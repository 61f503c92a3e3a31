#include "ui/setup/plan_files.h"

#include <QFileDialog>
#include <nlohmann/json.hpp>

#include "plan/plan_file.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

QString sentence(const Error& error) { return QString::fromStdString(describe(error)); }

}  // namespace

PlanFiles::PlanFiles(PlanEditor& editor, QWidget* page) : m_editor(editor), m_page(page) {}

Result<void> PlanFiles::openPlanFile(const fs::path& file) {
    auto read = read_plan_file(file);
    if (!read) {
        return read.error();
    }
    auto layer = plan_text_layer(to_json(*read).dump(), ValueSource::Plan, file.string());
    if (!layer) {
        return layer.error();
    }
    return m_editor.replacePlan(std::move(*layer), {}, tr("Open %1").arg(QString::fromStdString(file.filename().string())));
}

Result<void> PlanFiles::openConfigFile(const fs::path& file) {
    auto layer = accelerate_config_layer(file, process_environment());
    if (!layer) {
        return layer.error();
    }
    const int count = static_cast<int>(layer->values.size());
    auto taken = m_editor.replaceConfig(std::move(*layer), tr("Accelerate's configuration"));
    if (taken) {
        Q_EMIT message(tr("Accelerate's configuration read: %n setting(s) from %1", nullptr, count)
                           .arg(QString::fromStdString(file.string())));
    }
    return taken;
}

QString PlanFiles::defaultConfigPlace() {
    const fs::path folder = accelerate_config_folder(process_environment());
    std::error_code ignored;
    for (const char* name : {"default_config.yaml", "default_config.yml", "default_config.json"}) {
        if (fs::is_regular_file(folder / name, ignored)) {
            return QString::fromStdString((folder / name).string());
        }
    }
    return QString::fromStdString(folder.string());
}

void PlanFiles::openPlan() {
    auto* dialog = new QFileDialog(m_page, tr("Open plan"), QString(), tr("Plans (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) {
        if (const auto opened = openPlanFile(name.toStdString()); !opened) {
            Q_EMIT refused(sentence(opened.error()));
        }
    });
    dialog->open();
}

void PlanFiles::openConfig() {
    auto* dialog = new QFileDialog(m_page, tr("Open Accelerate's configuration"), QString(),
                                   tr("Configurations (*.yaml *.yml *.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setFilter(dialog->filter() | QDir::Hidden);  // it lies below ~/.cache
    const QFileInfo place(defaultConfigPlace());
    dialog->setDirectory(place.isFile() ? place.absolutePath() : (place.isDir() ? place.absoluteFilePath() : QDir::homePath()));
    if (place.isFile()) {
        dialog->selectFile(place.absoluteFilePath());
    }
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) {
        if (const auto opened = openConfigFile(name.toStdString()); !opened) {
            Q_EMIT refused(sentence(opened.error()));
        }
    });
    dialog->open();
}

void PlanFiles::savePlan() {
    auto* dialog = new QFileDialog(m_page, tr("Save plan"), QString::fromStdString(m_editor.plan().name) + QStringLiteral(".json"),
                                   tr("Plans (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("json"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) {
        const auto saved = write_plan_file(name.toStdString(), m_editor.sourced());
        Q_EMIT message(saved ? tr("Plan saved: %1").arg(name) : sentence(saved.error()));
    });
    dialog->open();
}

}  // namespace mantissa::ui
