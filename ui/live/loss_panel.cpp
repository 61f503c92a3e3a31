#include "ui/live/loss_panel.h"

#include <QAction>
#include <QActionGroup>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>

namespace mantissa::ui {
namespace {

constexpr int smoothingChoices[] = {0, 10, 30, 100};

}  // namespace

LossPanel::LossPanel(Theme& theme, StepRange& range, RunController& controller, QWidget* parent)
    : ChartCard(theme, range, tr("Loss"), parent), m_controller(controller) {
    m_options.quantity = Quantity::Loss;
    m_options.scale = ValueScale::Log10;
    chart().setHasLedger(true);
    chart().setObjectName(QStringLiteral("lossChart"));
    chart().setEmptyText(tr("The first steps appear here."));
    m_scale = addMenuButton("lossScale");
    buildViews();
    m_x = addMenuButton("lossX");
    m_smoothing = addMenuButton("lossSmoothing");
    buildMenus();
    buildControls();
    setOptions(m_options);
    updateTexts();
    connect(&m_controller, &RunController::changed, this, &LossPanel::updateControls);
    updateControls();
}

QToolButton* LossPanel::addMenuButton(const char* name) {
    auto* button = new QToolButton(this);
    button->setObjectName(QLatin1String(name));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setMenu(new QMenu(button));
    addControl(button);
    return button;
}

template <typename Value>
void LossPanel::addChoice(QMenu* menu, QActionGroup* group, const QString& text, Value value, Value PlotOptions::*field) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setActionGroup(group);
    action->setData(static_cast<int>(value));
    connect(action, &QAction::triggered, this, [this, value, field] {
        PlotOptions options = m_options;
        options.*field = value;
        choose(options);
    });
}

void LossPanel::buildMenus() {
    auto* scales = new QActionGroup(m_scale);
    addChoice(m_scale->menu(), scales, tr("Logarithmic"), ValueScale::Log10, &PlotOptions::scale);
    addChoice(m_scale->menu(), scales, tr("Linear"), ValueScale::Linear, &PlotOptions::scale);
    auto* kinds = new QActionGroup(m_x);
    addChoice(m_x->menu(), kinds, tr("Step (every attempt)"), XKind::Step, &PlotOptions::x);
    addChoice(m_x->menu(), kinds, tr("Applied step (without skips)"), XKind::AppliedStep, &PlotOptions::x);
    addChoice(m_x->menu(), kinds, tr("Time"), XKind::Time, &PlotOptions::x);
    auto* smoothing = new QActionGroup(m_smoothing);
    for (const int steps : smoothingChoices) {
        addChoice(m_smoothing->menu(), smoothing,
                  steps == 0 ? tr("Off") : tr("Over %1 steps (the raw line stays)").arg(steps), steps,
                  &PlotOptions::smoothingSteps);
    }
}

void LossPanel::buildViews() {
    auto* group = new QButtonGroup(this);
    const QString texts[] = {tr("absolute"), tr("Δ to no"), tr("ratio")};
    const QString tips[] = {tr("The loss itself"), tr("Difference to the loss of the control at the same step"),
                            tr("Loss divided by the loss of the control at the same step")};
    for (int i = 0; i < 3; ++i) {
        m_views[i] = new QToolButton(this);
        m_views[i]->setText(texts[i]);
        m_views[i]->setToolTip(tips[i]);
        m_views[i]->setCheckable(true);
        m_views[i]->setFocusPolicy(Qt::StrongFocus);
        m_views[i]->setObjectName(QStringLiteral("lossView%1").arg(i));
        group->addButton(m_views[i], i);
        addControl(m_views[i]);
    }
    group->setExclusive(true);
    connect(group, &QButtonGroup::idClicked, this, [this](int id) {
        PlotOptions options = m_options;
        options.view = static_cast<ValueView>(id);
        choose(options);
    });
}

