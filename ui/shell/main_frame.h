#pragma once
// What the window is made of: bar above, rail on the left, the pages, strip below, the sample's line above a
// page. Only layout, texts of the rail and colours; the window decides what is shown.
#include <QHash>
#include <QWidget>

class QStackedWidget;

namespace mantissa::ui {

class ActionCatalog;
class PageRail;
class SampleBanner;
class StatusStrip;
class Theme;
class TopBar;

class MainFrame : public QWidget {
    Q_OBJECT
  public:
    MainFrame(const Theme& theme, const ActionCatalog& catalog, QWidget* parent = nullptr);

    /// `id` names the page, its icon and its action "page.<id>".
    void addPage(const QString& id, QWidget* page);
    /// A page that another one leads to: the rail keeps `owner` chosen.
    void addPageOf(const QString& owner, const QString& id, QWidget* page);
    [[nodiscard]] bool hasPage(const QString& id) const { return m_pages.contains(id); }
    void showPage(const QString& id);
    /// The keyboard goes to the page's first thing to do (its focus proxy).
    void focusPage(const QString& id) { m_pages.value(id)->setFocus(Qt::OtherFocusReason); }
    void retranslate();
    [[nodiscard]] TopBar& bar() { return *m_bar; }
    [[nodiscard]] StatusStrip& strip() { return *m_strip; }
    [[nodiscard]] SampleBanner& sample() { return *m_sample; }

  Q_SIGNALS:
    void pageChosen(const QString& id);

  private:
    QWidget* buildScroll();
    void takeTheme();

    const Theme& m_theme;
    const ActionCatalog& m_catalog;
    TopBar* m_bar;
    PageRail* m_rail;
    QStackedWidget* m_stack;
    StatusStrip* m_strip;
    SampleBanner* m_sample;
    QHash<QString, QWidget*> m_pages;
    QHash<QString, QString> m_owners;
};

}  // namespace mantissa::ui
