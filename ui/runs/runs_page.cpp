#include "ui/runs/runs_page.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QThreadPool>
#include <QUrl>
#include <QVBoxLayout>

#include "judge/html_report.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/runs/run_details.h"
#include "ui/runs/runs_filter.h"

namespace mantissa::ui {
namespace {

using namespace std::chrono_literals;
constexpr auto undoGrace = 20s;

QString languageCode() {
    return QLocale().language() == QLocale::Chinese ? QStringLiteral("zh") : QStringLiteral("en");
}

QString shown(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

}  // namespace

RunsPage::RunsPage(const Theme& theme, std::filesystem::path runs, QWidget* parent)
    : QWidget(parent), m_runs(std::move(runs)), m_filter(new RunsFilter(theme, this)), m_trash(m_runs) {
    setObjectName(QStringLiteral("RunsPage"));
    m_filter->setSourceModel(&m_model);
    buildTable();
    m_empty = new QLabel(this);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setProperty("muted", true);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_table);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 10, 12, 10);
    layout->setSpacing(8);
    layout->addWidget(buildTools());
    layout->addWidget(m_stack, 1);
    m_details = new RunDetails(theme, this);
    layout->addWidget(m_details);
    connect(m_details, &RunDetails::saveWeightsRequested, this, &RunsPage::saveWeightsRequested);
    connect(m_details, &RunDetails::continueRequested, this, &RunsPage::continueRequested);
    connect(m_details, &RunDetails::replayRequested, this, &RunsPage::replayRequested);
    layout->addWidget(buildUndoBar());
    auto* texts = new Retranslation(this);
    texts->bind([this] {
        m_empty->setText(
            tr("No runs yet below %1.\nStart a comparison on the page Set up.").arg(shown(m_runs)));
    });

    connect(&m_scanner, &RunScanner::found, this, &RunsPage::takeEntries);
    connect(&m_scanner, &RunScanner::failed, this, &RunsPage::message);
    connect(&theme, &Theme::changed, m_table->viewport(), qOverload<>(&QWidget::update));
    connect(&theme, &Theme::changed, this, &RunsPage::updateButtons);
    m_soon.setSingleShot(true);
    m_soon.setInterval(200ms);
    connect(&m_soon, &QTimer::timeout, this, &RunsPage::refresh);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_soon, qOverload<>(&QTimer::start));
    m_regular.setInterval(2s);  // states change inside run folders, which the watcher doesn't see
    connect(&m_regular, &QTimer::timeout, this, &RunsPage::refresh);
    m_regular.start();
    m_grace.setSingleShot(true);
    m_grace.setInterval(undoGrace);
    connect(&m_grace, &QTimer::timeout, this, [this] {
        m_trash.empty();
        m_undoBar->hide();
    });
    setFocusProxy(m_table);
    updateButtons();
    refresh();
}

RunsPage::~RunsPage() {
    m_trash.empty();
}

void RunsPage::buildTable() {
    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("runsTable"));
    m_table->setModel(m_filter);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(30);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RunsModel::Started, Qt::DescendingOrder);
    m_table->setColumnWidth(RunsModel::Started, 150);
    m_table->setColumnWidth(RunsModel::Name, 140);
    m_table->setColumnWidth(RunsModel::Modes, 120);
    m_table->setColumnWidth(RunsModel::State, 130);
    m_table->setColumnWidth(RunsModel::Steps, 110);
    m_table->setColumnWidth(RunsModel::FinalLoss, 175);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->installEventFilter(this);
    connect(m_table, &QTableView::doubleClicked, this, &RunsPage::openMarked);
    connect(m_table, &QTableView::customContextMenuRequested, this, &RunsPage::showContextMenu);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &RunsPage::updateButtons);
}