void LossPanel::buildControls() {
    m_pause = new QPushButton(this);
    m_one = new QPushButton(tr("→ 1"), this);
    m_checkpoint = new QPushButton(tr("Checkpoint"), this);
    m_stop = new QPushButton(tr("■ Stop"), this);
    m_continue = new QPushButton(tr("Continue…"), this);
    m_checkpoint->setAccessibleName(tr("Save a checkpoint of all runs now"));
    m_checkpoint->setObjectName(QStringLiteral("checkpointRuns"));
    m_continue->setAccessibleName(tr("Continue from checkpoint…"));
    m_continue->setToolTip(tr("A run of its own that goes on from a saved checkpoint, also in another precision"));
    m_continue->setObjectName(QStringLiteral("continueRun"));
    m_one->setAccessibleName(tr("One step"));
    m_stop->setAccessibleName(tr("Stop all runs"));
    m_pause->setObjectName(QStringLiteral("pauseRuns"));
    m_one->setObjectName(QStringLiteral("oneStep"));
    m_stop->setObjectName(QStringLiteral("stopRuns"));
    for (QPushButton* button : {m_pause, m_one, m_checkpoint, m_stop, m_continue}) {
        addRightControl(button);
        button->hide();
    }
    connect(m_pause, &QPushButton::clicked, &m_controller, &RunController::pauseOrResume);
    connect(m_one, &QPushButton::clicked, &m_controller, &RunController::stepOnce);
    connect(m_checkpoint, &QPushButton::clicked, this, &LossPanel::checkpointRequested);
    connect(m_continue, &QPushButton::clicked, this, &LossPanel::continueRequested);
    connect(m_stop, &QPushButton::clicked, this, [this] { m_controller.isStopping() ? m_controller.abort() : m_controller.stop(); });
}

void LossPanel::choose(PlotOptions options) {
    const bool isNewX = options.x != m_options.x;
    m_options = options;
    updateTexts();
    if (isNewX) {
        Q_EMIT xKindChanged(m_options.x);
    }
    setOptions(m_options);
    Q_EMIT lossOptionsChanged();
}

void LossPanel::setLossOptions(const PlotOptions& options) {
    if (options != m_options) {
        choose(options);
    }
}

void LossPanel::updateTexts() {
    const bool isLog = effectiveScale(m_options) == ValueScale::Log10;
    m_scale->setText((isLog ? tr("log") : tr("linear")) + QStringLiteral(" ▾"));
    m_scale->setEnabled(m_options.view != ValueView::DifferenceToControl);
    m_scale->setAccessibleName(tr("Scale of the loss axis"));
    const QString kinds[] = {tr("x: step"), tr("x: applied step"), tr("x: time")};
    m_x->setText(kinds[static_cast<int>(m_options.x)] + QStringLiteral(" ▾"));
    m_x->setAccessibleName(tr("Unit of the x axis"));
    m_smoothing->setText((m_options.smoothingSteps == 0 ? tr("smoothing off")
                                                        : tr("smoothing %1").arg(m_options.smoothingSteps)) +
                         QStringLiteral(" ▾"));
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_views[static_cast<int>(m_options.view)]->setChecked(true);
    const std::pair<QToolButton*, int> values[] = {{m_scale, static_cast<int>(m_options.scale)},
                                                   {m_x, static_cast<int>(m_options.x)},
                                                   {m_smoothing, m_options.smoothingSteps}};
    for (const auto& [button, value] : values) {
        for (QAction* action : button->menu()->actions()) {
            action->setChecked(action->data().toInt() == value);
        }
    }
}

void LossPanel::setIsLive(bool isLive) {
    m_isLive = isLive;
    updateControls();
}

void LossPanel::setHasControl(bool hasControl) {
    m_views[1]->setEnabled(hasControl);
    m_views[2]->setEnabled(hasControl);
    if (!hasControl && m_options.view != ValueView::Absolute) {
        PlotOptions options = m_options;
        options.view = ValueView::Absolute;
        choose(options);
    }
}

void LossPanel::updateControls() {
    const bool isPaused = m_controller.isPaused();
    m_pause->setText(isPaused ? tr("▶ Go on") : tr("❚❚ Pause"));
    m_pause->setAccessibleName(isPaused ? tr("Go on") : tr("Pause all runs"));
    m_continue->setVisible(!m_isLive);
    for (QPushButton* button : {m_pause, m_one, m_checkpoint, m_stop}) {
        button->setVisible(m_isLive);
        button->setEnabled(m_controller.isAvailable());
        button->setToolTip(m_controller.reason());
    }
    const bool isStopping = m_controller.isStopping();
    m_stop->setText(isStopping ? tr("✕ End now") : tr("■ Stop"));
    m_stop->setAccessibleName(isStopping ? tr("End all runs at once") : tr("Stop all runs"));
    if (m_controller.isAvailable()) {
        m_stop->setToolTip(isStopping ? tr("They finish their step and save. This kills them instead; what is recorded stays.")
                                      : tr("The runs finish their step, save a checkpoint and end."));
    }
}

}  // namespace mantissa::ui
