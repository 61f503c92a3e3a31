#include "ui/replay/replay_page.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "base/numbers.h"
#include "plan/plan_file.h"
#include "ui/bridge/theme.h"
#include "ui/replay/evidence_panel.h"
#include "ui/replay/replay_delegate.h"
#include "ui/replay/replay_headline.h"
#include "ui/replay/what_if_dialog.h"
#include "ui/replay/what_if_model.h"

namespace mantissa::ui {
namespace {

/// The two halves below the headline: content with as little height as their tables need, and with all that is left. Without this a
/// wrapped label in them would make the scroll area ask for the height that everything would like, and 1024×600 would scroll.
class ReplayBody : public QWidget {
  public:
    using QWidget::QWidget;
    [[nodiscard]] bool hasHeightForWidth() const override { return false; }
    [[nodiscard]] QSize sizeHint() const override { return minimumSizeHint(); }
};

}  // namespace

ReplayPage::ReplayPage(const Theme& theme, QWidget* parent)
    : QWidget(parent), m_theme(theme), m_headline(new ReplayHeadline(theme, this)), m_body(new ReplayBody(this)), m_grid(new WhatIfModel(this)),
      m_evidence(new EvidencePanel(theme, m_body)) {
    setObjectName(QStringLiteral("ReplayPage"));
    auto* halves = new QHBoxLayout(m_body);
    halves->setContentsMargins(0, 0, 0, 0);
    halves->setSpacing(8);
    halves->addWidget(buildGrid(), 44);
    halves->addWidget(m_evidence, 56);
    // A scroll area, as on Live: the sentences wrap, and the stack of pages would give every page the height that they would like.
    auto* content = new QWidget(this);
    content->setProperty("page", true);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 10);
    column->setSpacing(8);
    column->addWidget(buildTop());
    column->addWidget(m_headline);
    column->addWidget(m_body, 1);
    column->addStretch(0);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(content);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    connectHeadline();
    connect(&theme, &Theme::changed, this, &ReplayPage::refresh);
    setFocusProxy(m_headline);
    retranslate();
}

ReplayPage::~ReplayPage() = default;

QWidget* ReplayPage::buildTop() {
    auto* top = new QWidget(this);
    auto* row = new QHBoxLayout(top);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(14);
    m_back = new QToolButton(top);
    m_back->setObjectName(QStringLiteral("replayBack"));
    m_back->setText(QStringLiteral("←"));
    m_back->setFocusPolicy(Qt::StrongFocus);
    row->addWidget(m_back);
    for (QLabel** label : {&m_place, &m_reproduced, &m_control, &m_effort}) {
        *label = new QLabel(top);
        (*label)->setTextFormat(Qt::PlainText);
    }
    m_place->setObjectName(QStringLiteral("replayPlace"));
    m_reproduced->setObjectName(QStringLiteral("replayReproduced"));
    m_control->setObjectName(QStringLiteral("replayControl"));
    for (QLabel* label : {m_place, m_reproduced, m_control}) {
        row->addWidget(label);
    }
    row->addStretch(1);
    row->addWidget(m_effort);
    connect(m_back, &QToolButton::clicked, this, &ReplayPage::backRequested);
    return top;
}

