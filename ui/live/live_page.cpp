#include "ui/live/live_page.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "judge/texts.h"
#include "ui/live/empty_live.h"
#include "ui/live/fold_row.h"
#include "ui/live/headline_bar.h"
#include "ui/live/live_charts.h"
#include "ui/live/loss_panel.h"
#include "ui/live/mode_facts.h"
#include "ui/live/mode_strips.h"

namespace mantissa::ui {
namespace {

constexpr int lossMinimumHeight = 210;

const TrialReport* trialOf(const ComparisonFollower& follower, Precision mode) {
    if (!follower.record()) {
        return nullptr;
    }
    const auto& trials = follower.record()->trials;
    const auto found = std::find_if(trials.begin(), trials.end(), [mode](const TrialReport& t) { return t.mode == mode; });
    return found == trials.end() ? nullptr : &*found;
}

}  // namespace

LivePage::LivePage(Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme), m_range(new StepRange(this)) {
    build();
    connectParts();
}

LivePage::~LivePage() { showNothing(); }

void LivePage::connectParts() {
    connect(m_loss, &LossPanel::xKindChanged, this, &LivePage::setXKind);
    connect(m_loss, &ChartCard::failed, this, &LivePage::failed);
    connect(m_loss, &LossPanel::checkpointRequested, this, &LivePage::checkpointRequested);
    connect(m_loss, &LossPanel::continueRequested, this, [this] { Q_EMIT continueRequested({}); });
    connect(&m_controller, &RunController::refused, this, &LivePage::failed);
    connect(&m_controller, &RunController::changed, this, [this] {
        if (m_follower) {
            refreshHeadline();
        }
    });
    connect(m_strips, &ModeStrips::saveWeightsRequested, this, [this](std::size_t row) { Q_EMIT saveWeightsRequested(folderOf(row)); });
    connect(m_strips, &ModeStrips::continueRequested, this, [this](std::size_t row) { Q_EMIT continueRequested(folderOf(row)); });
    connect(m_strips, &ModeStrips::folderRequested, this, [this](std::size_t row) {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(folderOf(row).string())));
    });
    connect(m_strips, &ModeStrips::replayRequested, this, [this](std::size_t row) {
        if (const auto bad = row < m_bad.size() ? m_bad[row] : std::nullopt) {
            Q_EMIT replayRequested(bad->run, bad->step);
        }
    });
    connect(m_headlineBar, &HeadlineBar::replayRequested, this, [this] {
        if (const auto bad = firstBadStep()) {
            Q_EMIT replayRequested(bad->run, bad->step);
        }
    });
    connect(&m_before, &RunsBefore::advanced, this, [this] {
        if (m_follower) {
            refresh();
        }
    });
    connect(&m_theme, &Theme::changed, this, [this] {
        if (m_follower) {
            refreshVerdicts();
            refreshAlarms();
        }
    });
}

std::filesystem::path LivePage::folderOf(std::size_t row) const {
    return row < m_follower->runs().size() ? m_follower->runs()[row]->folder() : std::filesystem::path();
}

std::vector<ShownRun> LivePage::shownRuns() const {
    std::vector<ShownRun> shown;
    for (std::size_t i = 0; m_follower && i < m_follower->runs().size(); ++i) {
        const RunFollower& run = *m_follower->runs()[i];
        shown.push_back({run.mode(), run.folder(), run.hasEnded()});
    }
    return shown;
}

/// One that stopped comes first: it is what a person asks about.
std::optional<BadStep> LivePage::firstBadStep() const {
    const auto isBad = [](const std::optional<BadStep>& one) { return one.has_value(); };
    const auto stopped = std::find_if(m_bad.begin(), m_bad.end(), [](const auto& one) { return one && one->hasStopped; });
    const auto first = stopped != m_bad.end() ? stopped : std::find_if(m_bad.begin(), m_bad.end(), isBad);
    return first == m_bad.end() ? std::nullopt : *first;
}

void LivePage::build() {
    auto* empty = new EmptyLive(this);
    connect(empty, &EmptyLive::sampleRequested, this, &LivePage::openSampleRequested);
    connect(empty, &EmptyLive::setUpRequested, this, &LivePage::setUpRequested);
    auto* content = new QWidget(this);
    content->setProperty("page", true);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 4);
    column->setSpacing(8);
    m_headlineBar = new HeadlineBar(m_theme, content);
    m_origin = new QLabel(content);
    m_origin->setObjectName(QStringLiteral("origin"));
    m_origin->setProperty("muted", true);
    m_origin->setWordWrap(true);
    m_origin->setTextFormat(Qt::PlainText);
    m_origin->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_origin->setContentsMargins(12, 0, 12, 0);
    m_origin->hide();
    m_strips = new ModeStrips(m_theme, content);
    m_strips->setAnswers([this](std::size_t row) { return answerOf(row); });
    m_loss = new LossPanel(m_theme, *m_range, m_controller, content);
    m_loss->setMinimumHeight(lossMinimumHeight);
    m_folds = new FoldRow(content);
    m_verdicts = new QLabel(content);
    m_alarmList = new QLabel(content);
    column->addWidget(m_headlineBar);
    column->addWidget(m_origin);
    column->addWidget(m_strips);
    column->addWidget(m_loss, 9);
    m_charts = new LiveCharts(m_theme, *m_range, content);
    connect(m_charts, &LiveCharts::failed, this, &LivePage::failed);
    column->addWidget(m_charts->smallRow(), 2);
    buildFolds();
    column->addWidget(m_folds);
    m_scroll = new QScrollArea(this);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(content);
    connect(m_folds, &FoldRow::opened, this, [this](QWidget* opened) {
        // Once the layout has given it its place.
        QTimer::singleShot(0, opened, [this, opened] { m_scroll->ensureWidgetVisible(opened); });
    });
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(empty);
    m_stack->addWidget(m_scroll);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
}

