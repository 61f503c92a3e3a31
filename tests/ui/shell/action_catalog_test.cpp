// The catalogue of commands: no shortcut twice, every command reachable and translated; the palette finds by
// words.
#include "ui/shell/action_catalog.h"

#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QSet>
#include <QSignalSpy>
#include <QTest>

#include "ui/shell/command_palette.h"
#include "ui/shell/window_options.h"

namespace mantissa::ui {

class ActionCatalogTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void shortcutsAreUnique() {
        QCOMPARE(ActionCatalog::duplicateShortcuts(ActionCatalog::specs()), QStringList());
    }

    void aSecondOwnerOfAShortcutIsFound() {
        auto specs = ActionCatalog::specs();
        specs.push_back(
            {"test.clash", "Clash", "Shift+Ctrl+Z", ActionMenu::Help});  // the same keys in another order
        const QStringList clashes = ActionCatalog::duplicateShortcuts(specs);
        QCOMPARE(clashes.size(), 1);
        QVERIFY(clashes.first().contains("edit.redo") && clashes.first().contains("test.clash"));
    }

    void idsAreUniqueAndShortcutsAreReadable() {
        QSet<QString> ids;
        for (const ActionSpec& spec : ActionCatalog::specs()) {
            QVERIFY2(!ids.contains(spec.id), spec.id);
            ids.insert(spec.id);
            const QString keys = QString::fromLatin1(spec.shortcut);
            QCOMPARE(QKeySequence::fromString(keys, QKeySequence::PortableText)
                         .toString(QKeySequence::PortableText),
                     keys);
        }
    }

    void everyCommandIsInAMenu() {
        const ActionCatalog catalog;
        size_t inMenus = 0;
        for (const ActionMenu menu : allActionMenus) {
            QVERIFY(!ActionCatalog::menuTitle(menu).isEmpty());
            inMenus += catalog.inMenu(menu).size();
        }
        QCOMPARE(inMenus, catalog.actions().size());
    }

    void paletteFindsByWordsInAnyOrder() {
        const ActionCatalog catalog;
        QCOMPARE(CommandPalette::matches(catalog, "colours dark").size(), 1);
        QCOMPARE(CommandPalette::matches(catalog, "DARK").first()->objectName(), QStringLiteral("view.dark"));
        QVERIFY(CommandPalette::matches(catalog, "no such words").isEmpty());
        catalog.action("view.dark")->setEnabled(false);
        QVERIFY(CommandPalette::matches(catalog, "dark").isEmpty());
    }

    void paletteStartsTheMarkedCommand() {
        const ActionCatalog catalog;
        QWidget window;
        window.resize(800, 600);
        window.show();
        CommandPalette palette(catalog, &window);
        QSignalSpy dark(catalog.action("view.dark"), &QAction::triggered);
        palette.openOver(&window);
        auto* line = palette.findChild<QLineEdit*>();
        QTest::keyClicks(line, "colours");
        auto* list = palette.findChild<QListWidget*>();
        QCOMPARE(list->count(), 3);
        QTest::keyClick(line, Qt::Key_Down);
        QTest::keyClick(line, Qt::Key_Down);
        QTest::keyClick(line, Qt::Key_Return);
        QTRY_COMPARE(dark.count(), 1);
        QVERIFY(!palette.isVisible());
    }

    void translationsAreComplete_data() {
        QTest::addColumn<QString>("file");
        QTest::newRow("zh") << "mantissa_zh_CN.ts";
        QTest::newRow("en") << "mantissa_en.ts";
    }
    void translationsAreComplete() {
        QFETCH(QString, file);
        QFile ts(QStringLiteral(MANTISSA_RESOURCES_DIR "/translations/") + file);
        QVERIFY(ts.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(ts.readAll());
        QVERIFY(text.contains("<translation>"));
        QVERIFY2(!text.contains("unfinished"), "a label has no translation");
    }

    void optionsAreRefusedWithTheirName_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("named");
        QTest::newRow("page") << QStringList{"--page", "charts"} << "--page is \"charts\"";
        QTest::newRow("theme") << QStringList{"--theme=blue"} << "--theme is \"blue\"";
        QTest::newRow("size") << QStringList{"--size", "big"} << "--size is \"big\"";
        QTest::newRow("no value") << QStringList{"--open"} << "--open needs a value";
        QTest::newRow("unknown") << QStringList{"--compere", "x"} << "unknown argument \"--compere\"";
        QTest::newRow("two plans") << QStringList{"digits-mlp", "digits-cnn"}
                                   << "unknown argument \"digits-cnn\"";
    }
    void optionsAreRefusedWithTheirName() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, named);
        const auto options = WindowOptions::parse(arguments);
        QVERIFY(!options.ok());
        QCOMPARE(options.error().code, ErrorCode::Usage);
        QVERIFY2(QString::fromStdString(options.error().message).contains(named),
                 options.error().message.c_str());
    }

    void optionsAreRead() {
        const auto options = WindowOptions::parse(
            {"--compare", "gated-overflow", "--size=1024x600", "--page=live", "--runs-dir", "/r"});
        QVERIFY(options.ok());
        QCOMPARE(options->plan, std::string("gated-overflow"));
        QVERIFY(options->startComparison);
        QCOMPARE(options->size, QSize(1024, 600));
        QCOMPARE(options->runs, std::filesystem::path("/r"));
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ActionCatalogTest)
#include "action_catalog_test.moc"
