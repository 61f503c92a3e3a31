#pragma once
// Icons of resources/icons (one-colour SVG files), drawn in the colours of the theme.
#include <QColor>
#include <QIcon>
#include <QString>

namespace mantissa::ui {

/// `name` without folder and ending. The `On` state has the second colour.
[[nodiscard]] QIcon tintedIcon(const QString& name, const QColor& normal, const QColor& on);
[[nodiscard]] QIcon applicationIcon();

}  // namespace mantissa::ui
