// What the page Numerics says in figures: heat map cells, zones, tables, texts, each against a value worked out by hand or by casting.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "fixture_tensors.h"
#include "ui/numerics/heat_axis.h"
#include "ui/numerics/heat_scale.h"
#include "ui/numerics/histogram_view.h"
#include "ui/numerics/numerics_tables.h"
#include "ui/numerics/tensor_heat.h"

namespace mantissa::ui {
namespace {

std::vector<QString> texts(const ValueTable& table, std::size_t row) {
    std::vector<QString> found;
    for (const ValueCell& cell : table.rows.at(row)) {
        found.push_back(cell.text);
    }
    return found;
}

}  // namespace

class NumericsValuesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void cellsHoldWhatCastingGives() {
        // fp16 keeps 2^-24 and above; 2^-25 is a tie that becomes 0: two of the four values go.
        const std::vector<float> values{0x1p-25F, 0x1p-26F, 0x1p-24F, 1.0F, 0.0F};
        TensorHeat heat;
        heat.add(fixture::tensorRow(0, "w", TensorRole::Gradient, "float32", values), 1);
        heat.add(fixture::tensorRow(20, "w", TensorRole::Gradient, "float32", values), 4);
        QCOMPARE(heat.columns().size(), std::size_t{2});
        QCOMPARE(*heat.value(0, 0, HeatQuantity::FlushShare, NumberFormat::Fp16), 0.5);
        QCOMPARE(*heat.value(0, 1, HeatQuantity::FlushShare, NumberFormat::Fp16), 0.0);  // ×4: 2^-24 is the smallest
        QCOMPARE(*heat.value(0, 0, HeatQuantity::FlushShare, NumberFormat::Bf16), 0.0);
        QCOMPARE(*heat.value(0, 0, HeatQuantity::FlushShare, NumberFormat::E4m3fn), 0.75);
        QCOMPARE(*heat.value(0, 0, HeatQuantity::Headroom, NumberFormat::Fp16), std::log2(65504.0));
        QCOMPARE(*heat.value(0, 1, HeatQuantity::Headroom, NumberFormat::Fp16), std::log2(65504.0) - 2);
        QCOMPARE(*heat.value(0, 0, HeatQuantity::NonfiniteShare, NumberFormat::Fp16), 0.0);
        QVERIFY(!heat.value(0, 0, HeatQuantity::UnmovedShare, NumberFormat::Fp16));
        QVERIFY(!heat.value(0, 2, HeatQuantity::Headroom, NumberFormat::Fp16));
    }

    void nothingIsLostWhenColumnsAreMerged() {
        TensorHeat heat;
        const std::vector<float> small{1.0F, 2.0F}, bad{1.0F, std::numeric_limits<float>::quiet_NaN()};
        constexpr std::int64_t steps = 3 * static_cast<std::int64_t>(TensorHeat::mostColumns) + 17;
        constexpr std::int64_t badStep = 1235;
        for (std::int64_t step = 0; step < steps; ++step) {
            heat.add(fixture::tensorRow(step, "a", TensorRole::Output, "float32", step == badStep ? bad : small), 1);
            if (step % 3 == 0) {
                heat.add(fixture::tensorRow(step, "b", TensorRole::Output, "float32", small), 1);
            }
        }
        QVERIFY(heat.columns().size() <= TensorHeat::mostColumns);
        QCOMPARE(heat.columns().front().first, std::int64_t{0});
        QCOMPARE(heat.columns().back().last, steps - 1);
        std::size_t bads = 0;
        for (std::size_t column = 0; column < heat.columns().size(); ++column) {
            const HeatCell* cell = heat.cell(0, column);
            QVERIFY(cell);
            if (cell->nonfinite > 0) {
                ++bads;
                QCOMPARE(cell->step, badStep);
                QCOMPARE(cell->nonfinite, 0.5);
                QVERIFY(heat.columns()[column].first <= badStep && badStep <= heat.columns()[column].last);
                QCOMPARE(*heat.columnOf(badStep), column);
            }
        }
        QCOMPARE(bads, std::size_t{1});
    }