QFrame* ReplayPage::buildGrid() {
    m_gridCard = new QFrame(m_body);
    m_gridCard->setProperty("card", true);
    m_gridTitle = new QLabel(m_gridCard);
    m_gridTitle->setProperty("title", true);
    m_gridSubject = new QLabel(m_gridCard);
    m_gridSubject->setProperty("muted", true);
    m_table = new QTableView(m_gridCard);
    setUpReplayTable(*m_table, "whatIfGrid");
    m_table->setModel(m_grid);
    m_table->setItemDelegate(new ReplayDelegate(m_theme, m_table));
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(WhatIfModel::Change, QHeaderView::Stretch);
    header->setMinimumSectionSize(86);
    m_noGrid = new QLabel(m_gridCard);
    m_noGrid->setWordWrap(true);
    m_noGrid->setProperty("muted", true);
    m_noGrid->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_noGrid->setContentsMargins(8, 6, 8, 0);
    m_states = new QLabel(m_gridCard);
    m_states->setProperty("muted", true);
    m_states->setWordWrap(true);
    m_states->setObjectName(QStringLiteral("keptStates"));
    m_free = new QPushButton(m_gridCard);
    m_free->setObjectName(QStringLiteral("freeStates"));
    auto* head = new QHBoxLayout;
    head->setSpacing(12);
    head->addWidget(m_gridTitle);
    head->addWidget(m_gridSubject, 1);
    auto* foot = new QHBoxLayout;
    foot->addWidget(m_states, 1);
    foot->addWidget(m_free);
    auto* column = new QVBoxLayout(m_gridCard);
    column->setContentsMargins(10, 7, 10, 9);
    column->setSpacing(4);
    column->addLayout(head);
    column->addWidget(m_table, 1);
    column->addWidget(m_noGrid, 1);
    column->addLayout(foot);
    connect(m_free, &QPushButton::clicked, this, &ReplayPage::askToFreeStates);
    return m_gridCard;
}

void ReplayPage::connectHeadline() {
    connect(m_headline, &ReplayHeadline::replayRequested, this, &ReplayPage::replayNow);
    connect(m_headline, &ReplayHeadline::cancelRequested, this, [this] { m_follower->cancel(); });
    connect(m_headline, &ReplayHeadline::controlRequested, this, &ReplayPage::controlRequested);
    connect(m_headline, &ReplayHeadline::applyRequested, this, &ReplayPage::applyRequested);
    connect(m_headline, &ReplayHeadline::whatIfRequested, this, &ReplayPage::askWhatIf);
    connect(m_headline, &ReplayHeadline::bundleRequested, this, &ReplayPage::bundleRequested);
    connect(m_headline, &ReplayHeadline::copyRequested, this, &ReplayPage::copyAsText);
}

void ReplayPage::showStep(const std::filesystem::path& run, std::int64_t step) {
    if (m_follower && m_follower->run() == run && m_follower->step() == step) {
        return;  // a replay that is going goes on being ours
    }
    m_follower = std::make_unique<ReplayFollower>(run, step);
    connect(m_follower.get(), &ReplayFollower::changed, this, &ReplayPage::refresh);
    refresh();
}

void ReplayPage::setLanguage(const std::string& language) {
    m_language = language;
    refresh();
}

void ReplayPage::replayNow() {
    if (m_follower) {
        m_follower->start();
    }
}

void ReplayPage::askWhatIf() {
    if (!m_follower) {
        return;
    }
    const auto plan = read_sourced_plan(m_follower->snapshot().planJson, "plan.json");
    if (!plan) {
        Q_EMIT message(QString::fromStdString(describe(plan.error())));
        return;
    }
    const BirthReport* birth = birthOf(m_follower->snapshot());
    auto* dialog = new WhatIfDialog(plan->plan, m_follower->step(), birth == nullptr ? QString() : QString::fromStdString(birth->place()), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &WhatIfDialog::chosen, this, [this](const std::vector<std::string>& settings) {
        std::vector<std::string> options;
        for (const std::string& setting : settings) {
            options.insert(options.end(), {"--what-if", setting});
        }
        m_follower->start(options);
    });
    dialog->open();
}

void ReplayPage::copyAsText() {
    if (m_follower) {
        QGuiApplication::clipboard()->setText(replayAsText(m_view, m_follower->snapshot(), m_follower->step()));
        Q_EMIT message(tr("Copied as text."));
    }
}

