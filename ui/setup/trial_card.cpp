#include "ui/setup/trial_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <cmath>

#include "base/numbers.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/setup/model_trial.h"

namespace mantissa::ui {
namespace {

constexpr double lowHeadroomBits = 4, noHeadroomBits = 1;

void colour(QLabel* label, const QColor& colour, bool bold = false) {
    label->setStyleSheet(QStringLiteral("color:%1;%2")
                             .arg(colour.name(), bold ? QStringLiteral("font-weight:600;") : QString()));
}

}  // namespace

TrialCard::TrialCard(const Theme& theme, const ModelTrial& trial, QWidget* parent)
    : QFrame(parent),
      m_theme(theme),
      m_trial(trial),
      m_title(new QLabel(this)),
      m_subtitle(new QLabel(this)),
      m_notes(new QLabel(this)) {
    setObjectName(QStringLiteral("trialCard"));
    setProperty("card", true);
    m_title->setProperty("title", true);
    m_subtitle->setProperty("muted", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 9, 16, 8);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(14);
    head->addWidget(m_title);
    head->addWidget(m_subtitle, 1);
    column->addLayout(head);
    m_grid = new QGridLayout;
    m_grid->setHorizontalSpacing(16);
    m_grid->setVerticalSpacing(0);
    column->addLayout(m_grid);
    m_notes->setObjectName(QStringLiteral("trialNotes"));
    m_notes->setWordWrap(true);
    m_notes->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_notes);
    for (int i = 0; i < 5; ++i) {
        auto* label = new QLabel(this);
        label->setProperty("muted", true);
        m_grid->addWidget(label, 0, i + 1);
        m_heads.push_back(label);
    }
    m_grid->setColumnMinimumWidth(0, 168);
    for (int i = 0; i < 6; ++i) {
        m_grid->setColumnStretch(i, i == 4 ? 5 : 1);
    }
    connect(&trial, &ModelTrial::changed, this, &TrialCard::fill);
    connect(&theme, &Theme::changed, this, &TrialCard::fill);
    auto* texts = new Retranslation(this);
    texts->bind([this] { retranslate(); });
}

void TrialCard::setNotice(const QString& notice) {
    m_notice = notice;
    retranslate();
}

void TrialCard::retranslate() {
    m_title->setText(tr("Trial of this model, one batch"));
    m_subtitle->setText(m_notice.isEmpty() ? tr("forward and backward in every mode, in a throw-away process")
                                           : m_notice);
    const QStringList heads{tr("runs"), tr("step"), tr("peak memory"), tr("in half precision"),
                            tr("headroom")};
    for (size_t i = 0; i < m_heads.size(); ++i) {
        m_heads[i]->setText(heads[static_cast<qsizetype>(i)]);
    }
    m_heads[4]->setToolTip(
        tr("Powers of two between the largest output of any module and the end of the format"));
    fill();
}

void TrialCard::makeLine() {
    const int row = static_cast<int>(m_lines.size()) * 2 + 1;
    Line line;
    line.rule = new QFrame(this);
    line.rule->setProperty("rule", true);
    line.rule->setFixedHeight(1);
    m_grid->addWidget(line.rule, row, 0, 1, 6);
    line.modeCell = new QWidget(this);
    line.mode = new QLabel(line.modeCell);
    line.badge = new QLabel(line.modeCell);
    line.badge->setProperty("badge", true);
    auto* cell = new QHBoxLayout(line.modeCell);
    cell->setContentsMargins(8, 0, 0, 0);
    cell->setSpacing(6);
    cell->addWidget(line.mode);
    cell->addWidget(line.badge, 0, Qt::AlignVCenter);
    cell->addStretch(1);
    m_grid->addWidget(line.modeCell, row + 1, 0);
    QLabel** cells[] = {&line.runs, &line.step, &line.memory, &line.half, &line.headroom};
    for (int i = 0; i < 5; ++i) {
        *cells[i] = new QLabel(this);
        (*cells[i])->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_grid->addWidget(*cells[i], row + 1, i + 1);
    }
    line.half->setWordWrap(true);
    m_grid->setRowMinimumHeight(row + 1, 28);
    m_lines.push_back(line);
}