    void columnsLieAtTheirStepsAfterASwitchOfTheLevel() {
        // Every 50 steps up to 200, every step up to 210, then every 50 again; merged ones hold several steps.
        std::vector<HeatColumn> columns;
        for (const std::int64_t step : {0, 50, 100, 150, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 260}) {
            columns.push_back({step, step});
        }
        const HeatAxis axis(columns, 620);  // two pixels a step
        QCOMPARE(axis.begin(), 0.0);
        QCOMPARE(axis.end(), 310.0);  // the last reaches as far as the one before
        QCOMPARE(axis.pixelOf(100), 200.0);
        QCOMPARE(axis.pixelsOf(1).from, 100.0);
        QCOMPARE(axis.pixelsOf(1).to, 200.0);
        QCOMPARE(axis.pixelsOf(4).from, 400.0);
        QCOMPARE(axis.pixelsOf(4).to, 402.0);  // every step from here on
        QCOMPARE(axis.pixelsOf(14).to, 520.0);
        QCOMPARE(axis.shown()[0], (HeatAxis::Columns{0, 1}));
        QCOMPARE(axis.shown()[99], (HeatAxis::Columns{0, 1}));
        QCOMPARE(axis.shown()[100], (HeatAxis::Columns{1, 2}));
        QCOMPARE(axis.shown()[405], (HeatAxis::Columns{6, 7}));
        QCOMPARE(axis.shown()[619], (HeatAxis::Columns{15, 16}));
        QCOMPARE(axis.ticks(7), (std::vector<std::int64_t>{0, 50, 100, 150, 200, 250, 300}));
        QCOMPARE(axis.ticks(4), (std::vector<std::int64_t>{0, 100, 200, 300}));
        const HeatAxis narrow(columns, 31);  // ten steps a pixel: each column is still shown by one
        std::vector<bool> isShown(columns.size());
        for (const HeatAxis::Columns& pixel : narrow.shown()) {
            for (std::size_t i = pixel.from; i < pixel.to; ++i) {
                isShown[i] = true;
            }
        }
        QVERIFY(std::all_of(isShown.begin(), isShown.end(), [](bool shown) { return shown; }));
        QCOMPARE(narrow.shown()[20].from, std::size_t{4});  // step 200, and what rounds to the same pixel
        QVERIFY(narrow.shown()[20].to >= 9);
    }

    void aHoleWithoutRecordsStaysEmpty() {
        const std::vector<HeatColumn> columns{{0, 0}, {10, 10}, {20, 20}, {520, 520}, {530, 530}};
        const HeatAxis axis(columns, 540);
        QCOMPARE(axis.end(), 540.0);
        QCOMPARE(axis.pixelsOf(2).to, 30.0);  // not to 520
        QVERIFY(axis.shown()[30].isEmpty());
        QVERIFY(axis.shown()[519].isEmpty());
        QCOMPARE(axis.shown()[520], (HeatAxis::Columns{3, 4}));
        // At either end nothing tells a hole from the pace: the first record after a switch draws none.
        const std::vector<HeatColumn> soon{{0, 0}, {20, 20}, {22, 22}, {23, 23}, {73, 73}};
        const HeatAxis early(soon, 123);
        QCOMPARE(early.end(), 123.0);
        for (const HeatAxis::Columns& pixel : early.shown()) {
            QVERIFY(!pixel.isEmpty());
        }
        const std::vector<HeatColumn> one{{7, 7}};
        QCOMPARE(HeatAxis(one, 100).shown()[99], (HeatAxis::Columns{0, 1}));
        QCOMPARE(HeatAxis(one, 100).ticks(5), std::vector<std::int64_t>{7});
        QVERIFY(HeatAxis({}, 100).shown()[0].isEmpty());
    }