void LivePage::buildFolds() {
    m_charts->addFolds(*m_folds);
    for (QLabel* label : {m_verdicts, m_alarmList}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::RichText);
        label->setMargin(10);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_verdicts->setObjectName(QStringLiteral("verdicts"));
    m_verdicts->setAccessibleName(tr("Verdicts"));
    m_folds->addFold(tr("verdicts"), m_verdicts);
    m_alarmList->setObjectName(QStringLiteral("alarms"));
    m_alarmList->setAccessibleName(tr("Alarms"));
    m_folds->addFold(tr("alarms"), m_alarmList);
}

void LivePage::showFolder(const std::filesystem::path& folder) {
    showNothing();
    m_follower = std::make_unique<ComparisonFollower>(folder, m_language);
    connect(m_follower.get(), &ComparisonFollower::runsChanged, this, &LivePage::setRuns);
    connect(m_follower.get(), &ComparisonFollower::recordChanged, this, &LivePage::refreshRecord);
    connect(m_follower.get(), &ComparisonFollower::advanced, this, &LivePage::refresh);
    m_headline = {};
    m_title.clear();
    m_status.clear();
    m_controller.follow(folder);
    m_range->restart();
    m_stack->setCurrentWidget(m_scroll);
    setRuns();
    refreshRecord();
}

void LivePage::showNothing() {
    m_controller.leave();
    // The charts refer to the follower's columns: they let go first.
    m_runs.clear();
    m_origin->hide();
    m_loss->setRuns({});
    m_loss->setRepetitions({});
    m_charts->setRuns({}, nullptr);
    m_alarms.clear();
    m_before.clear();
    m_bad.clear();
    m_headlineBar->setQuestion({});
    m_follower.reset();
    m_stack->setCurrentIndex(0);
}

void LivePage::setLanguage(const std::string& language) {
    m_language = language;
    if (m_follower) {
        m_follower->setLanguage(language);
        refresh();
    }
}

LiveView LivePage::view() const {
    return {m_loss->lossOptions(), m_range->isZoomed() ? std::optional(m_range->visible()) : std::nullopt, m_range->isFollowing(),
            m_headlineBar->isExpanded(), m_folds->openFolds()};
}

void LivePage::setView(const LiveView& view) {
    m_loss->setLossOptions(view.loss);
    m_folds->setOpenFolds(view.openFolds);
    m_pendingView = view;
}

/// Charts know their whole, and the headline its grounds, only once the recording has been read.
void LivePage::restoreZoom() {
    const bool hasSteps = std::any_of(m_runs.begin(), m_runs.end(), [](const ChartRun& run) { return !run.series->isEmpty(); });
    if (!m_pendingView || !hasSteps) {
        return;
    }
    const LiveView view = *std::exchange(m_pendingView, std::nullopt);
    if (view.zoom) {
        m_range->zoomTo(*view.zoom);
    }
    m_range->setFollowing(view.isFollowing);
    m_headlineBar->setExpanded(view.isWhyOpen);
}

void LivePage::setRuns() {
    m_runs.clear();
    bool hasControl = false;
    (void)m_alarms.update(*m_follower, m_language);
    refreshAlarms();
    for (std::size_t i = 0; i < m_follower->runs().size(); ++i) {
        const auto& run = m_follower->runs()[i];
        m_runs.push_back({run->mode(), &run->series(), &run->evaluations(), &run->state(), false, m_alarms.notes(i)});
        hasControl = hasControl || run->mode() == Precision::No;
    }
    m_loss->setHasControl(hasControl && m_runs.size() > 1);
    m_before.appendTo(m_runs);
    m_loss->setRuns(m_runs);
    std::vector<const RunSeries*> repetitions;
    for (const auto& run : m_follower->repetitions()) {
        repetitions.push_back(&run->series());
    }
    m_loss->setRepetitions(repetitions);
    m_charts->setRuns(m_runs, m_follower.get());
}

void LivePage::setXKind(XKind kind) {
    m_xKind = kind;
    m_range->restart();
    m_charts->setXKind(kind);
    if (m_follower) {
        refresh();
    }
}

