#include "ui/replay/replay_headline.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"

namespace mantissa::ui {

ReplayHeadline::ReplayHeadline(const Theme& theme, QWidget* parent)
    : QFrame(parent), m_theme(theme), m_sentence(new QLabel(this)), m_next(new QLabel(this)), m_evidence(new QLabel(this)),
      m_progressText(new QLabel(this)), m_progress(new QProgressBar(this)) {
    setProperty("card", true);
    setObjectName(QStringLiteral("replayHeadline"));
    for (QLabel* label : {m_sentence, m_next, m_evidence}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    QFont large = font();
    large.setPixelSize(19);
    large.setWeight(QFont::DemiBold);
    m_sentence->setFont(large);
    m_sentence->setObjectName(QStringLiteral("replaySentence"));
    m_next->setObjectName(QStringLiteral("replayNext"));
    m_evidence->setProperty("muted", true);
    m_progressText->setProperty("muted", true);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(160, 7);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    m_apply = addButton("applyBest");
    m_control = addButton("runControl");
    m_replay = addButton("replayStep");
    m_cancel = addButton("cancelReplay");
    m_whatIf = addButton("whatIf");
    m_bundle = addButton("saveBundle");
    m_copy = addButton("copyText");
    for (QWidget* part : std::initializer_list<QWidget*>{m_apply, m_control, m_progress, m_progressText, m_cancel, m_replay, m_whatIf, m_bundle, m_copy}) {
        row->addWidget(part);
    }
    row->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(18, 12, 18, 12);
    column->setSpacing(7);
    column->addWidget(m_sentence);
    column->addWidget(m_next);
    column->addWidget(m_evidence);
    column->addLayout(row);
    connect(m_apply, &QPushButton::clicked, this, &ReplayHeadline::applyRequested);
    connect(m_control, &QPushButton::clicked, this, &ReplayHeadline::controlRequested);
    connect(m_replay, &QPushButton::clicked, this, &ReplayHeadline::replayRequested);
    connect(m_cancel, &QPushButton::clicked, this, &ReplayHeadline::cancelRequested);
    connect(m_whatIf, &QPushButton::clicked, this, &ReplayHeadline::whatIfRequested);
    connect(m_bundle, &QPushButton::clicked, this, &ReplayHeadline::bundleRequested);
    connect(m_copy, &QPushButton::clicked, this, &ReplayHeadline::copyRequested);
    (new Retranslation(this))->bind([this] { retranslate(); });
}

QPushButton* ReplayHeadline::addButton(const char* name) {
    auto* button = new QPushButton(this);
    button->setObjectName(QLatin1String(name));
    return button;
}

void ReplayHeadline::retranslate() {
    m_control->setText(tr("Run the control now"));
    m_control->setToolTip(tr("Trains this plan once more in mode no, as a run of its own. If no goes bad too, precision isn't the cause."));
    m_whatIf->setText(tr("What if…"));
    m_whatIf->setToolTip(tr("The same step with a change of your own: mode, learning rate, loss scale, parts in fp32."));
    m_bundle->setText(tr("Save bundle…"));
    m_bundle->setToolTip(tr("Everything about this step as one .zip file, which `mantissa replay FILE.zip` takes on another machine."));
    m_copy->setText(tr("Copy as text"));
    m_progress->setAccessibleName(tr("Progress of the replay"));
    refresh();
}

void ReplayHeadline::setView(const ReplayView& view, const QString& problem, bool isOurs, bool isCancelling) {
    m_view = view;
    m_problem = problem;
    m_isOurs = isOurs;
    m_isCancelling = isCancelling;
    refresh();
}

QString ReplayHeadline::text() const { return m_sentence->text(); }

QString ReplayHeadline::nextText() const { return m_next->text(); }

void ReplayHeadline::makeMain(QPushButton* main) {
    setFocusProxy(main != nullptr ? main : m_whatIf);
    for (QPushButton* button : {m_apply, m_control, m_replay, m_whatIf}) {
        if (button->property("primary").toBool() != (button == main)) {
            button->setProperty("primary", button == main);
            style()->unpolish(button);  // the sheet chooses by the property
            style()->polish(button);
        }
    }
}

void ReplayHeadline::refresh() {
    const ReplayStage stage = m_view.stage;
    const bool isRunning = stage == ReplayStage::Running, isThere = stage != ReplayStage::Reading && stage != ReplayStage::Unreadable;
    const bool wasStartedHere = isRunning && m_isOurs && (m_replay->hasFocus() || m_whatIf->hasFocus());
    m_sentence->setText(stage == ReplayStage::Reading ? tr("Reading the step…") : m_view.headline);
    m_next->setText(m_problem.isEmpty() || isRunning ? m_view.next : m_problem);
    m_next->setVisible(!m_next->text().isEmpty());
    m_evidence->setText(m_view.evidence);
    m_evidence->setVisible(!m_view.evidence.isEmpty() && !m_view.hasGrid);  // the grid itself is the evidence, a line each
    m_apply->setText(m_view.apply);
    m_apply->setVisible(stage == ReplayStage::Cured);
    m_control->setVisible(stage == ReplayStage::NeedsControl);
    const bool isFirst = stage == ReplayStage::Untried || stage == ReplayStage::NeedsControl;
    m_cancel->setVisible(isRunning && m_isOurs);
    m_cancel->setEnabled(!m_isCancelling);
    if (wasStartedHere) {
        m_cancel->setFocus();  // the button that was pressed goes away
    }
    m_replay->setText(isFirst ? tr("Replay this step") : tr("Replay again"));
    m_replay->setVisible(isThere && !isRunning);
    m_whatIf->setVisible(isThere && !isRunning);
    m_bundle->setVisible(isThere);
    m_copy->setVisible(isThere);
    m_progress->setVisible(isRunning);
    m_progress->setRange(0, m_view.all);
    m_progress->setValue(m_view.done);
    m_progressText->setVisible(isRunning);
    m_progressText->setText(m_view.all == 0 ? tr("doing the step again…") : tr("%1 of %2 changes tried").arg(m_view.done).arg(m_view.all));
    m_cancel->setText(m_isCancelling ? tr("Stopping…") : tr("Cancel"));
    makeMain(stage == ReplayStage::Cured ? m_apply : (stage == ReplayStage::NeedsControl ? m_control : (stage == ReplayStage::Untried ? m_replay : nullptr)));
}

}  // namespace mantissa::ui
