#include "ui/bridge/phase_words.h"

#include <QCoreApplication>
#include <utility>

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::PhaseWords)
};

}  // namespace

QString phaseText(const std::string& phase) {
    const std::pair<const char*, QString> names[] = {
        {"data", Words::tr("data")},         {"parameter", Words::tr("weights")}, {"buffer", Words::tr("buffers")}, {"forward", Words::tr("forward")},
        {"loss", Words::tr("loss")},         {"backward", Words::tr("backward")}, {"unscale", Words::tr("unscale")}, {"update", Words::tr("update")},
    };
    for (const auto& [id, name] : names) {
        if (phase == id) {
            return name;
        }
    }
    return QString::fromStdString(phase);
}

}  // namespace mantissa::ui