void LivePage::refresh() {
    std::int64_t planned = 0;
    const std::size_t own = m_follower->runs().size();
    const bool isNewBefore = m_before.update(*m_follower);
    const bool isNewAlarm = m_alarms.update(*m_follower, m_language);
    bool isSame = !isNewBefore && !isNewAlarm && m_runs.size() == own + m_before.count();
    for (std::size_t i = 0; i < m_follower->runs().size(); ++i) {
        const RunFollower& run = *m_follower->runs()[i];
        isSame = isSame && m_runs[i].mode == run.mode();  // a single run's mode is known once its recording is read
        planned = std::max(planned, run.summary() ? run.summary()->planned_steps : 0);
    }
    for (std::size_t i = 0; isSame && i < m_before.count(); ++i) {
        isSame = m_runs[own + i].mode == m_before.mode(i);
    }
    if (!isSame) {
        setRuns();
    }
    fitRange(*m_range, m_runs, m_xKind, planned);
    restoreZoom();
    m_loss->refresh();
    m_charts->refresh(*m_follower);
    refreshStrips();
    refreshHeadline();
}

void LivePage::refreshStrips() {
    std::vector<Precision> modes;
    if (m_follower->record()) {
        modes = m_follower->record()->modes;
    }
    for (std::size_t i = modes.size(); i < m_follower->runs().size(); ++i) {
        modes.push_back(m_follower->runs()[i]->mode());
    }
    m_strips->setModes(modes);
    const std::optional<Precision> onTrial = modeOnTrial(*m_follower);
    std::vector<std::optional<BadStep>> bad;
    for (std::size_t i = 0; i < modes.size(); ++i) {
        const RunFollower* run = i < m_follower->runs().size() ? m_follower->runs()[i].get() : nullptr;
        const TrialReport* trial = trialOf(*m_follower, modes[i]);
        ModeFacts facts = modeFacts(modes[i], trial, run, onTrial == modes[i]);
        facts.badStep = run ? badStepOf(*run) : std::nullopt;
        bad.push_back(facts.badStep);
        m_strips->setFacts(i, facts);
    }
    m_strips->refreshChecks();
    if (bad != m_bad) {
        m_bad = std::move(bad);
        const auto first = firstBadStep();
        m_headlineBar->setQuestion(first ? questionOf(*first) : QString());
        Q_EMIT badStepsChanged();
    }
}

PrecisionAnswer LivePage::answerOf(std::size_t row) {
    const RunFollower* run = row < m_follower->runs().size() ? m_follower->runs()[row].get() : nullptr;
    const Precision mode = run ? run->mode() : m_follower->record()->modes.at(row);
    const auto texts = text_catalogue(m_language);
    if (!texts) {
        Q_EMIT failed(QString::fromStdString(describe(texts.error())));
        return {};
    }
    return precision_answer(precisionEvidence(mode, trialOf(*m_follower, mode), run), **texts);
}

void LivePage::refreshRecord() {
    refreshVerdicts();
    refresh();
}

void LivePage::refreshVerdicts() {
    const auto& record = m_follower->record();
    const bool isOver = record && record->decision && m_follower->hasEnded();
    const std::vector<Verdict>& verdicts = m_follower->verdicts();
    m_headlineBar->setGrounds(isOver ? record->decision : std::nullopt, verdicts);
    QStringList lines;
    for (const Verdict& verdict : verdicts) {
        lines << QStringLiteral("<p>%1</p>").arg(verdictHtml(verdict, m_theme.colours()));
    }
    m_verdicts->setText(lines.isEmpty() ? tr("No verdict yet: verdicts are given when the runs have ended.") : lines.join(QString()));
    m_folds->renameFold(m_verdicts, tr("verdicts (%1)").arg(verdicts.size()));
    const FairnessNote note = fairnessOf(*m_follower, m_theme.colours());
    m_folds->setNote(note.html, note.details);
}

void LivePage::refreshAlarms() {
    const int count = m_alarms.count();
    m_alarmList->setText(count > 0 ? m_alarms.html(*m_follower, m_theme.colours()) : tr("No alarm has fired."));
    m_folds->renameFold(m_alarmList, tr("alarms (%1)").arg(count));
}

void LivePage::refreshHeadline() {
    const Headline headline = headlineOf(*m_follower, m_language);
    m_loss->setIsLive(!m_follower->hasEnded());
    QString origin = originOf(*m_follower, m_language);
    if (m_controller.isWatching() && !m_follower->hasEnded()) {
        origin += (origin.isEmpty() ? QString() : QStringLiteral(" ")) + m_controller.reason();
    }
    m_origin->setText(origin);
    m_origin->setVisible(!origin.isEmpty());
    m_headlineBar->setHeadline(headline.text, headline.severity);
    if (headline != m_headline) {
        m_headline = headline;
        Q_EMIT headlineChanged(headline.text, headline.severity);
    }
    const QString title = titleOf(*m_follower), status = statusOf(*m_follower);
    if (title != m_title) {
        m_title = title;
        m_subtitle = subtitleOf(*m_follower);
        Q_EMIT titleChanged(m_title, m_subtitle);
    }
    if (status != m_status) {
        m_status = status;
        Q_EMIT statusChanged(m_status);
    }
}

}  // namespace mantissa::ui
