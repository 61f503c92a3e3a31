#include "ui/lessons/bit_inspector.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/lessons/bit_delegate.h"

namespace mantissa::ui {

BitInspector::BitInspector(const Theme& theme, const LessonWords& words, QWidget* parent)
    : QWidget(parent), m_words(words), m_model(words), m_number(new QLineEdit(this)), m_scale(new QLineEdit(QStringLiteral("2^16"), this)),
      m_numberLabel(new QLabel(this)), m_scaleLabel(new QLabel(this)), m_problem(new QLabel(this)), m_suggestions(new QWidget(this)), m_table(new QTableView(this)) {
    m_number->setObjectName(QStringLiteral("bitNumber"));
    m_scale->setObjectName(QStringLiteral("bitScale"));
    m_problem->setObjectName(QStringLiteral("bitProblem"));
    m_numberLabel->setBuddy(m_number);
    m_scaleLabel->setBuddy(m_scale);
    m_problem->setProperty("fieldError", true);
    m_problem->setWordWrap(true);
    m_scale->setMaximumWidth(90);
    m_table->setModel(&m_model);
    m_table->setObjectName(QStringLiteral("bitTable"));
    m_table->setItemDelegateForColumn(BitTableModel::Bits, new BitDelegate(theme, this));
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setProperty("replayTable", true);
    new QHBoxLayout(m_suggestions);
    m_suggestions->layout()->setContentsMargins(0, 0, 0, 0);
    m_suggestions->layout()->setSpacing(4);
    auto* fields = new QHBoxLayout;
    fields->addWidget(m_numberLabel);
    fields->addWidget(m_number, 1);
    fields->addWidget(m_scaleLabel);
    fields->addWidget(m_scale);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(fields);
    column->addWidget(m_suggestions);
    column->addWidget(m_problem);
    column->addWidget(m_table);
    connect(m_number, &QLineEdit::textChanged, this, &BitInspector::take);
    connect(m_scale, &QLineEdit::textChanged, this, &BitInspector::take);
    setFocusProxy(m_number);
    retranslate();
}

void BitInspector::setNumber(const QString& text) { m_number->setText(text); }

void BitInspector::setSuggestions(const std::vector<std::string>& numbers) {
    for (QPushButton* old : m_suggestions->findChildren<QPushButton*>()) {
        old->deleteLater();
    }
    for (const std::string& number : numbers) {
        const QString text = QString::fromStdString(number);
        auto* button = new QPushButton(text, m_suggestions);
        button->setProperty("role", "link");
        m_suggestions->layout()->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, text] { setNumber(text); });
    }
    if (!numbers.empty()) {
        setNumber(QString::fromStdString(numbers.front()));
    }
}

void BitInspector::take() {
    const auto number = parse_typed_number(m_number->text().toStdString()), scale = parse_typed_number(m_scale->text().toStdString());
    const bool isGood = number.ok() && scale.ok();
    m_problem->setText(isGood ? QString() : QString::fromStdString(describe((number.ok() ? scale : number).error())));
    m_problem->setVisible(!isGood && !m_number->text().isEmpty());
    if (isGood) {
        m_model.setNumber(*number, *scale);
        fitTable();
    }
}

/// As high as its rows: the page scrolls, not the table.
void BitInspector::fitTable() {
    m_table->resizeColumnsToContents();
    m_table->resizeRowsToContents();
    int height = m_table->horizontalHeader()->sizeHint().height() + 4;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        height += m_table->rowHeight(row);
    }
    m_table->setFixedHeight(height + m_table->horizontalScrollBar()->sizeHint().height());
}

void BitInspector::retranslate() {
    m_numberLabel->setText(m_words.course("page.number"));
    m_scaleLabel->setText(m_words.course("page.scale"));
    m_number->setAccessibleName(m_words.course("page.number"));
    m_scale->setAccessibleName(m_words.course("page.scale"));
    m_model.retranslate();
    fitTable();
}

}  // namespace mantissa::ui
