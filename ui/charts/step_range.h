#pragma once
// What part of the x axis is shown, and where the cursor stands: shared by all charts and tables of a page, which only listen.
// Owns the zoom stack and its own actions (zoom in, out, everything, back, follow the end). x is in the page's unit.
#include <QList>
#include <QObject>
#include <optional>
#include <vector>

class QAction;

namespace mantissa::ui {

struct XSpan {
    double from = 0, to = 1;
    [[nodiscard]] double width() const { return to - from; }
    bool operator==(const XSpan&) const = default;
};

class StepRange : public QObject {
    Q_OBJECT
  public:
    explicit StepRange(QObject* parent = nullptr);

    /// `whole`: from the first x to the planned end; `dataEnd`: how far the data reaches. Growing data never throws a zoom away.
    void setWhole(XSpan whole, double dataEnd);
    /// Another unit of x: the zoom stack means nothing any more.
    void restart();
    [[nodiscard]] XSpan whole() const { return m_whole; }
    [[nodiscard]] XSpan visible() const { return m_zoom.empty() ? m_whole : m_zoom.back(); }
    [[nodiscard]] bool isZoomed() const { return !m_zoom.empty(); }
    [[nodiscard]] bool isFollowing() const { return m_isFollowing; }
    [[nodiscard]] std::optional<double> cursor() const { return m_cursor; }

    void zoomTo(XSpan span);
    /// factor < 1 zooms in; `around` stays where it is.
    void zoomBy(double factor, double around);
    void pan(double shareOfWidth);
    void back();
    void reset();
    void setFollowing(bool follow);
    void setCursor(std::optional<double> x);
    /// Moves the view, if need be, so that x is inside.
    void reveal(double x);

    [[nodiscard]] QList<QAction*> actions() const;
    [[nodiscard]] QAction* followAction() const { return m_follow; }

  Q_SIGNALS:
    void changed();
    void cursorChanged();

  private:
    [[nodiscard]] XSpan clamped(XSpan span) const;
    void followEnd();
    void updateActions();
    [[nodiscard]] double middle() const { return m_cursor.value_or((visible().from + visible().to) / 2); }

    XSpan m_whole{0, 1};
    double m_dataEnd = 0;
    std::vector<XSpan> m_zoom;
    bool m_isFollowing = false;
    std::optional<double> m_cursor;
    QAction* m_zoomIn;
    QAction* m_zoomOut;
    QAction* m_everything;
    QAction* m_back;
    QAction* m_follow;
};

}  // namespace mantissa::ui
