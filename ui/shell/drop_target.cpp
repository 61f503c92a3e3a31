#include "ui/shell/drop_target.h"

#include <QByteArray>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>
#include <QWidget>
#include <algorithm>
#include <system_error>

#include "samples/samples.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/main_window.h"
#include "ui/shell/startup.h"

namespace mantissa::ui {
namespace {

constexpr qint64 endBytes = 64 * 1024;

}  // namespace

DroppedKind kindOfDropped(const std::filesystem::path& path) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed)) {
        return DroppedKind::Folder;
    }
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::ReadOnly)) {
        return DroppedKind::Unknown;
    }
    const QByteArray begin = file.read(endBytes);
    if (begin.startsWith("PK")) {
        // The list of a zip file's names stands at its end.
        file.seek(std::max<qint64>(0, file.size() - endBytes));
        const QByteArray names = file.readAll();
        return names.contains("/constants.pkl") ? DroppedKind::ScriptModel : names.contains(".npy") ? DroppedKind::Data : DroppedKind::Bundle;
    }
    if (begin.trimmed().startsWith('{')) {
        if (begin.contains("\"mantissa_layers\"")) {
            return DroppedKind::LayerList;
        }
        return begin.contains("\"mantissa_plan\"") ? DroppedKind::Plan : DroppedKind::Configuration;
    }
    const std::string extension = path.extension().string();
    if (extension == ".yaml" || extension == ".yml") {
        return DroppedKind::Configuration;
    }
    return file_kind(path) ? DroppedKind::Data : DroppedKind::Unknown;
}

DropTarget::DropTarget(MainWindow& window, SetupPage& setup) : QObject(&window), m_window(window), m_setup(setup) {
    window.setAcceptDrops(true);
    window.installEventFilter(this);
}

bool DropTarget::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::DragEnter) {
        auto* enter = static_cast<QDragEnterEvent*>(event);
        const QList<QUrl> urls = enter->mimeData()->urls();
        if (urls.size() == 1 && urls.front().isLocalFile()) {
            enter->acceptProposedAction();
        }
        return true;
    }
    if (event->type() == QEvent::Drop) {
        auto* drop = static_cast<QDropEvent*>(event);
        drop->acceptProposedAction();
        take(drop->mimeData()->urls().front().toLocalFile());
        return true;
    }
    return QObject::eventFilter(watched, event);
}

/// Nothing where all is well.
void DropTarget::say(const Result<void>& opened) {
    if (!opened) {
        Q_EMIT m_setup.message(QString::fromStdString(describe(opened.error())));
    }
}

void DropTarget::take(const QString& name) {
    const std::filesystem::path path = name.toStdString();
    const QString shortName = QFileInfo(name).fileName();
    const DroppedKind kind = kindOfDropped(path);
    if (kind == DroppedKind::Plan || kind == DroppedKind::Configuration || kind == DroppedKind::ScriptModel || kind == DroppedKind::LayerList || kind == DroppedKind::Data) {
        m_window.showPage(QStringLiteral("setup"));
    }
    switch (kind) {
        case DroppedKind::Folder:
            if (const auto readable = checkFolder(path); !readable) {
                return say(readable);
            }
            return m_window.openFolder(path);
        case DroppedKind::Plan:
            return say(m_setup.files().openPlanFile(path));
        case DroppedKind::Configuration:
            return say(m_setup.files().openConfigFile(path));
        case DroppedKind::ScriptModel:
        case DroppedKind::LayerList:
            return m_setup.takeModelFile(name);
        case DroppedKind::Data:
            return m_setup.takeDataFile(name);
        case DroppedKind::Bundle:
            Q_EMIT m_setup.message(tr("%1 may be a bundle of a step: mantissa runs unpack makes a run of it, which can be opened").arg(shortName));
            return;
        case DroppedKind::Unknown:
            Q_EMIT m_setup.message(tr("%1 is no folder of a run, no plan, no configuration of Accelerate, no TorchScript model and no data file").arg(shortName));
    }
}

}  // namespace mantissa::ui