void TrialCard::fill() {
    const auto count = m_trial.rows().size();
    while (m_lines.size() < count) {
        makeLine();
    }
    for (size_t i = 0; i < m_lines.size(); ++i) {
        const Line& line = m_lines[i];
        const bool shown = i < count;
        m_grid->setRowMinimumHeight(static_cast<int>(i) * 2 + 2, shown ? 28 : 0);
        line.rule->setVisible(shown);
        line.modeCell->setVisible(shown);
        for (QLabel* label : {line.runs, line.step, line.memory, line.half, line.headroom}) {
            label->setVisible(shown);
        }
        if (shown) {
            fillLine(line, i);
        }
    }
    fillNotes();
}

/// All modes have the same model, so one answer tells for all.
void TrialCard::fillNotes() {
    QStringList notes;
    for (const ModelTrial::Row& row : m_trial.rows()) {
        for (const std::string& note : row.report.notes) {
            const QString text = QStringLiteral("⚠ ") + QString::fromStdString(note);
            if (!notes.contains(text)) {
                notes << text;
            }
        }
    }
    m_notes->setText(notes.join(QLatin1Char('\n')));
    m_notes->setVisible(!notes.isEmpty());
    colour(m_notes, m_theme.colours().warning);
}

void TrialCard::fillLine(const Line& line, size_t index) {
    const ThemeColours& colours = m_theme.colours();
    const ModelTrial::Row row = m_trial.rows()[index];
    const TrialReport& report = row.report;
    line.mode->setText(QStringLiteral("<b>%1</b>%2")
                           .arg(QLatin1String(to_string(row.mode)),
                                row.mode == Precision::No ? QStringLiteral(" fp32") : QString()));
    colour(line.mode, m_theme.modeColour(row.mode));
    const bool done = row.state == ModelTrial::State::Done;
    const bool emulated = done && report.choice.support == Support::Emulated && row.mode != Precision::No;
    line.badge->setVisible(emulated);
    line.badge->setText(tr("emulated"));
    line.badge->setToolTip(QString::fromStdString(report.choice.reason));
    const QString dash = QStringLiteral("–");
    for (QLabel* label : {line.step, line.memory, line.half, line.headroom}) {
        label->setText(done ? dash : QString());
        label->setToolTip({});
        label->setStyleSheet({});
    }
    if (!done) {
        line.runs->setText(row.state == ModelTrial::State::Trying ? tr("trying…") : QStringLiteral("…"));
        colour(line.runs, colours.muted);
        return;
    }
    line.runs->setText(report.runs ? QStringLiteral("✓") : tr("refuses"));
    colour(line.runs, report.runs ? colours.good : colours.error, true);
    line.runs->setAccessibleName(report.runs ? tr("runs") : tr("refuses"));
    if (!report.runs) {
        line.half->setText(QString::fromStdString(report.refusal));
        colour(line.half, colours.error);
        return;
    }
    line.step->setText(tr("%1 ms").arg(QLocale().toString(report.step_ms, 'f', report.step_ms < 10 ? 1 : 0)));
    line.memory->setText(
        QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(report.memory_peak_bytes))));
    if (row.mode != Precision::No && report.op_kinds > 0) {
        const double share = report.multiply_adds > 0
                                 ? 100.0 * static_cast<double>(report.multiply_adds_half) /
                                       static_cast<double>(report.multiply_adds)
                                 : 0.0;
        line.half->setText(tr("%1 of %2 kinds of op, %3 % of multiply-adds")
                               .arg(report.op_kinds_half)
                               .arg(report.op_kinds)
                               .arg(QLocale().toString(share, 'f', 0)));
    }
    if (report.headroom_bits && row.mode != Precision::No) {
        const double bits = *report.headroom_bits;
        const bool overflowed = !std::isfinite(bits) || bits < 0;
        line.headroom->setText(overflowed
                                   ? tr("overflows")
                                   : tr("%1 bits").arg(QLocale().toString(bits, 'f', bits < 20 ? 1 : 0)));
        line.headroom->setToolTip(QString::fromStdString(report.headroom_module));
        if (overflowed || bits < noHeadroomBits) {
            colour(line.headroom, colours.error, true);
        } else if (bits < lowHeadroomBits) {
            colour(line.headroom, colours.warning, true);
        }
    }
}

}  // namespace mantissa::ui
