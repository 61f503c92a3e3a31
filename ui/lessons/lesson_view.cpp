#include "ui/lessons/lesson_view.h"

#include <QButtonGroup>
#include <QCoreApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QRadioButton>
#include <QThreadPool>
#include <QVBoxLayout>

#include "lessons/player.h"
#include "ui/bridge/theme.h"
#include "ui/charts/run_chart.h"
#include "ui/lessons/bit_inspector.h"
#include "ui/lessons/outcome_view.h"

namespace mantissa::ui {
namespace {

constexpr int paces[] = {0, 2, 10, 50};  // steps a second; 0 = as fast as it goes

QLabel* wrappedLabel(QWidget* parent, const char* name) {
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setWordWrap(true);
    return label;
}

}  // namespace

LessonView::LessonView(Theme& theme, const LessonWords& words, LessonRunner& runner, std::filesystem::path runs, QWidget* parent)
    : QWidget(parent), m_words(words), m_runner(runner), m_runs(std::move(runs)) {
    setObjectName(QStringLiteral("lessonView"));
    build(theme);
    connect(&m_runner, &LessonRunner::changed, this, [this] {
        setChartRuns();
        updateControls();
    });
    connect(&m_runner, &LessonRunner::advanced, this, &LessonView::refreshChart);
    connect(&m_runner, &LessonRunner::finished, this, &LessonView::finish);
    connect(&m_runner, &LessonRunner::failed, this, [this](const QString& reason) {
        m_problem = m_words.course("page.failed", {{"reason", reason.toStdString()}});
        updateControls();
    });
}

void LessonView::build(Theme& theme) {
    m_title = wrappedLabel(this, "lessonTitle");
    m_title->setProperty("role", "title");
    m_question = wrappedLabel(this, "lessonQuestion");
    m_look = wrappedLabel(this, "lessonLook");
    m_look->setProperty("muted", true);
    m_answers = new QVBoxLayout;
    m_answers->setSpacing(8);
    m_group = new QButtonGroup(this);
    connect(m_group, &QButtonGroup::idToggled, this, &LessonView::updateControls);
    m_chart = new RunChart(theme, m_range, this);
    m_chart->setObjectName(QStringLiteral("lessonChart"));
    m_chart->setHasLedger(true);
    m_chart->setMinimumHeight(210);
    PlotOptions options;
    options.scale = ValueScale::Log10;
    m_chart->setOptions(options);
    m_inspector = new BitInspector(theme, m_words, this);
    m_outcome = new OutcomeView(theme, m_words, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 14, 10);
    column->setSpacing(11);
    column->addWidget(m_title);
    column->addWidget(m_question);
    column->addLayout(m_answers);
    column->addWidget(buildControls());
    column->addWidget(m_look);
    column->addWidget(m_inspector);
    column->addWidget(m_chart);
    column->addWidget(m_outcome);
    column->addStretch(1);
}

QWidget* LessonView::buildControls() {
    auto* bar = new QWidget(this);
    m_run = new QPushButton(bar);
    m_run->setProperty("primary", true);
    m_recorded = new QPushButton(bar);
    m_pause = new QPushButton(bar);
    m_one = new QPushButton(bar);
    m_stop = new QPushButton(bar);
    m_save = new QPushButton(bar);
    m_pace = new QComboBox(bar);
    m_runChoice = new QComboBox(bar);
    m_paceLabel = new QLabel(bar);
    m_paceLabel->setBuddy(m_pace);
    m_status = wrappedLabel(bar, "lessonStatus");
    m_status->setProperty("muted", true);
    const std::pair<QWidget*, const char*> names[] = {{m_run, "lessonRun"}, {m_recorded, "lessonRecorded"}, {m_pause, "lessonPause"}, {m_one, "lessonStep"},
                                                      {m_stop, "lessonStop"}, {m_pace, "lessonPace"}, {m_runChoice, "lessonRunChoice"}, {m_save, "lessonSave"}};
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_run, m_recorded, m_paceLabel, m_pace, m_pause, m_one, m_stop, m_runChoice, m_save}) {
        row->addWidget(widget);
    }
    row->addStretch(1);
    for (const auto& [widget, name] : names) {
        widget->setObjectName(QLatin1String(name));
    }
    auto* column = new QVBoxLayout(bar);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(row);
    column->addWidget(m_status);
    connect(m_run, &QPushButton::clicked, this, [this] { m_isLocked ? unlock() : lockAndRun(); });
    connect(m_recorded, &QPushButton::clicked, this, &LessonView::showRecorded);
    connect(m_pause, &QPushButton::clicked, &m_runner, &LessonRunner::pauseOrResume);
    connect(m_one, &QPushButton::clicked, &m_runner, &LessonRunner::stepOnce);
    connect(m_stop, &QPushButton::clicked, &m_runner, &LessonRunner::stop);
    connect(m_save, &QPushButton::clicked, this, &LessonView::savePlayer);
    connect(m_pace, &QComboBox::activated, this, [this](int index) { m_runner.setPace(paces[index]); });
    connect(m_runChoice, &QComboBox::activated, this, &LessonView::showRun);
    return bar;
}

