#pragma once
// Dialogs of the window, none of which waits in a loop of its own.
#include <QString>
#include <functional>

class QWidget;

namespace mantissa::ui {

void askForRunFolder(QWidget* parent, const QString& start,
                     std::function<void(const QString& folder)> chosen);
void showAbout(QWidget* parent);

}  // namespace mantissa::ui
