#include "ui/shell/dialogs.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>

#include "base/version.h"
#include "ui/shell/icons.h"

namespace mantissa::ui {
namespace {

struct Dialogs {
    Q_DECLARE_TR_FUNCTIONS(Dialogs)
};

}  // namespace

void askForRunFolder(QWidget* parent, const QString& start, std::function<void(const QString&)> chosen) {
    auto* dialog = new QFileDialog(parent, Dialogs::tr("Open a run or comparison folder"), start);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent, std::move(chosen));
    dialog->open();
}

void showAbout(QWidget* parent) {
    auto* box = new QMessageBox(QMessageBox::NoIcon, Dialogs::tr("About Mantissa"),
                                QStringLiteral("Mantissa %1").arg(QLatin1String(version)), QMessageBox::Close,
                                parent);
    box->setIconPixmap(applicationIcon().pixmap(64, 64));
    box->setInformativeText(
        Dialogs::tr("A workbench for mixed-precision training: compare no, fp16 and bf16 on this machine, "
                    "and see which mode to take, and why. GPL-3.0-or-later."));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

}  // namespace mantissa::ui