std::string LessonView::chosen() const {
    const int id = m_group->checkedId();
    return id < 0 ? std::string() : m_lesson.answers[static_cast<std::size_t>(id)];
}

void LessonView::setLesson(const Lesson& lesson) {
    if (m_runner.isRunning()) {
        return;  // the lesson that runs stays in sight
    }
    m_lesson = lesson;
    m_isLocked = false;
    m_prediction.clear();
    m_problem.clear();
    m_evidence.reset();
    m_outcome->clear();
    m_runner.forget();
    m_chart->setRuns({});
    if (m_lesson.runs.empty()) {
        m_inspector->setSuggestions(m_lesson.numbers);
    }
    buildAnswers();
    retranslate();
}

void LessonView::buildAnswers() {
    for (QAbstractButton* old : m_group->buttons()) {
        m_group->removeButton(old);
        delete old;
    }
    for (std::size_t i = 0; i < m_lesson.answers.size(); ++i) {
        auto* button = new QRadioButton(this);
        button->setObjectName(QStringLiteral("answer%1").arg(i + 1));
        m_group->addButton(button, static_cast<int>(i));
        m_answers->addWidget(button);
    }
}

void LessonView::lockAndRun() {
    m_prediction = chosen();
    if (m_prediction.empty()) {
        return;
    }
    m_isLocked = true;
    m_problem.clear();
    if (m_lesson.runs.empty()) {
        m_outcome->show(m_lesson, m_prediction, std::nullopt);
        Q_EMIT taken(m_lesson.id);
    } else {
        m_runner.start(m_lesson, m_prediction);
    }
    updateControls();
}

void LessonView::take(int answer) {
    if (QAbstractButton* button = m_group->button(answer - 1); button != nullptr && !m_isLocked) {
        button->setChecked(true);
        lockAndRun();
    }
}

void LessonView::unlock() {
    const Lesson lesson = m_lesson;
    setLesson(lesson);
}

/// The newest recording of this lesson with all of its runs.
void LessonView::showRecorded() {
    for (const LessonSession& session : list_lesson_sessions(m_runs)) {
        if (session.lesson != m_lesson.id || session.jobs.size() != m_lesson.runs.size()) {
            continue;
        }
        m_isLocked = true;
        m_prediction = session.prediction;
        m_runner.show(session, m_lesson, m_lesson.runs.front().id);
        finish();
        return;
    }
}

void LessonView::showRun(int index) {
    if (const auto session = m_runner.session(); session && !m_runner.isRunning()) {
        m_runner.show(*session, m_lesson, m_lesson.runs[static_cast<std::size_t>(index)].id);
    }
}

/// Reading all rows takes a moment: not in the window's thread.
void LessonView::finish() {
    const QPointer<LessonView> self(this);
    QThreadPool::globalInstance()->start([self, session = *m_runner.session(), id = m_lesson.id] {
        auto evidence = std::make_shared<Result<LessonEvidence>>(load_lesson_evidence(session));
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, evidence, id] {
            if (self == nullptr || self->m_lesson.id != id || !self->m_isLocked) {
                return;
            }
            if (*evidence) {
                self->m_evidence = std::move(**evidence);
                self->evaluate();
                Q_EMIT self->taken(id);
            } else {
                self->m_problem = QString::fromStdString(describe(evidence->error()));
            }
            self->updateControls();
        });
    });
}

void LessonView::evaluate() {
    if (!m_evidence || m_words.catalogue() == nullptr) {
        return;
    }
    auto outcome = evaluate_lesson(m_lesson, *m_evidence, *m_words.catalogue());
    if (outcome) {
        m_outcome->show(m_lesson, m_prediction, std::move(*outcome));
    } else {
        m_problem = QString::fromStdString(describe(outcome.error()));
    }
}

/// The dialog doesn't block, and reading and writing are not for the window's thread.
void LessonView::savePlayer() {
    if (!m_runner.session()) {
        return;
    }
    auto* dialog = new QFileDialog(this, m_words.course("page.export"), QString(), m_words.course("page.player_filter"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("html"));
    dialog->selectFile(QString::fromStdString(m_lesson.id) + QStringLiteral(".html"));
    connect(dialog, &QFileDialog::fileSelected, this, &LessonView::writePlayer);
    dialog->open();
}

void LessonView::writePlayer(const QString& file) {
    const QPointer<LessonView> self(this);
    QThreadPool::globalInstance()->start([self, file, folder = m_runner.session()->folder, language = m_words.language()] {
        const auto written = write_player(folder, language, file.toStdString());
        const QString problem = written ? QString() : QString::fromStdString(describe(written.error()));
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, file, problem] {
            if (self != nullptr) {
                Q_EMIT self->message(problem.isEmpty() ? self->m_words.course("page.saved", {{"file", file.toStdString()}}) : problem);
            }
        });
    });
}

