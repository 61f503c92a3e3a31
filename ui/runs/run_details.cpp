#include "ui/runs/run_details.h"

#include <QGridLayout>
#include <QLabel>
#include <QToolButton>

#include "base/numbers.h"
#include "ui/bridge/theme.h"
#include "ui/runs/runs_model.h"

namespace mantissa::ui {
namespace {

constexpr int columns = 6;  // mode, state, steps, loss, saved, reason; then the buttons

}  // namespace

RunDetails::RunDetails(const Theme& theme, QWidget* parent)
    : QFrame(parent),
      m_theme(theme),
      m_title(new QLabel(this)),
      m_decision(new QLabel(this)),
      m_grid(new QGridLayout) {
    setObjectName(QStringLiteral("runDetails"));
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_decision->setWordWrap(true);
    m_decision->setTextFormat(Qt::PlainText);
    m_decision->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnStretch(columns - 1, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 9, 14, 9);
    column->setSpacing(6);
    column->addWidget(m_title);
    column->addWidget(m_decision);
    column->addLayout(m_grid);
    hide();
}

QLabel* RunDetails::cell(int row, int column) {
    QLayoutItem* item = m_grid->itemAtPosition(row, column);
    if (item != nullptr) {
        return static_cast<QLabel*>(item->widget());
    }
    auto* label = new QLabel(this);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(column == columns - 1);
    m_grid->addWidget(label, row, column, Qt::AlignVCenter);
    return label;
}

QString RunDetails::savedText(const RunOfEntry& run) {
    return run.checkpoints == 0 ? tr("nothing saved")
                                : tr("%n checkpoint(s), %1", nullptr, run.checkpoints)
                                      .arg(QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(run.checkpointBytes))));
}

void RunDetails::showButtons(int row, const RunOfEntry* run) {
    while (run != nullptr && static_cast<int>(m_buttons.size()) <= row) {
        auto* why = new QToolButton(this);
        auto* save = new QToolButton(this);
        auto* go = new QToolButton(this);
        m_buttons.push_back(std::make_unique<Buttons>(Buttons{why, save, go, {}, 0}));
        Buttons* buttons = m_buttons.back().get();
        const int place = static_cast<int>(m_buttons.size()) - 1;
        int column = columns;
        for (QToolButton* button : {why, save, go}) {
            button->setFocusPolicy(Qt::StrongFocus);
            m_grid->addWidget(button, place, column++, Qt::AlignVCenter);
        }
        connect(why, &QToolButton::clicked, this, [this, buttons] { Q_EMIT replayRequested(buttons->run, buttons->step); });
        connect(save, &QToolButton::clicked, this, [this, buttons] { Q_EMIT saveWeightsRequested(buttons->run); });
        connect(go, &QToolButton::clicked, this, [this, buttons] { Q_EMIT continueRequested(buttons->run); });
    }
    if (row >= static_cast<int>(m_buttons.size())) {
        return;
    }
    Buttons& buttons = *m_buttons[static_cast<size_t>(row)];
    for (QToolButton* button : {buttons.save, buttons.go}) {
        button->setVisible(run != nullptr);
    }
    buttons.why->setVisible(run != nullptr && run->incidentStep);
    if (run == nullptr) {
        return;
    }
    const QString mode = QLatin1String(to_string(run->mode));
    buttons.run = run->folder;
    buttons.step = run->incidentStep.value_or(0);
    buttons.why->setText(tr("Look at step %1…").arg(buttons.step));
    buttons.why->setAccessibleName(tr("Look at step %1 of %2").arg(buttons.step).arg(mode));
    buttons.why->setObjectName(QStringLiteral("why_%1").arg(mode));
    buttons.save->setText(tr("Save weights…"));
    buttons.save->setAccessibleName(tr("Save the weights of %1").arg(mode));
    buttons.save->setObjectName(QStringLiteral("saveWeights_%1").arg(mode));
    buttons.go->setText(tr("Continue…"));
    buttons.go->setAccessibleName(tr("Continue %1 from a checkpoint").arg(mode));
    buttons.go->setObjectName(QStringLiteral("continue_%1").arg(mode));
}

void RunDetails::show(const RunEntry* entry) {
    setVisible(entry != nullptr);
    if (entry == nullptr) {
        return;
    }
    QStringList title{QString::fromStdString(entry->name)};
    for (const std::string& part : {entry->model, entry->dataset}) {
        if (!part.empty()) {
            title << QString::fromStdString(part);
        }
    }
    m_title->setText(title.join(QStringLiteral(" · ")));
    const std::string& sentence = entry->problem.empty() ? entry->decisionText : entry->problem;
    m_decision->setText(QString::fromStdString(sentence));
    m_decision->setVisible(!sentence.empty());
    const int known = m_grid->rowCount();
    for (int row = 0; row < std::max(known, static_cast<int>(entry->runs.size())); ++row) {
        const bool shown = row < static_cast<int>(entry->runs.size());
        for (int column = 0; column < columns; ++column) {
            if (shown || row < known) {
                cell(row, column)->setVisible(shown);
            }
        }
        if (shown) {
            const RunOfEntry& run = entry->runs[static_cast<size_t>(row)];
            cell(row, 0)->setText(QLatin1String(to_string(run.mode)));
            cell(row, 0)->setStyleSheet(
                QStringLiteral("font-weight:600;color:%1").arg(m_theme.modeColour(run.mode).name()));
            cell(row, 1)->setText(RunsModel::stateText(run.state));
            cell(row, 2)->setText(run.plannedSteps > 0
                                      ? tr("step %1 of %2").arg(run.steps).arg(run.plannedSteps)
                                      : tr("step %1").arg(run.steps));
            cell(row, 3)->setText(tr("loss %1").arg(RunsModel::lossText(run.finalLoss)));
            cell(row, 4)->setText(savedText(run));
            cell(row, 4)->setProperty("muted", true);
            cell(row, 5)->setText(QString::fromStdString(run.stateReason));
            cell(row, 5)->setProperty("muted", true);
        }
        showButtons(row, shown ? &entry->runs[static_cast<size_t>(row)] : nullptr);
    }
}

}  // namespace mantissa::ui
