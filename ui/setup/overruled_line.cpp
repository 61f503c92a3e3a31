#include "ui/setup/overruled_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "ui/bridge/retranslation.h"
#include "ui/setup/field_labels.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

bool isNews(ValueSource winner, ValueSource loser) {
    const bool ownDoing = winner == ValueSource::Edit || winner == ValueSource::Default;
    const bool startingPoint = loser == ValueSource::Plan || loser == ValueSource::Preset ||
                               loser == ValueSource::Checkpoint;
    return !(ownDoing && startingPoint);
}

QString sourceText(ValueSource source, const std::string& detail) {
    const QString name = QString::fromStdString(detail);
    switch (source) {
        case ValueSource::Default:
            return detail.empty() ? OverruledLine::tr("default") : name;
        case ValueSource::Config:
            return OverruledLine::tr("configuration file %1").arg(name);
        case ValueSource::Environment:
            return OverruledLine::tr("environment %1").arg(name);
        case ValueSource::Checkpoint:
            return OverruledLine::tr("checkpoint %1").arg(name);
        case ValueSource::Plan:
            return OverruledLine::tr("plan %1").arg(name);
        case ValueSource::Preset:
            return OverruledLine::tr("preset %1").arg(name);
        case ValueSource::Flag:
            return OverruledLine::tr("flag %1").arg(name);
        case ValueSource::Edit:
            return OverruledLine::tr("this window");
    }
    return {};
}

}  // namespace

OverruledLine::OverruledLine(const PlanEditor& editor, QWidget* parent)
    : QFrame(parent), m_editor(editor), m_fold(new QToolButton(this)), m_text(new QLabel(this)) {
    setObjectName(QStringLiteral("overruledLine"));
    setProperty("amber", true);
    m_fold->setCheckable(true);
    m_fold->setArrowType(Qt::RightArrow);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 10, 6);
    row->addWidget(m_fold, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    connect(m_fold, &QToolButton::toggled, this, &OverruledLine::refresh);
    connect(&editor, &PlanEditor::changed, this, &OverruledLine::refresh);
    auto* texts = new Retranslation(this);
    texts->bind([this] {
        m_fold->setAccessibleName(tr("Show all overruled settings"));
        refresh();
    });
}

QStringList OverruledLine::lines() const {
    QStringList lines;
    for (const auto& [path, origin] : m_editor.sourced().origins) {
        for (const OverruledValue& lost : origin.overruled) {
            if (isNews(origin.source, lost.source)) {
                lines << tr("%1 %2 (%3) over %4 (%5)")
                             .arg(labelOf(path), QString::fromStdString(origin.value),
                                  sourceText(origin.source, origin.detail),
                                  QString::fromStdString(lost.value), sourceText(lost.source, lost.detail));
            }
        }
    }
    return lines;
}

void OverruledLine::refresh() {
    const QStringList all = lines();
    setVisible(!all.isEmpty());
    if (all.isEmpty()) {
        return;
    }
    const bool open = m_fold->isChecked();
    m_fold->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    const QString head = tr("%n setting(s) overrule another", nullptr, static_cast<int>(all.size()));
    m_text->setText(open ? head + QLatin1Char('\n') + all.join(QLatin1Char('\n'))
                         : head + QStringLiteral(": ") + all.first());
}

}  // namespace mantissa::ui
