#pragma once
// A picture of a widget as a PNG file, and what the window does with `--screenshot`.
#include <QString>

#include "base/result.h"

class QWidget;

namespace mantissa::ui {

/// Resources of the static library: icons and translations. Called once, before the first window.
void loadResources();
Result<void> savePicture(QWidget& widget, const QString& file);

}  // namespace mantissa::ui
