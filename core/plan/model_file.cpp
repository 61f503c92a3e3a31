#include "plan/model_file.h"

#include <fstream>

namespace mantissa {
namespace {

/// The byte-order mark of UTF-8 and white space may stand before it.
bool begins_like_json(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    char head[64] = {};
    stream.read(head, sizeof head);
    const std::string_view text(head, static_cast<std::size_t>(stream.gcount()));
    const std::size_t at = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
    return at != std::string_view::npos && text[at] == '{';
}

}  // namespace

bool is_layer_list(const ModelPlan& model) { return !model.file.empty() && (model.file.ends_with(".json") || begins_like_json(model.file)); }

bool is_program(const ModelPlan& model) { return !model.file.empty() && !is_layer_list(model); }

}  // namespace mantissa
