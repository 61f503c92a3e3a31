// Sentences of the page Replay from births and variants, value by value.
#include <QTest>

#include "tests/ui/fixture_replay.h"
#include "ui/replay/birth_words.h"
#include "ui/replay/grown_values.h"
#include "ui/replay/replay_view.h"
#include "ui/replay/variant_words.h"

namespace mantissa::ui {

class ReplayWordsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void numbersKeepWhatTheySay_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("product") << 71'148.0 << "71,148";
        QTest::newRow("limit") << 65'504.0 << "65,504";
        QTest::newRow("small") << 231.4 << "231";
        QTest::newRow("share") << 0.0421 << "0.0421";
        QTest::newRow("softmax") << 2.5e-44 << "2.5e-44";
        QTest::newRow("huge") << 3.39e38 << "3.39e38";
        QTest::newRow("inf") << std::numeric_limits<double>::infinity() << "+Inf";
        QTest::newRow("zero") << 0.0 << "0";
    }
    void numbersKeepWhatTheySay() {
        QFETCH(double, value);
        QFETCH(QString, text);
        QCOMPARE(numberText(value), text);
    }

    void productPastTheLimitIsToldWithItsFactors() {
        QCOMPARE(birthSentence(fixture::gateBirth(), 65'504), QStringLiteral("gate.mul made +Inf from finite inputs: 308 × 231 = 71,148 > 65,504"));
    }

    void sumPastTheLimitClaimsNoProduct() {
        BirthReport birth = fixture::gateBirth();
        birth.producer.op = birth.producer.kernel = "linear";
        birth.producer.module = "head";
        QCOMPARE(birthSentence(birth, 65'504), QStringLiteral("head.linear made +Inf from finite inputs (largest 308 · 231): fp16 ends at 65,504"));
        birth.producer.op = birth.producer.kernel = "mul";
        birth.producer.operands[1].largest = 2;  // 308 × 2 isn't past the limit: the figures would contradict the sentence
        QVERIFY(!birthSentence(birth, 65'504).contains(QStringLiteral("×")));
    }

    void otherBirths() {
        BirthReport birth = fixture::gateBirth();
        birth.code = "log_of_zero";
        birth.producer.phase = "loss";
        birth.producer.module = "loss";
        birth.producer.op = birth.producer.kernel = "log";
        birth.producer.operands.resize(1);
        birth.producer.operands[0].positive += birth.producer.operands[0].zero - 4;
        birth.producer.operands[0].zero = 4;
        birth.producer.result.pos_inf = 0;
        birth.producer.result.neg_inf = 4;
        QCOMPARE(birthSentence(birth, 3.4e38), QStringLiteral("loss.log made −Inf: 4 of its 8,192 inputs are exactly 0"));
        birth.producer.phase = "backward";
        birth.producer.operands[0].pos_inf = 1;
        birth.producer.result.nan = 2;
        QCOMPARE(birthSentence(birth, 3.4e38), QStringLiteral("The derivative of loss.log turned +Inf into NaN"));
    }

    void leafIsNamedWithItsCount() {
        BirthReport birth;
        birth.tensor = "features";
        birth.sample = 11;
        birth.producer.phase = "data";
        birth.producer.result.nan = 3;
        birth.producer.result.positive = 2045;
        QCOMPARE(birthSentence(birth, 0), QStringLiteral("The batch brought NaN: 3 of 2,048 values of features, the first in sample 11"));
    }

    void anUpdateOfAnEarlierStepIsNamedWithIt() {
        BirthReport birth;
        birth.producer.phase = "update";
        birth.producer.module = "hidden";
        birth.producer.op = "addcdiv";
        birth.producer.result.nan = 3;
        QCOMPARE(birthSentence(birth, 0), QStringLiteral("In the update, hidden.addcdiv made NaN"));
        birth.step = 7;
        QCOMPARE(birthSentence(birth, 0), QStringLiteral("In the update of step 7, hidden.addcdiv made NaN"));
        ReplaySnapshot snapshot;
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.replay->birth->step = 7;
        const GrownValues values = grownValues(snapshot, 65);
        QCOMPARE(values.birthStep, std::int64_t{7});
        QCOMPARE(values.largest.back().step, std::int64_t{7});
    }

    void everyVerdictOfACellHasAWord() {
        const ReplayReport report = fixture::gateReplay("/runs/one");
        const auto cells = [&](std::size_t i) {
            return QStringList{changeText(report.variants[i], report.mode, report.step), thisStepText(report.variants[i]).text, laterText(report.variants[i]).text};
        };
        QCOMPARE(cells(0), (QStringList{"fp16 as it was", "✗ Inf", "–"}));
        QCOMPARE(cells(1), (QStringList{"no", "✓ finite", "✓ held"}));
        QCOMPARE(cells(2), (QStringList{"fp16, loss scale 1", "✗ same Inf", "–"}));
        QCOMPARE(cells(4), (QStringList{"fp16, gate.mul in fp32", "✓ finite", "✓ held"}));
        QCOMPARE(cells(5), (QStringList{"fp16, the batch before", "✓ finite", "✗ bad at +2"}));
        QVERIFY(cells(6)[0].startsWith(QStringLiteral("half the learning rate, from 15 step")));
        QCOMPARE(thisStepText(report.variants[2]).tone, CellTone::Bad);
        QCOMPARE(laterText(report.variants[4]).tone, CellTone::Good);
        VariantReport open = report.variants[5];
        open.state = "waiting";
        QCOMPARE(thisStepText(open).text, QStringLiteral("…"));
        QCOMPARE(laterText(open).text, QStringLiteral("…"));
        QCOMPARE(thisStepText(open, true).text, QStringLiteral("not tried"));  // the replay was stopped before its turn
        QVERIFY(thisStepText(open, true).details.contains(QStringLiteral("stopped")));
        QCOMPARE(laterText(open, true).text, QStringLiteral("–"));
        QCOMPARE(thisStepText(report.variants[1], true).text, QStringLiteral("✓ finite"));
        VariantReport out = report.variants[4];
        out.state = "left_out";
        out.reason = "no producer was found";
        QCOMPARE(thisStepText(out).text, QStringLiteral("left out"));
        QCOMPARE(thisStepText(out).details, QStringLiteral("no producer was found"));
        out.state = "done";
        out.this_step_finite = false;
        out.value = "skipped";
        QCOMPARE(thisStepText(out).text, QStringLiteral("✗ skipped"));
    }

    void stagesFollowWhatIsThere() {
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        QCOMPARE(replayView(snapshot, 65, false, "en").stage, ReplayStage::NeedsControl);
        snapshot.control = "/runs/no";
        QCOMPARE(replayView(snapshot, 65, false, "en").stage, ReplayStage::Untried);
        QCOMPARE(replayView(snapshot, 65, true, "en").stage, ReplayStage::Running);
        snapshot.replay = fixture::gateReplay("/runs/one", 3);
        const ReplayView running = replayView(snapshot, 65, false, "en");
        QCOMPARE(running.stage, ReplayStage::Running);
        QCOMPARE(running.done, 3);
        QCOMPARE(running.all, 7);
        snapshot.replay->state = "stopped";
        const ReplayView stopped = replayView(snapshot, 65, false, "en");
        QCOMPARE(stopped.stage, ReplayStage::Uncured);
        QCOMPARE(stopped.next, QStringLiteral("The last replay was stopped: 3 of 7 changes were tried. Replay again to try them all."));
        QCOMPARE(replayView(snapshot, 65, true, "en").stage, ReplayStage::Running);
        snapshot.replay->best = "no";  // one that held
        const ReplayView held = replayView(snapshot, 65, false, "en");
        QCOMPARE(held.stage, ReplayStage::Cured);
        QVERIFY2(held.next.startsWith(stopped.next) && held.next.endsWith("It stays finite with no."), qPrintable(held.next));
        Verdict open;
        open.code = "unknown";
        open.severity = "error";
        snapshot.replay->verdict = open;  // of two changes: what was not tried fits no cause yet
        QVERIFY(replayView(snapshot, 65, false, "en").headline.startsWith("gate.mul made +Inf from finite inputs"));
        QCOMPARE(replayView(snapshot, 65, false, "en").next, held.next);
        snapshot.replay->verdict.reset();
        snapshot.replay->reproduced.reset();
        snapshot.replay->variants.clear();
        snapshot.replay->best.clear();
        const ReplayView early = replayView(snapshot, 65, false, "en");
        QCOMPARE(early.stage, ReplayStage::Untried);
        QCOMPARE(early.next, QStringLiteral("The last replay was stopped before it had tried a change. Replay the step again."));
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.states = {{"/runs/one/incidents/step_65/state_50", 50, 1'200'000}, {"/runs/one/incidents/step_65/state_65", 65, 1'200'000}};
        const ReplayView cured = replayView(snapshot, 65, false, "en");
        QCOMPARE(cured.stage, ReplayStage::Cured);
        QCOMPARE(cured.apply, QStringLiteral("Apply best and continue from step 65"));
        QCOMPARE(cured.states, QStringLiteral("Kept states: after 50 and 65 steps · 2.40 MB"));
        QCOMPARE(cured.place, QStringLiteral("fp16 · step 65 · forward"));
        QCOMPARE(cured.reproduced.text, QStringLiteral("reproduced: same bits ✓"));
        snapshot.replay->best = "half_rate";  // begins at step 50
        QCOMPARE(replayView(snapshot, 65, false, "en").apply, QStringLiteral("Apply best and continue from step 50"));
        snapshot.replay->best.clear();
        QCOMPARE(replayView(snapshot, 65, false, "en").stage, ReplayStage::Uncured);
        snapshot.replay->reproduced = Reproduced::No;
        snapshot.replay->reproduced_reason = "the CPU's instruction set is AVX2 here, AVX512 there";
        const ReplayView lost = replayView(snapshot, 65, false, "en");
        QCOMPARE(lost.stage, ReplayStage::NotReproduced);
        QVERIFY(!lost.hasGrid);
        QCOMPARE(lost.headline, QStringLiteral("Not reproduced: the CPU's instruction set is AVX2 here, AVX512 there."));
    }

    void controlIsTheReplaysElseTheRecordings() {
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        QCOMPARE(replayView(snapshot, 65, false, "en").control.text, QStringLiteral("no control run"));
        snapshot.control = "/runs/no";
        QCOMPARE(replayView(snapshot, 65, false, "en").control.text, QStringLiteral("control not there yet"));
        snapshot.isControlFinite = true;
        QCOMPARE(replayView(snapshot, 65, false, "en").control.text, QStringLiteral("control finite ✓"));
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.replay->control_finite = false;
        QCOMPARE(replayView(snapshot, 65, false, "en").control.text, QStringLiteral("control not finite ✗"));
    }

    void verdictOfTheBirthGivesTheNextStep() {
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.replay->verdict = Verdict{"a_code_of_tomorrow", "error", "fp16", {}, {"fp16: +Inf at step 65"}, "Something new happened. Do this."};
        const ReplayView view = replayView(snapshot, 65, false, "en");
        QCOMPARE(view.headline, birthSentence(fixture::gateBirth(), 65'504));
        QCOMPARE(view.next, QStringLiteral("Something new happened. Do this."));  // as it was written
        QCOMPARE(view.evidence, QStringLiteral("fp16: +Inf at step 65"));
    }
};

}  // namespace mantissa::ui

QTEST_APPLESS_MAIN(mantissa::ui::ReplayWordsTest)
#include "test_replay_words.moc"
