#include "ui/live/mode_strips.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>

#include "base/numbers.h"
#include "ui/charts/axis_ticks.h"
#include "ui/live/checks_panel.h"

namespace mantissa::ui {

struct ModeStrips::Strip {
    ModeFacts facts;
    QFrame* swatch;
    QLabel* name;
    QToolButton* effect;
    QLabel* badge;
    QProgressBar* progress;
    QLabel* state;
    QLabel* loss;
    QLabel* metric;
    QLabel* time;
    QLabel* memory;
    QToolButton* menu;
    QAction* replay;
    bool isNew = true;
};

namespace {

void setText(QLabel* label, const QString& text) {
    if (label->text() != text) {
        label->setText(text);
    }
}

QString bold(const QString& text, const QColor& colour) {
    return QStringLiteral("<b style=\"color:%1\">%2</b>").arg(colour.name(), text.toHtmlEscaped());
}

bool looksTheSame(const ModeFacts& a, const ModeFacts& b) {
    return a.progressText == b.progressText && a.done == b.done && a.loss == b.loss && a.metric == b.metric &&
           a.stepTime == b.stepTime && a.memory == b.memory && a.badge == b.badge && a.isOn == b.isOn &&
           a.isEffectKnown == b.isEffectKnown && a.tone == b.tone && a.planned == b.planned && a.reason == b.reason && a.hasRun == b.hasRun &&
           a.badStep == b.badStep;
}

}  // namespace

ModeStrips::ModeStrips(Theme& theme, QWidget* parent) : QFrame(parent), m_theme(theme), m_grid(new QGridLayout(this)) {
    setProperty("card", true);
    m_grid->setContentsMargins(12, 4, 12, 4);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(0);
    m_grid->setColumnStretch(4, 4);
    for (const int column : {6, 7, 8, 9}) {
        m_grid->setColumnStretch(column, 1);
    }
    connect(&m_theme, &Theme::changed, this, [this] {
        for (const auto& strip : m_strips) {
            paintStrip(*strip);
        }
    });
}

ModeStrips::~ModeStrips() = default;

void ModeStrips::setModes(const std::vector<Precision>& modes) {
    bool isSame = modes.size() == m_strips.size();
    for (std::size_t i = 0; isSame && i < modes.size(); ++i) {
        isSame = m_strips[i]->facts.mode == modes[i];
    }
    if (isSame) {
        return;
    }
    if (m_panel) {
        m_panel->close();
    }
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_strips.clear();
    for (std::size_t i = 0; i < modes.size(); ++i) {
        m_strips.push_back(makeStrip(modes[i], static_cast<int>(i)));
    }
}

std::unique_ptr<ModeStrips::Strip> ModeStrips::makeStrip(Precision mode, int row) {
    auto strip = std::make_unique<Strip>();
    strip->facts.mode = mode;
    strip->swatch = new QFrame(this);
    strip->swatch->setFixedSize(22, 3);
    strip->name = new QLabel(QStringLiteral("<b>%1</b>").arg(QString::fromLatin1(to_string(mode))), this);
    strip->effect = new QToolButton(this);
    strip->effect->setObjectName(QStringLiteral("checks_%1").arg(QString::fromLatin1(to_string(mode))));
    strip->badge = new QLabel(this);
    strip->badge->setProperty("badge", true);
    strip->badge->setAlignment(Qt::AlignCenter);
    strip->badge->setMinimumWidth(84);
    strip->progress = new QProgressBar(this);
    strip->progress->setTextVisible(false);
    strip->progress->setFixedHeight(7);
    strip->progress->setMinimumWidth(90);
    strip->progress->setAccessibleName(tr("Progress of %1").arg(QString::fromLatin1(to_string(mode))));
    for (QLabel** label : {&strip->state, &strip->loss, &strip->metric, &strip->time, &strip->memory}) {
        *label = new QLabel(this);
    }
    strip->state->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("■ stopped at 1000")));
    strip->menu = makeMenu(mode, static_cast<std::size_t>(row));
    strip->replay = strip->menu->menu()->actions().constFirst();
    QWidget* const cells[] = {strip->swatch, strip->name,   strip->effect, strip->badge,  strip->progress, strip->state,
                              strip->loss,   strip->metric, strip->time,   strip->memory, strip->menu};
    int column = 0;
    for (QWidget* cell : cells) {
        m_grid->addWidget(cell, row, column++, Qt::AlignVCenter);
    }
    strip->effect->setFocusPolicy(Qt::StrongFocus);
    connect(strip->effect, &QToolButton::clicked, this, [this, row] { openChecks(static_cast<std::size_t>(row)); });
    return strip;
}

