// mantissa-live-pictures DIR [JOB_FOLDER]: pictures of the Live page for eyes and for the manual, from made-up recordings, or of
// one real comparison or run.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QScrollBar>
#include <cstdio>

#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/charts/step_range.h"
#include "ui/live/headline_bar.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"

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

void picture(LivePage& page, const QDir& folder, const QString& name) {
    spin(700);
    const QString file = folder.filePath(name + QStringLiteral(".png"));
    page.grab().save(file);
    std::printf("%s\n", qPrintable(file));
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: mantissa-live-pictures DIR [JOB_FOLDER]\n");
        return 2;
    }
    const QDir folder(QString::fromLocal8Bit(argv[1]));
    folder.mkpath(QStringLiteral("."));
    testing::TemporaryFolder runs;
    Theme theme;
    theme.setChoice(Theme::Choice::Light);
    theme.apply();
    LivePage page(theme);
    page.resize(1208, 738);  // 1280×800 without the shell's header, rail and status line
    page.show();
    if (argc == 3) {
        page.showComparison(argv[2]);
        picture(page, folder, QStringLiteral("job-light"));
        theme.setChoice(Theme::Choice::Dark);
        picture(page, folder, QStringLiteral("job-dark"));
        page.showNothing();
        return 0;
    }
    picture(page, folder, QStringLiteral("empty-light"));

    fixture::Options running;
    const fixture::Comparison live = fixture::writeComparison(runs.path(), running);
    page.showComparison(live.folder);
    picture(page, folder, QStringLiteral("running-light"));
    PlotOptions options = page.lossPanel().lossOptions();
    options.smoothingSteps = 10;
    page.lossPanel().setLossOptions(options);
    page.range().setCursor(144);
    picture(page, folder, QStringLiteral("running-smooth-cursor-light"));
    options.view = ValueView::RatioToControl;
    options.smoothingSteps = 0;
    page.lossPanel().setLossOptions(options);
    page.range().zoomTo({40, 160});
    picture(page, folder, QStringLiteral("running-ratio-zoom-light"));
    page.range().reset();
    page.range().setCursor(std::nullopt);
    options.view = ValueView::Absolute;
    page.lossPanel().setLossOptions(options);
    theme.setChoice(Theme::Choice::Dark);
    picture(page, folder, QStringLiteral("running-dark"));
    page.resize(952, 538);
    picture(page, folder, QStringLiteral("running-dark-1024x600"));
    theme.setChoice(Theme::Choice::Light);

    fixture::Options over;
    over.steps = over.planned;
    over.ended = true;
    const fixture::Comparison ended = fixture::writeComparison(runs.path(), over);
    page.showComparison(ended.folder);
    picture(page, folder, QStringLiteral("ended-light-1024x600"));
    page.resize(1208, 738);
    picture(page, folder, QStringLiteral("ended-light"));
    page.findChild<HeadlineBar*>()->setExpanded(true);
    picture(page, folder, QStringLiteral("ended-why-light"));

    fixture::Options trial;
    trial.trialOnly = true;
    const fixture::Comparison trying = fixture::writeComparison(runs.path(), trial);
    page.showComparison(trying.folder);
    picture(page, folder, QStringLiteral("trial-light"));
    page.showRun(ended.runs.at(1).path);
    picture(page, folder, QStringLiteral("single-light"));
    fixture::Options unfair;
    unfair.isFair = false;
    const fixture::Comparison odd = fixture::writeComparison(runs.path(), unfair);
    page.showComparison(odd.folder);
    picture(page, folder, QStringLiteral("unfair-light"));
    page.showNothing();
    return 0;
}
