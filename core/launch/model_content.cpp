#include "launch/model_content.h"

#include "base/files.h"
#include "base/sha256.h"
#include "plan/model_file.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {

Result<std::string> model_content(const ModelPlan& model) {
    const auto bytes = read_file(model.file);
    if (!bytes) return bytes.error();
    return sha256_hex(*bytes);
}

Result<void> require_same_model(const std::filesystem::path& run, const ModelPlan& model) {
    std::error_code ignored;
    if (model.file.empty() || !std::filesystem::exists(RunFolder{run}.database(), ignored)) return {};
    const auto reader = RunReader::open(run);
    if (!reader) return reader.error();
    const auto keys = (*reader)->meta();
    if (!keys) return keys.error();
    const auto recorded = keys->find(model_sha256_key);
    if (recorded == keys->end()) return {};
    const auto content = model_content(model);
    if (!content) return content.error();
    if (*content == recorded->second) return {};
    const std::string what = is_layer_list(model) ? "the layer list " : "the model file ";
    return Error{ErrorCode::InputOutput, what + model.file + " has changed since " + run.filename().string() + " was made with it",
                 "put its content of that time back, or start a new run with this one"};
}

}  // namespace mantissa