    void zonesBeginWhereTheFormatDoes() {
        QCOMPARE(zoneOf(-26, NumberFormat::Fp16), Zone::Flush);
        QCOMPARE(zoneOf(-25, NumberFormat::Fp16), Zone::Subnormal);  // above its lower edge it becomes 2^-24
        QCOMPARE(zoneOf(-15, NumberFormat::Fp16), Zone::Subnormal);
        QCOMPARE(zoneOf(-14, NumberFormat::Fp16), Zone::Normal);
        QCOMPARE(zoneOf(15, NumberFormat::Fp16), Zone::Normal);
        QCOMPARE(zoneOf(16, NumberFormat::Fp16), Zone::Overflow);
        QCOMPARE(zoneOf(8, NumberFormat::E4m3fn), Zone::Normal);
        QCOMPARE(zoneOf(9, NumberFormat::E4m3fn), Zone::Overflow);
        const ExponentShares shares = exponentShares(lens_input(fixture::tensorRow(0, "w", TensorRole::Output, "float32",
                                                                                   std::vector<float>{1.0F, 1.5F, -3.0F, 0.0F}))
                                                         ->histogram);
        QCOMPARE(exponentOf(shares.first), 0);
        QCOMPARE(exponentOf(shares.last), 1);
        QCOMPARE(shares.share[127], 2.0 / 3);
        const ValueTable table = histogramTable(shares, NumberFormat::E4m3fn, 8);
        QCOMPARE(texts(table, 0), (std::vector<QString>{"2^0", "66.7 %", "2^8", "normal"}));
        QCOMPARE(texts(table, 1), (std::vector<QString>{"2^1", "33.3 %", "2^9", "overflow"}));
    }