void ReplayPage::askToFreeStates() {
    if (!m_follower || m_follower->snapshot().states.empty()) {
        return;
    }
    const std::vector<KeptState> states = m_follower->snapshot().states;
    std::int64_t bytes = 0;
    QStringList sizes;
    for (const KeptState& state : states) {
        bytes += state.bytes;
        sizes << tr("after %1 steps: %2").arg(state.step).arg(QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(state.bytes))));
    }
    const QString size = QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(bytes)));
    auto* question = new QMessageBox(QMessageBox::Question, tr("Free the kept states"), tr("Delete the kept states of this step and free %1?").arg(size),
                                     QMessageBox::Cancel, this);
    question->setObjectName(QStringLiteral("freeQuestion"));
    question->setInformativeText(
        sizes.join(QLatin1Char('\n')) + QStringLiteral("\n\n") +
        tr("A replay then runs forward from the seed, which takes longer, and a run can't go on from here. What was found stays."));
    QPushButton* yes = question->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    question->setDefaultButton(QMessageBox::Cancel);
    question->setAttribute(Qt::WA_DeleteOnClose);
    connect(yes, &QPushButton::clicked, this, [this, states, size] {
        std::error_code failure;
        for (const KeptState& state : states) {
            std::filesystem::remove_all(state.folder, failure);
        }
        Q_EMIT message(failure ? tr("The states could not be deleted: %1.").arg(QString::fromStdString(failure.message())) : tr("%1 freed.").arg(size));
    });
    question->open();
}

void ReplayPage::setTop(QLabel* label, const CellText& cell) {
    const ThemeColours& c = m_theme.colours();
    const QColor colours[] = {c.text, c.muted, c.good, c.error};
    label->setText(cell.text);
    label->setToolTip(cell.details);
    label->setVisible(!cell.text.isEmpty());
    const bool isLoud = cell.tone == CellTone::Good || cell.tone == CellTone::Bad;
    label->setStyleSheet(QStringLiteral("color:%1;font-weight:%2").arg(colours[static_cast<int>(cell.tone)].name(), isLoud ? QStringLiteral("600") : QStringLiteral("400")));
}

void ReplayPage::refresh() {
    if (!m_follower) {
        return;
    }
    const ReplaySnapshot& snapshot = m_follower->snapshot();
    m_view = m_follower->isReading() ? ReplayView{} : replayView(snapshot, m_follower->step(), m_follower->isReplaying(), m_language);
    setTop(m_place, {m_view.place, {}, CellTone::Quiet});
    setTop(m_reproduced, m_view.reproduced);
    setTop(m_control, m_view.control);
    setTop(m_effort, {m_view.effort, {}, CellTone::Quiet});
    m_headline->setView(m_view, m_follower->problem(), m_follower->isReplaying(), m_follower->isCancelling());
    m_body->setVisible(m_view.stage != ReplayStage::Reading && m_view.stage != ReplayStage::Unreadable && m_view.stage != ReplayStage::NotReproduced);
    m_grid->setReport(m_view.hasGrid ? &*snapshot.replay : nullptr);
    m_table->setVisible(m_view.hasGrid);
    m_noGrid->setVisible(!m_view.hasGrid);
    m_states->setText(m_view.states);
    m_free->setVisible(m_view.canFreeStates);
    m_evidence->setSnapshot(snapshot, m_follower->step());
    Q_EMIT titleChanged(m_view.title, m_view.subtitle);
}

void ReplayPage::retranslate() {
    m_back->setAccessibleName(tr("Back"));
    m_back->setToolTip(tr("Back (Alt+Left)"));
    m_gridTitle->setText(tr("What if"));
    m_gridSubject->setText(tr("same step, same batch"));
    m_table->setAccessibleName(tr("What if: a change per row"));
    m_noGrid->setText(tr("A replay does this step again as it was, then with one change at a time: in no, with loss scale 1, in bf16, with the producer in "
                         "fp32, with the batch before, with half the learning rate from earlier. Each also goes 20 steps on: only a change that holds counts."));
    m_free->setText(tr("Free…"));
    m_free->setToolTip(tr("Deletes the kept states of this step."));
    m_grid->retranslate();
    refresh();
}

void ReplayPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
    QWidget::changeEvent(event);
}

}  // namespace mantissa::ui
