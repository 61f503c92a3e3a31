// What falls onto the window is told by its content, and goes where it belongs.
#include "ui/shell/drop_target.h"

#include <QApplication>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QTest>
#include <QUrl>

#include "desk.h"
#include "ui/shell/screenshot.h"
#include "ui/shell/startup.h"

namespace mantissa::ui {

class DropTargetTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString written(const char* name, const QByteArray& content) const {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
            return {};
        }
        return file.fileName();
    }
    static DroppedKind kindOf(const QString& name) { return kindOfDropped(name.toStdString()); }
    static void drop(MainWindow& window, const QString& name) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(name)});
        QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(QPointF(200, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &event);
    }

  private Q_SLOTS:
    void initTestCase() { loadResources(); }

    void theContentTellsTheKind() {
        QCOMPARE(kindOf(m_folder.path()), DroppedKind::Folder);
        QCOMPARE(kindOf(written("a.txt", R"({"mantissa_plan": 1, "plan": {}})")), DroppedKind::Plan);
        QCOMPARE(kindOf(written("b.json", R"( {"mixed_precision": "bf16"})")), DroppedKind::Configuration);
        QCOMPARE(kindOf(written("n.json", R"({"mantissa_layers": 1, "layers": ["relu"]})")), DroppedKind::LayerList);
        QCOMPARE(kindOf(written("c.yaml", "mixed_precision: bf16\n")), DroppedKind::Configuration);
        QCOMPARE(kindOf(written("d.bin", QByteArray("PK\x03\x04") + QByteArray(100'000, 'x') + "net/constants.pkl")), DroppedKind::ScriptModel);
        QCOMPARE(kindOf(written("e.pt", QByteArray("PK\x03\x04") + "run.db")), DroppedKind::Bundle);
        QCOMPARE(kindOf(written("f.png", "\x89PNG")), DroppedKind::Unknown);
        QCOMPARE(kindOf(written("g", "")), DroppedKind::Unknown);
        QCOMPARE(kindOf(m_folder.filePath("gone")), DroppedKind::Unknown);
    }

    void aPlanIsTakenUpAndAModelIsAskedAbout() {
        const QTemporaryDir home;
        qputenv("MANTISSA_RUNS_DIR", home.filePath("runs").toUtf8());
        Desk desk(home);
        desk.window->showPage(QStringLiteral("runs"));
        drop(*desk.window, written("plan.json", R"({"mantissa_plan": 1, "plan": {"name": "dropped", "model": "linear"}})"));
        QCOMPARE(desk.window->currentPage(), QStringLiteral("setup"));
        QCOMPARE(desk.window->setupPage().editor().plan().name, std::string("dropped"));
        drop(*desk.window, written("net.pt", QByteArray("PK\x03\x04") + "net/constants.pkl"));
        auto* question = desk.window->findChild<QMessageBox*>("trustQuestion");
        QVERIFY(question != nullptr);
        question->reject();
        QCOMPARE(desk.window->setupPage().editor().plan().model.file, std::string());
        qunsetenv("MANTISSA_RUNS_DIR");
    }

    void whatCantBeOpenedIsSaid() {
        const QTemporaryDir home;
        Desk desk(home);
        drop(*desk.window, written("picture.png", "\x89PNG"));
        const auto labels = desk.window->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("picture.png is no folder of a run"); }));
        const QString page = desk.window->currentPage();
        const QTemporaryDir empty;
        drop(*desk.window, empty.path());  // a folder, but of no run
        QCOMPARE(desk.window->currentPage(), page);
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::DropTargetTest)
#include "drop_target_test.moc"
