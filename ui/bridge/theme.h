#pragma once
// The colours of the window, by meaning. One Theme per program, owned by main and handed to the pages; window's thread only.
// `apply` puts palette, style sheet and font on the application, so that plain widgets need no colours of their own:
// a QFrame becomes a card with setProperty("card", true), a QPushButton the main one with setProperty("primary", true),
// a QLabel quiet with setProperty("muted", true). Painting code takes `colours()` and listens to `changed`.
#include <QColor>
#include <QObject>
#include <QPalette>
#include <QString>

#include "base/precision.h"

namespace mantissa::ui {

struct ThemeColours {
    QColor window, surface, rail, button, border, grid;
    QColor text, muted;
    QColor accent, accentText;
    QColor error, errorFill, errorBorder;
    QColor warning, warningFill, warningBorder;
    QColor good, goodFill, goodBorder;
    QColor no, fp16, bf16, fp8;
    QColor nonfinite;
};

class Theme : public QObject {
    Q_OBJECT
  public:
    enum class Choice { System, Light, Dark };

    explicit Theme(QObject* parent = nullptr);

    void setChoice(Choice choice);
    [[nodiscard]] Choice choice() const { return m_choice; }
    [[nodiscard]] bool isDark() const { return m_dark; }
    [[nodiscard]] const ThemeColours& colours() const { return m_colours; }
    [[nodiscard]] QColor modeColour(Precision mode) const;
    [[nodiscard]] QPalette palette() const;
    [[nodiscard]] QString styleSheet() const;
    /// Palette, style, style sheet and font of the whole program; again at every change from then on.
    void apply();

  Q_SIGNALS:
    void changed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void choose();

    Choice m_choice = Choice::System;
    bool m_dark = false;
    bool m_applied = false;
    bool m_choosing = false;
    ThemeColours m_colours;
};

}  // namespace mantissa::ui