void LessonView::setChartRuns() {
    std::vector<ChartRun> runs;
    if (const ComparisonFollower* follower = m_runner.follower(); follower != nullptr) {
        for (const auto& run : follower->runs()) {
            runs.push_back({run->mode(), &run->series(), &run->evaluations(), &run->state(), false, nullptr});
        }
    }
    m_chart->setRuns(std::move(runs));
    refreshChart();
}

void LessonView::refreshChart() {
    std::int64_t planned = 0;
    if (const ComparisonFollower* follower = m_runner.follower(); follower != nullptr) {
        for (const auto& run : follower->runs()) {
            planned = std::max(planned, run->summary() ? run->summary()->planned_steps : 0);
        }
    }
    fitRange(m_range, m_chart->runs(), XKind::Step, planned);
    m_chart->refresh();
}

void LessonView::updateControls() {
    const bool isRunning = m_runner.isRunning(), trains = !m_lesson.runs.empty(), isShown = trains && m_runner.follower() != nullptr;
    m_run->setText(m_words.course(m_isLocked ? "page.again" : trains ? "page.run" : "page.answer_shown"));
    m_run->setEnabled(!isRunning && (m_isLocked || !chosen().empty()));
    for (QAbstractButton* answer : m_group->buttons()) {
        answer->setEnabled(!m_isLocked);
    }
    m_inspector->setVisible(!trains && m_isLocked);  // it would give the answer away
    m_chart->setVisible(isShown || isRunning);
    m_outcome->setVisible(m_isLocked && !isRunning);
    m_recorded->setVisible(trains && !m_isLocked);
    m_pace->setVisible(trains && (!m_isLocked || isRunning));
    m_paceLabel->setVisible(m_pace->isVisibleTo(this));
    m_runChoice->setVisible(isShown && !isRunning && m_lesson.runs.size() > 1);
    m_save->setVisible(trains && m_evidence.has_value() && !isRunning);
    for (QPushButton* button : {m_pause, m_one, m_stop}) {
        button->setVisible(isRunning);
        button->setEnabled(m_runner.controller().isAvailable());
    }
    m_pause->setText(m_words.course(m_runner.isPaused() ? "page.go_on" : "page.pause"));
    QString status = m_isLocked ? QString() : m_words.course("page.choose");
    if (const LessonRun* run = m_runner.currentRun(); run != nullptr) {
        const auto at = run - m_runner.lesson().runs.data() + 1;
        const std::string name = m_lesson.runs.size() > 1 ? m_words.of(m_lesson, "runs." + run->id).toStdString() : m_words.of(m_lesson, "title").toStdString();
        status = m_words.course("page.locked") + QStringLiteral(" ") +
                 m_words.course("page.running", {{"at", std::to_string(at)}, {"count", std::to_string(m_lesson.runs.size())}, {"run", name}});
    }
    m_status->setText(m_problem.isEmpty() ? status : m_problem);
    m_status->setVisible(!m_status->text().isEmpty());
}

void LessonView::retranslate() {
    m_title->setText(m_words.course("lesson", {{"number", std::to_string(m_lesson.number)}, {"title", m_words.of(m_lesson, "title").toStdString()}}));
    m_question->setText(m_words.of(m_lesson, "question"));
    m_look->setText(m_words.course("look") + QStringLiteral(": ") + m_words.of(m_lesson, "look"));
    for (std::size_t i = 0; i < m_lesson.answers.size(); ++i) {
        m_group->button(static_cast<int>(i))->setText(QStringLiteral("&%1  %2").arg(i + 1).arg(m_words.of(m_lesson, "answers." + m_lesson.answers[i])));
    }
    m_recorded->setText(m_words.course("page.recorded"));
    m_one->setText(m_words.course("page.one_step"));
    m_one->setAccessibleName(m_words.course("page.one_step_name"));
    m_stop->setText(m_words.course("page.stop"));
    m_save->setText(m_words.course("page.export"));
    m_paceLabel->setText(m_words.course("page.pace"));
    m_pace->setAccessibleName(m_words.course("page.pace"));
    const int pace = std::max(0, m_pace->currentIndex()), shown = std::max(0, m_runChoice->currentIndex());
    m_pace->clear();
    for (const int steps : paces) {
        m_pace->addItem(steps == 0 ? m_words.course("page.pace_free") : m_words.course("page.pace_steps", {{"count", std::to_string(steps)}}));
    }
    m_pace->setCurrentIndex(pace);
    m_runChoice->clear();
    for (const LessonRun& run : m_lesson.runs) {
        if (m_lesson.runs.size() > 1) {
            m_runChoice->addItem(m_words.of(m_lesson, "runs." + run.id));
        }
    }
    m_runChoice->setCurrentIndex(shown);
    m_chart->setEmptyText(m_words.course("page.no_steps"));
    m_inspector->retranslate();
    if (m_isLocked && m_lesson.runs.empty()) {
        m_outcome->show(m_lesson, m_prediction, std::nullopt);
    }
    evaluate();
    updateControls();
}

}  // namespace mantissa::ui
