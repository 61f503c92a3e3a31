#include "ui/setup/config_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <nlohmann/json.hpp>

#include "plan/plan_fields.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/field_labels.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

/// A value's detail is "FILE: key".
QString fileOf(const PlanLayer& layer) {
    const std::string& detail = layer.values.empty() ? layer.notes.front() : layer.values.front().detail;
    return QString::fromStdString(detail.substr(0, detail.find(": ")));
}

}  // namespace

ConfigLine::ConfigLine(const PlanEditor& editor, QWidget* parent)
    : QFrame(parent), m_editor(editor), m_fold(new QToolButton(this)), m_text(new QLabel(this)) {
    setObjectName(QStringLiteral("configLine"));
    setProperty("card", true);
    m_fold->setCheckable(true);
    m_fold->setArrowType(Qt::RightArrow);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 10, 6);
    row->addWidget(m_fold, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    connect(m_fold, &QToolButton::toggled, this, &ConfigLine::refresh);
    connect(&editor, &PlanEditor::changed, this, &ConfigLine::refresh);
    auto* texts = new Retranslation(this);
    texts->bind([this] {
        m_fold->setAccessibleName(tr("Show all of Accelerate's configuration"));
        refresh();
    });
}

QStringList ConfigLine::values() const {
    QStringList values;
    const PlanLayer* layer = m_editor.configLayer();
    if (layer == nullptr) {
        return values;
    }
    for (const LayerValue& value : layer->values) {
        const auto origin = m_editor.sourced().origins.find(value.path);
        const bool isInEffect =
            origin != m_editor.sourced().origins.end() && origin->second.source == ValueSource::Config;
        const QString text = QString::fromStdString(value_to_text(nlohmann::json::parse(value.value_json)));
        values << (isInEffect ? tr("%1 %2") : tr("%1 %2 (overruled)")).arg(labelOf(value.path), text);
    }
    return values;
}

void ConfigLine::refresh() {
    const PlanLayer* layer = m_editor.configLayer();
    setVisible(layer != nullptr && !(layer->values.empty() && layer->notes.empty()));
    if (isHidden()) {
        return;
    }
    m_fold->setVisible(!layer->notes.empty());
    const bool open = m_fold->isChecked();
    m_fold->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    const QStringList all = values();
    QStringList lines{tr("Accelerate's configuration %1: %2")
                          .arg(fileOf(*layer), all.isEmpty() ? tr("sets nothing that a run here uses") : all.join(QStringLiteral(" · ")))};
    for (std::size_t i = 0; open && i < layer->notes.size(); ++i) {
        lines << QString::fromStdString(layer->notes[i]);
    }
    m_text->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace mantissa::ui
