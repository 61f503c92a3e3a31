// mantissa-numerics-pictures DIR [JOB_FOLDER]: pictures of the page Numerics for eyes and for the manual, from made-up recordings, or of
// one real comparison or run.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QTabWidget>
#include <QToolButton>
#include <QTranslator>
#include <cstdio>

#include "fixture_tensors.h"
#include "support/temporary_folder.h"
#include "ui/numerics/numerics_page.h"
#include "ui/numerics/tensor_panel.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

void spin(int milliseconds) {
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < milliseconds) {
        QApplication::processEvents(QEventLoop::AllEvents, 20);
    }
}

void picture(NumericsPage& page, const QDir& folder, const QString& name) {
    spin(1500);
    const QString file = folder.filePath(name + QStringLiteral(".png"));
    page.grab().save(file);
    std::printf("%s\n", qPrintable(file));
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: mantissa-numerics-pictures DIR [JOB_FOLDER]\n");
        return 2;
    }
    const QDir folder(QString::fromLocal8Bit(argv[1]));
    folder.mkpath(QStringLiteral("."));
    testing::TemporaryFolder runs;
    Theme theme;
    theme.setChoice(Theme::Choice::Dark);
    theme.apply();
    NumericsPage page(theme);
    page.setAutoFillBackground(true);
    page.resize(1208, 738);  // 1280×800 without the shell's header, rail and status line
    page.show();
    picture(page, folder, QStringLiteral("empty-dark"));
    fixture::Comparison made;
    if (argc == 2) {
        made = fixture::writeComparison(runs.path());
        fixture::addTensorRecords(made, {}, 5);
    }
    page.setControl(true, {});
    page.showFolder(argc == 3 ? std::filesystem::path(argv[2]) : made.folder);
    picture(page, folder, QStringLiteral("control-outputs-dark"));
    page.chooseRun(1);
    picture(page, folder, QStringLiteral("fp16-outputs-dark"));
    theme.setChoice(Theme::Choice::Light);
    picture(page, folder, QStringLiteral("fp16-outputs-light"));
    page.chooseRun(0);
    page.chooseRole(TensorRole::Gradient);
    page.chooseQuantity(HeatQuantity::FlushShare);
    spin(1000);
    page.tensorPanel().setLog2Scale(2);
    page.findChild<QTabWidget*>(QStringLiteral("numericsTabs"))->setCurrentIndex(1);
    picture(page, folder, QStringLiteral("control-gradients-light"));
    page.resize(952, 538);
    picture(page, folder, QStringLiteral("control-gradients-light-1024x600"));
    theme.setChoice(Theme::Choice::Dark);
    page.chooseFormat(NumberFormat::E4m3fn);
    picture(page, folder, QStringLiteral("control-gradients-dark-1024x600"));
    page.findChild<QTabWidget*>(QStringLiteral("numericsTabs"))->setCurrentIndex(3);
    picture(page, folder, QStringLiteral("forecast-dark-1024x600"));
    return 0;
}