    void opsAreCountedByDtypeAndCompared() {
        const std::vector<OpDtypeRow> half{{0, "forward", "addmm", "float16", 4, 97'000, 0, 0},
                                           {0, "forward", "addmm", "float32", 1, 500, 0, 0},
                                           {0, "forward", "_to_copy", "float16", 5, 0, 5, 2048},
                                           {0, "backward", "mm", "bfloat16", 1, 3'000, 0, 0},
                                           {0, "backward", "sum", "int64", 2, 0, 0, 0}};
        const std::vector<OpDtypeRow> control{{0, "forward", "addmm", "float32", 5, 97'500, 0, 0}};
        const ValueTable alone = opTable(half, nullptr);
        QCOMPARE(texts(alone, 0), (std::vector<QString>{"all ops", "", "9", "1", "1", "2", "5", "2.05 kB"}));
        QCOMPARE(texts(alone, 1), (std::vector<QString>{"addmm", "forward", "4", "–", "1", "–", "–", "–"}));
        const ValueTable both = opTable(half, &control);
        QCOMPARE(texts(both, 1), (std::vector<QString>{"addmm", "forward", "4  (+4)", "0", "1  (−4)", "0", "0", "0 B"}));
        QCOMPARE(both.rows[1][4].number, -4.0);
        QCOMPARE(texts(opTable(control, &half), 2)[6], QStringLiteral("0  (−5)"));  // an op that only the other mode runs
        QVERIFY(opSentence(half, "fp16").contains("99.5"));
        QVERIFY(opTable({}, nullptr).rows.empty());
        // fp8 has a column where there is any, and the layers that stay out of it are named.
        const std::vector<OpDtypeRow> fp8{{0, "forward", "_scaled_mm", "float8_e4m3fn", 1, 900, 0, 0},
                                          {0, "forward", "addmm", "bfloat16", 2, 100, 0, 0},
                                          {0, "backward", "_scaled_mm", "float8_e5m2", 2, 900, 0, 0}};
        QCOMPARE(opTable(fp8, nullptr).columns[2], QStringLiteral("fp8"));
        QCOMPARE(texts(opTable(fp8, nullptr), 0), (std::vector<QString>{"all ops", "", "3", "–", "2", "–", "–", "–", "–"}));
        QCOMPARE(texts(opTable(control, &fp8), 1)[2], QStringLiteral("0"));
        QVERIFY2(opSentence(fp8, "fp8", {{"hidden", 64, 128, true}, {"head", 128, 10, false}}).endsWith(
                     "In bf16, because fp8 takes sizes that are multiples of 16: head (128 → 10)."),
                 qPrintable(opSentence(fp8, "fp8", {{"head", 128, 10, false}})));
    }

    void weightsThatDontMoveComeFirst() {
        RunFacts run;
        const auto add = [&run](const char* name, std::optional<double> unmoved) {
            TensorStatRow row = fixture::tensorRow(40, name, TensorRole::Update, "float32", std::vector<float>{1e-4F, -1e-4F});
            row.unmoved = unmoved;
            run.updates[name] = row;
            run.weights[name] = fixture::tensorRow(40, name, TensorRole::Weight, "float32", std::vector<float>{0.1F, -0.1F});
        };
        add("a", 0.02);
        add("b", 0.83);
        add("c", std::nullopt);
        const ValueTable table = updateTable(run);
        QCOMPARE(texts(table, 0), (std::vector<QString>{"b", "40", "83.0 %", "1.00e-04", "0.100", "1.00e-03"}));
        QVERIFY(table.rows[0][2].isBad && !table.rows[1][2].isBad);
        QCOMPARE(texts(table, 2)[2], QStringLiteral("–"));
        run.localErrors = {{50, "head", TensorRole::Output, "float16", 61.5, 8e-4},
                           {50, "gate.mul", TensorRole::Output, "float16", -std::numeric_limits<double>::infinity(), 1.0}};
        QCOMPARE(texts(localErrorTable(run), 0)[0], QStringLiteral("gate.mul"));
        QCOMPARE(texts(localErrorTable(run), 1)[4], QStringLiteral("62 dB"));
    }

    void textsNeverSayZeroForSomething() {
        QCOMPARE(shareText(0), QStringLiteral("0 %"));
        QCOMPARE(shareText(1e-9), QStringLiteral("< 0.0001 %"));
        QCOMPARE(shareText(0.00004), QStringLiteral("0.0040 %"));
        QCOMPARE(shareText(0.9999), QStringLiteral("> 99.9 %"));
        QCOMPARE(shareText(1), QStringLiteral("100 %"));
        QCOMPARE(heatText(HeatQuantity::Headroom, 0.94), QStringLiteral("0.9 bits"));
        for (const HeatQuantity quantity : allHeatQuantities) {  // bad is strong, in both themes, by lightness alone
            const auto ticks = heatTicks(quantity);
            QVERIFY(ticks.front().level < 0.01 && ticks.back().level > 0.99);
        }
        Theme theme;
        for (const Theme::Choice choice : {Theme::Choice::Light, Theme::Choice::Dark}) {
            theme.setChoice(choice);
            double before = -1;
            for (int i = 0; i <= 20; ++i) {
                const QColor colour = heatColour(i / 20.0, theme);
                const double luminance = 0.2126 * colour.redF() + 0.7152 * colour.greenF() + 0.0722 * colour.blueF();
                const double contrast = choice == Theme::Choice::Dark ? luminance : 1 - luminance;
                QVERIFY(contrast > before);
                before = contrast;
            }
        }
    }

    void modelKeepsItsRowsWhenOnlyValuesChange() {
        ValueTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset), changes(&model, &QAbstractItemModel::dataChanged);
        const auto table = [](const QString& text, double value, int rows) {
            return ValueTable{{"a", "b"}, std::vector<std::vector<ValueCell>>(static_cast<std::size_t>(rows), {textCell(text), numberCell("1", value)})};
        };
        model.setTable(table("x", 1, 2));
        QCOMPARE(resets.size(), 1);
        model.setTable(table("x", 1, 2));
        QCOMPARE(changes.size(), 0);
        model.setTable(table("y", 2, 2));
        QCOMPARE(changes.size(), 1);
        QCOMPARE(resets.size(), 1);
        QCOMPARE(model.index(1, 0).data().toString(), QStringLiteral("y"));
        QCOMPARE(model.index(1, 1).data(ValueTableModel::SortRole).toDouble(), 2.0);
        model.setTable(table("y", 2, 3));
        QCOMPARE(resets.size(), 2);
        model.setTable({});
        QCOMPARE(model.rowCount(), 0);
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::NumericsValuesTest)
#include "test_numerics_values.moc"
