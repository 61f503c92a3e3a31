#include "ui/live/fold_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace mantissa::ui {

FoldRow::FoldRow(QWidget* parent)
    : QWidget(parent), m_row(new QHBoxLayout), m_contents(new QVBoxLayout(this)), m_note(new QLabel(this)) {
    m_contents->setContentsMargins(0, 0, 0, 0);
    m_contents->setSpacing(6);
    m_row->setSpacing(2);
    m_row->addWidget(m_note, 1);
    m_note->setWordWrap(true);  // a long reason must not make the page wider than the window
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_note->setObjectName(QStringLiteral("fairness"));
    m_contents->addLayout(m_row);
}

void FoldRow::addFold(const QString& name, QWidget* content) {
    auto* opener = new QToolButton(this);
    opener->setCheckable(true);
    opener->setFocusPolicy(Qt::StrongFocus);
    m_row->insertWidget(static_cast<int>(m_folds.size()), opener);
    m_contents->addWidget(content);
    content->hide();
    m_folds.push_back({name, opener, content});
    updateText(m_folds.back());
    connect(opener, &QToolButton::toggled, this, [this, content](bool isOpen) {
        content->setVisible(isOpen);
        for (const Fold& fold : m_folds) {
            updateText(fold);
        }
        if (isOpen) {
            Q_EMIT opened(content);
        }
    });
}

void FoldRow::renameFold(QWidget* content, const QString& name) {
    for (Fold& fold : m_folds) {
        if (fold.content == content && fold.name != name) {
            fold.name = name;
            updateText(fold);
        }
    }
}

std::vector<bool> FoldRow::openFolds() const {
    std::vector<bool> open;
    for (const Fold& fold : m_folds) {
        open.push_back(fold.opener->isChecked());
    }
    return open;
}

void FoldRow::setOpenFolds(const std::vector<bool>& open) {
    for (std::size_t i = 0; i < std::min(open.size(), m_folds.size()); ++i) {
        m_folds[i].opener->setChecked(open[i]);
    }
}

void FoldRow::updateText(const Fold& fold) {
    fold.opener->setText((fold.opener->isChecked() ? QStringLiteral("▾ ") : QStringLiteral("▸ ")) + fold.name);
    fold.opener->setAccessibleName(fold.name);
}

void FoldRow::setNote(const QString& html, const QString& toolTip) {
    if (m_note->text() != html) {
        m_note->setText(html);
    }
    m_note->setToolTip(toolTip);
}

}  // namespace mantissa::ui
