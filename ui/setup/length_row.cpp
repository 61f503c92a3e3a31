#include "ui/setup/length_row.h"

#include <QLocale>
#include <QRadioButton>
#include <cmath>

#include "ui/bridge/retranslation.h"
#include "ui/setup/model_trial.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {

LengthRow::LengthRow(PlanEditor& editor, const ModelTrial& trial, QWidget* parent)
    : QuestionRow(4, "lengthRow", parent),
      m_editor(editor),
      m_trial(trial),
      m_short(new QRadioButton(this)),
      m_full(new QRadioButton(this)) {
    m_short->setObjectName(QStringLiteral("length.short"));
    m_full->setObjectName(QStringLiteral("length.full"));
    addControl(m_short);
    addControl(m_full);
    connect(m_short, &QRadioButton::clicked, this, [this] { m_editor.setLength(RunLength::Short); });
    connect(m_full, &QRadioButton::clicked, this, [this] { m_editor.setLength(RunLength::Full); });
    connect(&editor, &PlanEditor::changed, this, &LengthRow::refresh);
    connect(&trial, &ModelTrial::changed, this, &LengthRow::refresh);
    texts().bind([this] {
        setQuestion(tr("How long?"));
        refresh();
    });
}

QString LengthRow::about(std::optional<double> milliseconds) {
    if (!milliseconds) {
        return {};
    }
    const double seconds = *milliseconds / 1000;
    if (seconds < 90) {
        return tr("about %1 s").arg(std::max(1.0, std::ceil(seconds)), 0, 'f', 0);
    }
    if (seconds < 5400) {
        return tr("about %1 min").arg(seconds / 60, 0, 'f', 0);
    }
    return tr("about %1 h").arg(QLocale().toString(seconds / 3600, 'f', 1));
}

void LengthRow::refresh() {
    const QLocale locale;
    const auto perStep = m_trial.stepMsOfAllModes();
    const auto time = [&](std::int64_t steps) {
        const QString words =
            about(perStep ? std::optional(*perStep * static_cast<double>(steps)) : std::nullopt);
        return words.isEmpty() ? QString() : QStringLiteral(", ") + words;
    };
    const std::int64_t shortSteps = m_editor.shortSteps(), fullSteps = m_editor.fullSteps();
    m_short->setText(tr("%1 steps").arg(locale.toString(shortSteps)) + time(shortSteps));
    const bool same = shortSteps == fullSteps;
    m_full->setText(tr("full plan: %1 steps").arg(locale.toString(fullSteps)) + time(fullSteps));
    m_full->setVisible(!same || m_editor.length() == RunLength::Full);
    m_short->setChecked(m_editor.length() == RunLength::Short);
    m_full->setChecked(m_editor.length() == RunLength::Full);
    QString problem = m_editor.error("training.epochs");
    problem = problem.isEmpty() ? m_editor.error("training.max_steps") : problem;
    QString answer = tr("a short comparison first, the full plan when it looks right");
    if (same) {
        answer = tr("the whole plan is that short");
    } else if (fullSteps < shortSteps) {
        answer = tr("the plan itself is shorter than the usual comparison");
    }
    setAnswer(answer, problem);
}

}  // namespace mantissa::ui
