#include "ui/shell/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/shell/action_catalog.h"

namespace mantissa::ui {

CommandPalette::CommandPalette(const ActionCatalog& catalog, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      m_catalog(catalog),
      m_line(new QLineEdit(this)),
      m_list(new QListWidget(this)) {
    setObjectName(QStringLiteral("CommandPalette"));
    m_line->installEventFilter(this);
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(m_line);
    layout->addWidget(m_list);
    connect(m_line, &QLineEdit::textChanged, this, [this] { refill(); });
    connect(m_line, &QLineEdit::returnPressed, this, [this] { startMarked(); });
    connect(m_list, &QListWidget::itemActivated, this, [this] { startMarked(); });
    connect(m_list, &QListWidget::itemClicked, this, [this] { startMarked(); });
}

QList<QAction*> CommandPalette::matches(const ActionCatalog& catalog, const QString& typed) {
    const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QList<QAction*> found;
    for (QAction* action : catalog.actions()) {
        bool fits = action->isEnabled() && action->objectName() != QLatin1String("view.palette");
        for (const QString& word : words) {
            fits = fits && action->text().contains(word, Qt::CaseInsensitive);
        }
        if (fits) {
            found << action;
        }
    }
    return found;
}

void CommandPalette::openOver(QWidget* window) {
    // Here, because the language may have changed since it was last open.
    setAccessibleName(tr("Commands"));
    m_line->setPlaceholderText(tr("Type a command"));
    m_line->setAccessibleName(tr("Type a command"));
    m_list->setAccessibleName(tr("Matching commands"));
    m_line->clear();
    refill();
    resize(qMin(520, window->width() - 40), qMin(440, window->height() - 80));
    const QPoint middle = window->mapToGlobal(QPoint((window->width() - width()) / 2, 48));
    move(middle);
    show();
    m_line->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_line && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            const int count = m_list->count();
            if (count > 0) {
                const int step = key == Qt::Key_Down ? 1 : count - 1;
                m_list->setCurrentRow((m_list->currentRow() + step) % count);
            }
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void CommandPalette::refill() {
    m_list->clear();
    m_shown = matches(m_catalog, m_line->text());
    for (QAction* action : m_shown) {
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        m_list->addItem(keys.isEmpty() ? action->text() : action->text() + QStringLiteral("    ") + keys);
    }
    if (!m_shown.isEmpty()) {
        m_list->setCurrentRow(0);
    }
}

void CommandPalette::startMarked() {
    const int row = m_list->currentRow();
    if (row < 0 || row >= m_shown.size()) {
        return;
    }
    QAction* action = m_shown[row];
    hide();
    // After the popup is gone: the command may open a dialog of its own.
    QTimer::singleShot(0, action, &QAction::trigger);
}

}  // namespace mantissa::ui
