#include "ui/shell/screenshot.h"

#include <QPixmap>
#include <QWidget>

// Q_INIT_RESOURCE declares functions of the global namespace.
static void initResources() {
    Q_INIT_RESOURCE(icons);
    Q_INIT_RESOURCE(translations);
}

namespace mantissa::ui {

void loadResources() {
    initResources();
}

Result<void> savePicture(QWidget& widget, const QString& file) {
    if (!widget.grab().save(file, "PNG")) {
        return Error{ErrorCode::InputOutput, "the picture " + file.toStdString() + " can't be written",
                     "name a .png file"};
    }
    return {};
}

}  // namespace mantissa::ui