QWidget* RunsPage::buildTools() {
    auto* tools = new QWidget(this);
    auto* row = new QHBoxLayout(tools);
    row->setContentsMargins(0, 0, 0, 0);
    m_words = new QLineEdit(tools);
    m_words->setObjectName(QStringLiteral("runsFilter"));
    m_words->setClearButtonEnabled(true);
    m_open = new QPushButton(tools);
    m_report = new QPushButton(tools);
    m_folder = new QPushButton(tools);
    m_delete = new QPushButton(tools);
    m_open->setProperty("primary", true);
    row->addWidget(m_words, 1);
    for (QPushButton* button : {m_report, m_folder, m_delete, m_open}) {
        row->addWidget(button);
    }
    connect(m_words, &QLineEdit::textChanged, m_filter, &RunsFilter::setWords);
    connect(m_open, &QPushButton::clicked, this, &RunsPage::openMarked);
    connect(m_report, &QPushButton::clicked, this, &RunsPage::writeReportOfMarked);
    connect(m_folder, &QPushButton::clicked, this, &RunsPage::openFolderOfMarked);
    connect(m_delete, &QPushButton::clicked, this, &RunsPage::askAndRemoveMarked);
    auto* texts = new Retranslation(tools);
    texts->bind([this] {
        m_words->setPlaceholderText(tr("Filter: name, mode, state, data, decision"));
        m_words->setAccessibleName(tr("Filter the runs"));
        m_table->setAccessibleName(tr("Runs"));
        m_open->setText(tr("Open"));
        m_report->setText(tr("Write report"));
        m_folder->setText(tr("Open folder"));
        m_delete->setText(tr("Delete…"));
    });
    return tools;
}

QWidget* RunsPage::buildUndoBar() {
    auto* bar = new QFrame(this);
    bar->setProperty("card", true);
    bar->setObjectName(QStringLiteral("undoBar"));
    m_undoText = new QLabel(bar);
    auto* undo = new QPushButton(bar);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(12, 6, 8, 6);
    row->addWidget(m_undoText, 1);
    row->addWidget(undo);
    connect(undo, &QPushButton::clicked, this, &RunsPage::undoRemove);
    auto* texts = new Retranslation(bar);
    texts->bind([this, undo] {
        undo->setText(tr("Undo"));
        m_undoText->setText(tr("%1 was deleted.").arg(QString::fromStdString(m_removedName)));
    });
    bar->hide();
    m_undoBar = bar;
    return bar;
}

void RunsPage::refresh() {
    m_scanner.look(m_runs, languageCode());
}

void RunsPage::takeEntries(const std::vector<RunEntry>& entries) {
    const RunEntry* before = marked();
    const std::filesystem::path chosen = before == nullptr ? std::filesystem::path() : before->folder;
    m_model.setEntries(entries);
    m_stack->setCurrentWidget(entries.empty() ? static_cast<QWidget*>(m_empty) : m_table);
    if (!m_table->selectionModel()->hasSelection()) {
        choose(chosen);
    }
    watch();
    updateButtons();
    int workers = 0;
    for (const RunEntry& entry : entries) {
        for (const RunOfEntry& run : entry.runs) {
            workers += entry.isAlive && !is_end_state(run.state) ? 1 : 0;
        }
    }
    Q_EMIT workersChanged(workers);
}

void RunsPage::watch() {
    for (const auto& folder : {m_runs, m_runs / "comparisons"}) {
        std::error_code failure;
        if (std::filesystem::is_directory(folder, failure) &&
            !m_watcher.directories().contains(shown(folder))) {
            m_watcher.addPath(shown(folder));
        }
    }
}

/// A run that has just started moves in the list, and a list in a new order has lost its chosen row.
void RunsPage::choose(const std::filesystem::path& folder) {
    int row = 0;
    for (int i = 0; i < m_filter->rowCount(); ++i) {
        const RunEntry* entry = m_model.entry(m_filter->mapToSource(m_filter->index(i, 0)));
        row = entry != nullptr && entry->folder == folder ? i : row;
    }
    m_table->selectRow(row);
}

const RunEntry* RunsPage::marked() const {
    const QModelIndex index = m_table->currentIndex();
    return index.isValid() ? m_model.entry(m_filter->mapToSource(index)) : nullptr;
}

void RunsPage::updateButtons() {
    const RunEntry* entry = marked();
    m_details->show(entry);
    for (QPushButton* button : {m_open, m_report, m_folder}) {
        button->setEnabled(entry != nullptr);
    }
    m_delete->setEnabled(entry != nullptr && !entry->isAlive);
    m_delete->setToolTip(entry != nullptr && entry->isAlive ? tr("It is still running: stop it first.")
                                                            : QString());
    Q_EMIT choiceChanged();
}

std::vector<RunOfEntry> RunsPage::chosenRuns() const {
    const RunEntry* entry = isVisible() ? marked() : nullptr;
    return entry == nullptr ? std::vector<RunOfEntry>() : entry->runs;
}

void RunsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    Q_EMIT choiceChanged();
}

void RunsPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    Q_EMIT choiceChanged();
}

void RunsPage::openMarked() {
    if (const RunEntry* entry = marked()) {
        Q_EMIT openRequested(entry->folder, entry->isComparison);
    }
}

void RunsPage::askAndRemoveMarked() {
    const RunEntry* entry = marked();
    if (entry == nullptr || entry->isAlive) {
        return;
    }
    const RunEntry copy = *entry;  // the model may be refreshed while the question is open
    auto* question =
        new QMessageBox(QMessageBox::Question, tr("Delete"),
                        tr("Delete %1 with its recording?").arg(QString::fromStdString(copy.name)),
                        QMessageBox::Cancel, this);
    question->setInformativeText(tr("You can undo it for 20 seconds. %n run(s) belong to it.", nullptr,
                                    static_cast<int>(copy.runs.size())));
    QPushButton* yes = question->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    question->setDefaultButton(QMessageBox::Cancel);
    question->setAttribute(Qt::WA_DeleteOnClose);
    connect(yes, &QPushButton::clicked, this, [this, copy] { removeEntry(copy); });
    question->open();
}

void RunsPage::removeEntry(const RunEntry& entry) {
    const auto removed = m_trash.take(entry);
    if (!removed) {
        Q_EMIT message(QString::fromStdString(describe(removed.error())));
        return;
    }
    m_removedName = entry.name;
    m_undoText->setText(tr("%1 was deleted.").arg(QString::fromStdString(m_removedName)));
    m_undoBar->show();
    m_grace.start();
    refresh();
}

void RunsPage::undoRemove() {
    m_grace.stop();
    if (const auto back = m_trash.restore(); !back) {
        Q_EMIT message(QString::fromStdString(describe(back.error())));
    }
    m_undoBar->hide();
    refresh();
}

void RunsPage::openFolderOfMarked() {
    if (const RunEntry* entry = marked()) {
        QDesktopServices::openUrl(QUrl::fromLocalFile(shown(entry->folder)));
    }
}

void RunsPage::writeReportOfMarked() {
    const RunEntry* entry = marked();
    if (entry == nullptr) {
        return;
    }
    Q_EMIT message(tr("Writing the report…"));
    const QPointer<RunsPage> page(this);
    QThreadPool::globalInstance()->start(
        [page, folder = entry->folder, language = languageCode().toStdString()] {
            const auto written = write_html_report(folder, language);
            QMetaObject::invokeMethod(QCoreApplication::instance(), [page, written] {
                if (page == nullptr) {
                    return;
                }
                if (!written) {
                    Q_EMIT page->message(QString::fromStdString(describe(written.error())));
                    return;
                }
                Q_EMIT page->message(tr("Report: %1").arg(shown(written.value())));
                QDesktopServices::openUrl(QUrl::fromLocalFile(shown(written.value())));
            });
        });
}

void RunsPage::showContextMenu(const QPoint& at) {
    if (marked() == nullptr) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (QPushButton* button : {m_open, m_report, m_folder, m_delete}) {
        QAction* action = menu->addAction(button->text(), button, &QPushButton::click);
        action->setEnabled(button->isEnabled());
    }
    menu->addSeparator();
    for (const RunOfEntry& run : marked()->runs) {
        const QString mode = QLatin1String(to_string(run.mode));
        if (run.incidentStep) {
            menu->addAction(tr("Look at step %1 of %2…").arg(*run.incidentStep).arg(mode), this,
                            [this, folder = run.folder, step = *run.incidentStep] { Q_EMIT replayRequested(folder, step); });
        }
        menu->addAction(tr("Save weights of %1…").arg(mode), this, [this, folder = run.folder] { Q_EMIT saveWeightsRequested(folder); });
        menu->addAction(tr("Continue %1 from checkpoint…").arg(mode), this, [this, folder = run.folder] { Q_EMIT continueRequested(folder); });
    }
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

bool RunsPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            openMarked();
            return true;
        }
        if (key == Qt::Key_Delete) {
            askAndRemoveMarked();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void RunsPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) {
        m_model.retranslate();
        updateButtons();
        refresh();  // decisions are sentences of the catalogue
    }
    QWidget::changeEvent(event);
}

}  // namespace mantissa::ui
