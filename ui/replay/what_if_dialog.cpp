#include "ui/replay/what_if_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <nlohmann/json.hpp>

#include "plan/plan_fields.h"

namespace mantissa::ui {

WhatIfDialog::WhatIfDialog(const RunPlan& plan, std::int64_t step, const QString& suggestion, QWidget* parent)
    : QDialog(parent), m_plan(plan), m_mode(new QComboBox(this)), m_problem(new QLabel(this)) {
    setObjectName(QStringLiteral("whatIfDialog"));
    setWindowTitle(tr("What if…"));
    auto* head = new QLabel(tr("Step %1 again, same weights and same batch, with this changed. The run's folder keeps its recording.").arg(step), this);
    head->setWordWrap(true);
    auto* form = new QFormLayout;
    form->setLabelAlignment(Qt::AlignLeft);
    form->setVerticalSpacing(9);
    form->setHorizontalSpacing(14);
    for (const Precision mode : all_precisions) {
        m_mode->addItem(QLatin1String(to_string(mode)), QLatin1String(to_string(mode)));
    }
    m_mode->setCurrentIndex(static_cast<int>(plan.mixed_precision));
    m_mode->setObjectName(QStringLiteral("mixed_precision"));
    form->addRow(tr("&Precision"), m_mode);
    connect(m_mode, &QComboBox::currentIndexChanged, this, &WhatIfDialog::refresh);
    addField(form, tr("&Learning rate"), "training.optimizer.learning_rate");
    addField(form, tr("Loss &scale"), "loss_scale.initial");
    QLineEdit* islands = addField(form, tr("Kept in &fp32"), "fp32_islands");
    islands->setPlaceholderText(suggestion.isEmpty() ? tr("module, module.operation or aten::operation") : tr("for example %1").arg(suggestion));
    m_problem->setWordWrap(true);
    m_problem->setProperty("fieldError", true);
    m_problem->setMinimumHeight(2 * fontMetrics().lineSpacing());
    m_problem->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    buttons->button(QDialogButtonBox::Cancel)->setIcon({});
    m_go = new QPushButton(tr("Try it"), this);
    m_go->setObjectName(QStringLiteral("tryIt"));
    m_go->setProperty("primary", true);
    m_go->setDefault(true);
    buttons->addButton(m_go, QDialogButtonBox::AcceptRole);
    connect(buttons, &QDialogButtonBox::accepted, this, &WhatIfDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(18, 16, 18, 14);
    column->setSpacing(12);
    column->addWidget(head);
    column->addLayout(form);
    column->addWidget(m_problem);
    column->addWidget(buttons);
    resize(470, sizeHint().height());
    refresh();
}

QLineEdit* WhatIfDialog::addField(QFormLayout* form, const QString& label, const char* path) {
    auto* line = new QLineEdit(this);
    const PlanField& field = *find_plan_field(path);
    line->setObjectName(QLatin1String(path));
    line->setText(QString::fromStdString(field_text(field, m_plan)));
    if (line->text() == QLatin1String("none") || field.get(m_plan).empty()) {
        line->clear();
    }
    line->setToolTip(QString::fromStdString(field.about));
    form->addRow(label, line);
    connect(line, &QLineEdit::textChanged, this, &WhatIfDialog::refresh);
    m_fields.push_back(line);
    return line;
}

std::vector<std::string> WhatIfDialog::settings() const {
    std::vector<std::string> settings;
    const std::string mode = m_mode->currentData().toString().toStdString();
    if (mode != to_string(m_plan.mixed_precision)) {
        settings.push_back("mixed_precision=" + mode);
    }
    for (const QLineEdit* line : m_fields) {
        const std::string path = line->objectName().toStdString(), text = line->text().trimmed().toStdString();
        const PlanField& field = *find_plan_field(path);
        RunPlan changed = m_plan;
        const auto set = field.set(field, changed, value_from_text(field, text));
        if (set.ok() && !(changed == m_plan)) {
            settings.push_back(path + "=" + text);
        }
    }
    return settings;
}

QString WhatIfDialog::problem() const {
    for (const QLineEdit* line : m_fields) {
        const PlanField& field = *find_plan_field(line->objectName().toStdString());
        RunPlan changed = m_plan;
        const auto set = field.set(field, changed, value_from_text(field, line->text().trimmed().toStdString()));
        if (!set) {
            return QString::fromStdString(describe(set.error()));
        }
    }
    return {};
}

void WhatIfDialog::refresh() {
    if (m_go == nullptr) {
        return;
    }
    const QString wrong = problem();
    m_problem->setText(wrong);
    m_go->setEnabled(wrong.isEmpty() && !settings().empty());
    m_go->setToolTip(m_go->isEnabled() ? QString() : tr("Change something first."));
}

void WhatIfDialog::accept() {
    if (m_go->isEnabled()) {
        Q_EMIT chosen(settings());
        QDialog::accept();
    }
}

}  // namespace mantissa::ui
