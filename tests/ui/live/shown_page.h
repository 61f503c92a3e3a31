#pragma once
// The Live page with a folder of its own, and what can be read on it.
#include <QAbstractButton>
#include <QLabel>

#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/live/headline_bar.h"
#include "ui/live/live_page.h"

namespace mantissa::ui::live_test {

inline constexpr int patience = 8000;

inline QString allText(const QWidget& widget) {
    QString text;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
        if (label->isVisibleTo(&widget)) {
            text += label->text() + QLatin1Char('\n');
        }
    }
    for (const QAbstractButton* button : widget.findChildren<QAbstractButton*>()) {
        if (button->isVisibleTo(&widget)) {
            text += button->text() + QLatin1Char('\n');
        }
    }
    return text;
}

struct Page {
    testing::TemporaryFolder folder;
    Theme theme;
    LivePage page{theme};

    Page() {
        theme.setChoice(Theme::Choice::Light);
        page.resize(1208, 738);
        page.show();
    }
    fixture::Comparison show(const fixture::Options& options) {
        fixture::Comparison made = fixture::writeComparison(folder.path(), options);
        page.showComparison(made.folder);
        return made;
    }
    [[nodiscard]] HeadlineBar& headline() { return *page.findChild<HeadlineBar*>(); }
    [[nodiscard]] bool has(const QString& text) { return allText(page).contains(text); }
};

inline fixture::Options over() {
    fixture::Options options;
    options.steps = options.planned;
    options.ended = true;
    return options;
}

}  // namespace mantissa::ui::live_test
