#include "ui/setup/field_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStyle>
#include <cmath>

#include "plan/plan_fields.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/field_labels.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {

FieldEdit::FieldEdit(PlanEditor& editor, const std::string& path, QWidget* parent)
    : QWidget(parent), m_editor(editor), m_path(path), m_error(new QLabel(this)) {
    const PlanField* field = find_plan_field(path);
    MANTISSA_ASSERT(field != nullptr);
    makeInput(*field);
    m_input->setObjectName(QString::fromStdString(path));
    m_error->setProperty("fieldError", true);
    m_error->setWordWrap(true);
    m_error->hide();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(m_input);
    column->addWidget(m_error);
    auto* texts = new Retranslation(this);
    texts->bind([this] {
        m_input->setAccessibleName(labelOf(m_path));
        refreshChoice();
        refresh();
    });
}

namespace {

/// What can be chosen: of a whole number too where each of its values has words ("1 – every tensor, at every so many steps").
std::vector<std::string> choicesOf(const PlanField& field) {
    std::vector<std::string> choices = field.kind == FieldKind::Choice ? field.choices : std::vector<std::string>();
    const std::string least = std::to_string(std::llround(field.limits.minimum));
    const bool isNamed = field.kind == FieldKind::Integer && choiceLabel(field.path, least) != QString::fromStdString(least);
    for (auto value = static_cast<std::int64_t>(field.limits.minimum); isNamed && value <= static_cast<std::int64_t>(field.limits.maximum); ++value) {
        choices.push_back(std::to_string(value));
    }
    return choices;
}

}  // namespace

void FieldEdit::makeInput(const PlanField& field) {
    if (const std::vector<std::string> choices = choicesOf(field); !choices.empty()) {
        auto* combo = new QComboBox(this);
        for (const std::string& choice : choices) {
            combo->addItem(QString::fromStdString(choice), QString::fromStdString(choice));
        }
        connect(combo, &QComboBox::activated, this,
                [this, combo] { m_editor.edit(m_path, combo->currentData().toString()); });
        m_input = combo;
    } else if (field.kind == FieldKind::Switch) {
        auto* box = new QCheckBox(this);
        connect(box, &QCheckBox::clicked, this, [this](bool on) {
            m_editor.edit(m_path, on ? QStringLiteral("true") : QStringLiteral("false"));
        });
        m_input = box;
    } else {
        auto* line = new QLineEdit(this);
        line->setClearButtonEnabled(field.is_optional);
        connect(line, &QLineEdit::editingFinished, this, [this, line] {
            if (line->isModified()) {
                line->setModified(false);
                m_editor.edit(m_path, line->text());
            }
        });
        m_input = line;
    }
}

void FieldEdit::refreshChoice() {
    if (auto* combo = qobject_cast<QComboBox*>(m_input)) {
        for (int i = 0; i < combo->count(); ++i) {
            combo->setItemText(i, choiceLabel(m_path, combo->itemData(i).toString().toStdString()));
        }
    } else if (auto* line = qobject_cast<QLineEdit*>(m_input)) {
        const QString empty = placeholderOf(m_path);
        line->setPlaceholderText(empty.isEmpty() && find_plan_field(m_path)->is_optional ? tr("not set") : empty);
    }
}

void FieldEdit::refresh() {
    const QString value = m_editor.text(m_path), typed = m_editor.typedText(m_path);
    if (auto* combo = qobject_cast<QComboBox*>(m_input)) {
        combo->setCurrentIndex(combo->findData(value));
    } else if (auto* box = qobject_cast<QCheckBox*>(m_input)) {
        box->setChecked(value == QLatin1String("true"));
    } else if (auto* line = qobject_cast<QLineEdit*>(m_input); line->text() != typed) {
        const QSignalBlocker quiet(line);
        line->setText(typed);
    }
    refreshToolTip();
    showError();
}

void FieldEdit::refreshToolTip() {
    const QString help = helpOf(m_path);
    m_input->setToolTip((help.isEmpty() ? QString() : help + QLatin1Char('\n')) +
                        QStringLiteral("%1\n%2").arg(QString::fromStdString(m_path), m_editor.originText(m_path)));
    m_input->setAccessibleDescription(help);
}

void FieldEdit::showError() {
    const QString sentence = m_editor.error(m_path);
    m_error->setText(sentence);
    m_error->setVisible(!sentence.isEmpty());
    if (m_input->property("wrong").toBool() != !sentence.isEmpty()) {
        m_input->setProperty("wrong", !sentence.isEmpty());
        m_input->style()->unpolish(m_input);
        m_input->style()->polish(m_input);
    }
}

QString FieldEdit::shownError() const {
    return m_error->isHidden() ? QString() : m_error->text();
}

FieldForm::FieldForm(PlanEditor& editor, const std::vector<std::string>& paths, QWidget* parent)
    : QWidget(parent), m_editor(editor) {
    for (const std::string& path : paths) {
        auto* label = new QLabel(this);
        auto* edit = new FieldEdit(editor, path, this);
        label->setBuddy(edit->input());
        label->setProperty("muted", true);
        label->setContentsMargins(0, 4, 0,
                                  0);  // beside the text of its field, which may have a refusal below
        m_rows.push_back({label, edit});
    }
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(12, 8, 12, 10);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(6);
    for (const int column : {1, 3}) {
        grid->setColumnStretch(column, 1);
    }
    arrange();
    connect(&editor, &PlanEditor::changed, this, [this] {
        arrange();
        for (const Row& row : m_rows) {
            row.edit->refresh();
        }
    });
    connect(&editor, &PlanEditor::errorsChanged, this, [this] {
        for (const Row& row : m_rows) {
            row.edit->showError();
        }
    });
    auto* texts = new Retranslation(this);
    texts->bind([this] {
        for (const Row& row : m_rows) {
            row.label->setText(labelOf(row.edit->path()));
        }
    });
}

void FieldForm::setVisibleWhen(std::function<bool(const std::string&)> rule) {
    m_rule = std::move(rule);
    arrange();
}

FieldEdit* FieldForm::field(const std::string& path) const {
    for (const Row& row : m_rows) {
        if (row.edit->path() == path) {
            return row.edit;
        }
    }
    return nullptr;
}

void FieldForm::arrange() {
    auto* grid = static_cast<QGridLayout*>(layout());
    int place = 0;
    for (const Row& row : m_rows) {
        grid->removeWidget(row.label);
        grid->removeWidget(row.edit);
        // A field with something to say stays, even where the plan makes no use of it.
        const bool shown = !m_rule || m_rule(row.edit->path()) || !m_editor.error(row.edit->path()).isEmpty();
        row.label->setVisible(shown);
        row.edit->setVisible(shown);
        if (shown) {
            const int column = (place % 2) * 2;
            grid->addWidget(row.label, place / 2, column, Qt::AlignTop);
            grid->addWidget(row.edit, place / 2, column + 1);
            ++place;
        }
    }
}

}  // namespace mantissa::ui
