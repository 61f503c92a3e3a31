// The layers of a list: what the table says, the layer that is wrong, and a file that somebody edits.
#include "ui/setup/layer_card.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "ui/setup/layer_table_model.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {

class LayerCardTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_home;

    QString written(const char* layers) const {
        QFile file(m_home.filePath("net.json"));
        const bool done = file.open(QIODevice::WriteOnly) && file.write(QByteArray(R"({"mantissa_layers": 1, "input": [1, 8, 8], "layers": [)") + layers + "]}") > 0;
        return done ? file.fileName() : QString();
    }
    static QString cell(const QTableView* table, int row, int column) { return table->model()->index(row, column).data().toString(); }

  private Q_SLOTS:
    void aListIsShownWithSizesAndGoesWithIt() {
        PlanEditor editor;
        LayerCard card(editor);
        const auto* table = card.findChild<QTableView*>("layerTable");
        const QAbstractItemModelTester tester(table->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(card.isHidden());
        editor.edit("model.file", written(R"({"conv2d": {"out": 8, "kernel": 3}, "name": "conv"}, "relu", {"residual": ["batch_norm"]}, "flatten", {"linear": "classes"})"));
        QVERIFY(!card.isHidden());
        QCOMPARE(table->model()->rowCount(), 6);
        QCOMPARE(cell(table, 0, LayerTableModel::Path), QString("conv"));
        QCOMPARE(cell(table, 0, LayerTableModel::Layer), QString("conv2d 8, kernel 3"));
        QCOMPARE(cell(table, 0, LayerTableModel::Output), QString("8×6×6"));
        QCOMPARE(cell(table, 0, LayerTableModel::Parameters), QString("80"));
        QCOMPARE(cell(table, 0, LayerTableModel::Memory), QString("1.28 kB"));
        QCOMPARE(cell(table, 3, LayerTableModel::Path), QString("2.0"));
        QVERIFY(cell(table, 3, LayerTableModel::Layer).startsWith("    batch_norm"));
        QCOMPARE(cell(table, 5, LayerTableModel::Output), QString("10"));
        QVERIFY(card.findChild<QLabel*>("layerProblem")->isHidden());
        QCOMPARE(table->model()->headerData(LayerTableModel::Output, Qt::Horizontal).toString(), QString("Output of a sample"));
        // Its data set decides the last layer; another model takes the card away.
        editor.edit("model.file", QString());
        QVERIFY(card.isHidden());
        QCOMPARE(table->model()->rowCount(), 0);
    }

    void aDataFileGivesSizesOnceItIsRead() {
        PlanEditor editor;
        LayerCard card(editor);
        card.show();
        const auto* table = card.findChild<QTableView*>("layerTable");
        const auto* problem = card.findChild<QLabel*>("layerProblem");
        editor.edit("model.file", written(R"("flatten", {"linear": "classes"})"));
        QCOMPARE(cell(table, 1, LayerTableModel::Output), QString("10"));
        DatasetPlan data;
        data.file = "/data/pictures.npz";
        editor.setData(data, 0);
        QCOMPARE(cell(table, 1, LayerTableModel::Output), QString("?"));
        QVERIFY(problem->isHidden());
        SampleFacts facts;
        facts.shape = {1, 8, 8};
        facts.classes = {"a", "b", "c"};
        card.setFacts(facts);
        QCOMPARE(cell(table, 1, LayerTableModel::Output), QString("3"));
        editor.edit("dataset.validation", "0.3");  // changes no sample
        QCOMPARE(cell(table, 1, LayerTableModel::Output), QString("3"));
        facts.shape = {3, 32, 32};
        card.setFacts(facts);
        QVERIFY(problem->text().contains("input is 1×8×8, 64 values, but a sample of pictures.npz has 3,072"));
    }

    void theLayerThatDoesntFitIsMarkedAndToldUntilItsFileIsMended() {
        PlanEditor editor;
        LayerCard card(editor);
        card.show();
        const auto* table = card.findChild<QTableView*>("layerTable");
        const auto* problem = card.findChild<QLabel*>("layerProblem");
        editor.edit("model.file", written(R"({"max_pool2d": 2}, {"conv2d": {"out": 8, "kernel": 5}}, "flatten", {"linear": "classes"})"));
        QVERIFY(problem->isVisible());
        QVERIFY(problem->text().contains("layers[1] conv2d: kernel 5 doesn't fit the 1×4×4 that layers[0] max_pool2d gives"));
        QCOMPARE(cell(table, 1, LayerTableModel::Path), QString("✗ 1"));
        QCOMPARE(cell(table, 1, LayerTableModel::Output), QString("?"));
        QCOMPARE(cell(table, 2, LayerTableModel::Output), QString("?"));
        QVERIFY(table->model()->index(1, 0).data(Qt::ToolTipRole).toString().contains("kernel 5 doesn't fit"));
        QVERIFY(table->selectionModel()->isRowSelected(1, {}));
        written("{\"linear\": 12}, {\"lineer\": 3}");
        QTRY_VERIFY(problem->text().contains("did you mean linear?"));
        QCOMPARE(table->model()->rowCount(), 0);
        written(R"("flatten", {"linear": "classes"})");
        QTRY_VERIFY(problem->isHidden());
        QCOMPARE(table->model()->rowCount(), 2);
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::LayerCardTest)
#include "layer_card_test.moc"
