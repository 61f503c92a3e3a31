#include "track/tracker.h"

#include "track/json_lines_tracker.h"
#include "track/run_folder_tracker.h"
#include "track/tensorboard_tracker.h"

namespace mantissa {

const std::vector<std::string>& tracker_names() {
    static const std::vector<std::string> names{"mantissa", "tensorboard", "json_lines"};
    return names;
}

Result<std::shared_ptr<Tracker>> make_tracker(const std::string& name) {
    if (name == "mantissa") return std::shared_ptr<Tracker>(std::make_shared<RunFolderTracker>());
    if (name == "tensorboard") return std::shared_ptr<Tracker>(std::make_shared<TensorBoardTracker>());
    if (name == "json_lines") return std::shared_ptr<Tracker>(std::make_shared<JsonLinesTracker>());
    std::string known;
    for (const std::string& one : tracker_names()) known += (known.empty() ? "" : ", ") + one;
    return Error{ErrorCode::BadPlan, "no tracker is named \"" + name + "\"",
                 "use " + known + ", all, or an object of a class of your own"};
}

}  // namespace mantissa