/// What can be done with one mode's run.
QToolButton* ModeStrips::makeMenu(Precision mode, std::size_t row) {
    const QString name = QString::fromLatin1(to_string(mode));
    auto* button = new QToolButton(this);
    button->setObjectName(QStringLiteral("modeMenu_%1").arg(name));
    button->setText(QStringLiteral("⋯"));
    button->setProperty("quietMenu", true);
    button->setAccessibleName(tr("Actions of %1").arg(name));
    button->setToolTip(button->accessibleName());
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    auto* menu = new QMenu(button);
    menu->addAction(tr("Look at the bad step…"), this, [this, row] { Q_EMIT replayRequested(row); })->setVisible(false);
    menu->addAction(tr("Save weights…"), this, [this, row] { Q_EMIT saveWeightsRequested(row); });
    menu->addAction(tr("Continue from checkpoint…"), this, [this, row] { Q_EMIT continueRequested(row); });
    menu->addAction(tr("Open run folder"), this, [this, row] { Q_EMIT folderRequested(row); });
    button->setMenu(menu);
    return button;
}

void ModeStrips::setFacts(std::size_t row, const ModeFacts& facts) {
    Strip& strip = *m_strips.at(row);
    if (!strip.isNew && looksTheSame(strip.facts, facts)) {
        return;
    }
    strip.facts = facts;
    strip.isNew = false;
    paintStrip(strip);
}

void ModeStrips::paintStrip(Strip& strip) {
    const ModeFacts& facts = strip.facts;
    const ThemeColours& c = m_theme.colours();
    const QColor colour = m_theme.modeColour(facts.mode);
    const QColor bar = facts.lossIsBad || facts.tone == StripTone::Bad ? c.nonfinite : colour;
    strip.swatch->setStyleSheet(QStringLiteral("background:%1; border:none;").arg(colour.name()));
    const QString mode = QString::fromLatin1(to_string(facts.mode));
    setText(strip.name, bold(mode, facts.mode == Precision::No ? c.text : colour));
    const bool isControl = facts.mode == Precision::No;
    strip.effect->setText((!facts.isEffectKnown ? QStringLiteral("…")
                                                : (facts.isOn ? (isControl ? tr("fp32 ✓") : tr("on ✓")) : tr("not on ✗"))) +
                          QStringLiteral(" ▾"));
    strip.effect->setAccessibleName(tr("Four checks of %1").arg(mode));
    strip.effect->setToolTip(tr("Is %1 really on? Opens the four checks.").arg(mode));
    setText(strip.badge, facts.badge.isEmpty() ? QStringLiteral("…") : facts.badge);
    strip.badge->setToolTip(facts.badgeTip);
    strip.progress->setRange(0, std::max(facts.planned, 1));
    strip.progress->setValue(std::min(facts.done, std::max(facts.planned, 1)));
    const QString barStyle = QStringLiteral("QProgressBar{background:%1;border:none;border-radius:3px;}"
                                            "QProgressBar::chunk{background:%2;border-radius:3px;}")
                                 .arg(c.grid.name(), bar.name());
    if (strip.progress->styleSheet() != barStyle) {  // parsing a sheet 20 times a second is not free
        strip.progress->setStyleSheet(barStyle);
    }
    const QColor stateColour = facts.tone == StripTone::Bad ? c.error : facts.tone == StripTone::Stalled ? c.warning : c.muted;
    setText(strip.state, QStringLiteral("<span style=\"color:%1\">%2</span>")
                             .arg(stateColour.name(), facts.progressText.toHtmlEscaped()));
    strip.state->setToolTip(facts.reason);
    const QString loss = facts.loss ? valueText(*facts.loss, Quantity::Loss, ValueView::Absolute) : QStringLiteral("–");
    setText(strip.loss, tr("loss %1").arg(bold(loss, facts.lossIsBad ? c.nonfinite : c.text)));
    const QString metric = facts.metric.isEmpty() ? QStringLiteral("–") : facts.metric;
    setText(strip.metric, tr("validation %1").arg(bold(metric, c.text)));
    strip.metric->setToolTip(facts.metricName);
    setText(strip.time, facts.stepTime.isEmpty() ? QStringLiteral("–") : facts.stepTime);
    strip.time->setToolTip(facts.isEmulated ? tr("Median of a step. Emulated here: this says nothing about the mode's speed.")
                                            : tr("Median of the last 200 steps, without data and evaluation."));
    setText(strip.memory, facts.memory.isEmpty() ? QStringLiteral("–") : facts.memory);
    strip.menu->setEnabled(facts.hasRun);
    strip.replay->setVisible(facts.badStep.has_value());
    strip.replay->setText(facts.badStep ? tr("Look at step %1…").arg(facts.badStep->step) : QString());
    strip.memory->setToolTip(tr("Largest memory of tensors within a step, measured."));
}

void ModeStrips::openChecks(std::size_t row) {
    if (!m_answers) {
        return;
    }
    m_panel = new ChecksPanel(m_theme, this);  // deletes itself when it is closed
    m_panelRow = row;
    m_panel->setAnswer(m_answers(row));
    m_panel->openAt(m_strips.at(row)->effect);
}

void ModeStrips::refreshChecks() {
    if (m_panel && m_answers && m_panelRow < m_strips.size()) {
        m_panel->setAnswer(m_answers(m_panelRow));
    }
}

}  // namespace mantissa::ui
