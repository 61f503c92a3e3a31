// Headroom of the worst output from tensor records, value by value.
#include <QTest>
#include <cmath>

#include "ui/bridge/headroom_series.h"

namespace mantissa::ui {

class HeadroomTest : public QObject {
    Q_OBJECT

    static TensorStatRow output(std::int64_t step, const char* tensor, double largest, std::int64_t posInf = 0, const char* dtype = "float16") {
        TensorStatRow row;
        row.step = step;
        row.tensor = tensor;
        row.role = TensorRole::Output;
        row.dtype = dtype;
        row.largest = largest;
        row.pos_inf = posInf;
        row.elements = 8;
        return row;
    }
    static RunSeries steps(std::int64_t count) {
        RunSeries series;
        std::vector<StepRow> rows;
        for (std::int64_t step = 0; step < count; ++step) {
            StepRow row;
            row.step = step;
            row.applied_step = step + 1;
            row.time_ns = (step + 1) * 1'000'000'000;
            row.step_ns = 1'000'000'000;
            rows.push_back(row);
        }
        series.append(rows);
        return series;
    }

  private Q_SLOTS:
    void worstOutputCounts() {
        HeadroomSeries headroom;
        TensorStatRow gradient = output(0, "gate.weight", 1e9);
        gradient.role = TensorRole::Gradient;
        headroom.append({output(0, "gate.a", 308), gradient, output(0, "gate.mul", 16'376)});
        headroom.append({output(0, "head", 12)});  // the rest of the same step
        headroom.update(steps(2), Precision::Fp16, false);
        QCOMPARE(headroom.series().size(), std::size_t{1});
        QCOMPARE(headroom.series().column(Quantity::Headroom)[0], 2.0);  // 65,504 / 16,376 = 4
        QCOMPARE(headroom.worstTensor(), std::string("gate.mul"));
        QCOMPARE(headroom.series().x(XKind::AppliedStep)[0], 1.0);
    }

    void aStepIsTakenOverOnceItIsComplete() {
        HeadroomSeries headroom;
        headroom.append({output(50, "gate.mul", 30'000)});
        headroom.update(steps(50), Precision::Fp16, false);
        QVERIFY(headroom.series().isEmpty());  // its own row isn't there
        headroom.update(steps(51), Precision::Fp16, false);
        QVERIFY(headroom.series().isEmpty());  // more of its tensors may come
        headroom.append({output(50, "head", 40'000)});
        headroom.update(steps(52), Precision::Fp16, false);
        QCOMPARE(headroom.series().steps(), std::vector<std::int64_t>{50});
        QCOMPARE(headroom.worstTensor(), std::string("head"));
        headroom.append({output(51, "head", 50'000)});
        headroom.update(steps(52), Precision::Fp16, true);  // it was the last one
        QCOMPARE(headroom.series().size(), std::size_t{2});
        QCOMPARE(headroom.series().column(Quantity::Headroom)[1], std::log2(65'504.0 / 50'000));
    }

    void infIsTheEndAndTheControlIsToldByFp16() {
        HeadroomSeries half, control;
        half.append({output(0, "gate.mul", 64'000, 3), output(0, "head", 65'000)});
        half.update(steps(2), Precision::Fp16, false);
        QCOMPARE(half.series().column(Quantity::Headroom)[0], 0.0);
        QCOMPARE(half.worstTensor(), std::string("gate.mul"));
        control.append({output(0, "gate.mul", 131'008, 0, "float32")});
        control.update(steps(2), Precision::No, false);
        QCOMPARE(control.series().column(Quantity::Headroom)[0], -1.0);  // past fp16's end by a bit
    }

    void anFp32IslandIsNotToldByFp16sEnd() {
        HeadroomSeries headroom;
        // The island's product is far past 65,504 and yet a hundred bits from fp32's end.
        headroom.append({output(0, "gate.mul", 1e6, 0, "float32"), output(0, "gate.down", 8'188), output(0, "head", 12)});
        headroom.append({output(1, "gate.mul", 1, 2, "float32"), output(1, "gate.down", 4'094)});  // an Inf of its own, marked elsewhere
        headroom.append({output(2, "gate.mul", 1e6, 0, "float32")});
        headroom.update(steps(4), Precision::Fp16, false);
        QCOMPARE(headroom.series().steps(), (std::vector<std::int64_t>{0, 1}));  // step 2 has no output in half
        QCOMPARE(headroom.series().column(Quantity::Headroom), (std::vector<double>{3, 4}));
        QCOMPARE(headroom.worstTensor(), std::string("gate.down"));
    }

    void everyRowIsMeasuredByItsOwnDtype() {
        HeadroomSeries headroom;
        // 32,752 is a bit below fp16's end; 1e30 in bf16 is further from its own.
        headroom.append({output(0, "wide", 1e30, 0, "bfloat16"), output(0, "narrow", 32'752)});
        headroom.update(steps(2), Precision::Fp16, false);
        QCOMPARE(headroom.series().column(Quantity::Headroom)[0], 1.0);
        QCOMPARE(headroom.worstTensor(), std::string("narrow"));
    }
};

}  // namespace mantissa::ui

QTEST_APPLESS_MAIN(mantissa::ui::HeadroomTest)
#include "test_headroom.moc"
