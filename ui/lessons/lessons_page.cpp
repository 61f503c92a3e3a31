#include "ui/lessons/lessons_page.h"

#include <QHBoxLayout>
#include <QListView>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/bridge/theme.h"

namespace mantissa::ui {
namespace {

constexpr int listWidth = 244;
constexpr qreal largeType = 1.6;

}  // namespace

LessonsPage::LessonsPage(Theme& theme, std::filesystem::path runs, QWidget* parent)
    : QWidget(parent), m_model(m_words), m_runner(runs), m_list(new QListView(this)), m_large(new QPushButton(this)),
      m_view(new LessonView(theme, m_words, m_runner, runs, this)) {
    setObjectName(QStringLiteral("LessonsPage"));
    m_words.setLanguage("en");
    m_list->setModel(&m_model);
    m_list->setObjectName(QStringLiteral("lessonList"));
    m_list->setFixedWidth(listWidth);
    m_list->setWordWrap(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setSpacing(1);
    m_large->setObjectName(QStringLiteral("lessonLarge"));
    m_large->setCheckable(true);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(m_view);
    scroll->viewport()->setAutoFillBackground(false);
    m_view->setAutoFillBackground(false);
    auto* side = new QVBoxLayout;
    side->setSpacing(8);
    side->addWidget(m_list, 1);
    side->addWidget(m_large, 0, Qt::AlignBottom);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 10, 6, 10);
    row->addLayout(side);
    row->addWidget(scroll, 1);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (index.isValid()) {
            m_view->setLesson(m_model.lessons()[static_cast<std::size_t>(index.row())]);
            Q_EMIT titleChanged();
        }
    });
    connect(m_view, &LessonView::taken, &m_model, &LessonListModel::setDone);
    connect(m_view, &LessonView::message, this, &LessonsPage::message);
    connect(&m_runner, &LessonRunner::changed, this, [this] { m_list->setEnabled(!m_runner.isRunning()); });
    connect(m_large, &QPushButton::toggled, this, &LessonsPage::setPresenting);
    setFocusProxy(m_list);
    load();
}

void LessonsPage::load() {
    auto lessons = list_lessons();
    if (!lessons) {
        Q_EMIT message(QString::fromStdString(describe(lessons.error())));
        return;
    }
    m_model.setLessons(std::move(*lessons));
    m_list->setCurrentIndex(m_model.index(0));
}

void LessonsPage::choose(const QString& lesson, int answer) {
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const QModelIndex index = m_model.index(row);
        if (index.data(LessonListModel::IdRole).toString() == lesson || index.data(LessonListModel::NumberRole).toString() == lesson) {
            m_list->setCurrentIndex(index);
        }
    }
    m_view->take(answer);
}

QString LessonsPage::title() const { return m_words.course("title"); }

void LessonsPage::setLanguage(const std::string& code) {
    m_words.setLanguage(code);
    m_model.retranslate();
    m_list->setAccessibleName(m_words.course("page.list"));
    m_large->setText(m_words.course("page.presenter"));
    m_view->retranslate();
    Q_EMIT titleChanged();
}

void LessonsPage::setPresenting(bool isLarge) {
    m_large->setChecked(isLarge);
    m_list->setVisible(!isLarge);
    // Sizes of the window's style sheet would win over a font: this one is nearer to the widgets.
    m_view->setStyleSheet(isLarge ? QStringLiteral("* { font-size: %1px; } #lessonTitle { font-size: %2px; } #lessonChart { font-size: 15px; }").arg(qRound(13 * largeType)).arg(qRound(16 * largeType))
                                  : QString());
    m_view->retranslate();
}

}  // namespace mantissa::ui
