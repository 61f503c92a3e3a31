#include "ui/bridge/weights_file.h"

#include "base/files.h"
#include "formats/safetensors_header.h"

namespace mantissa::ui {
namespace {

constexpr std::uint64_t limitBytes = 1ull << 40;
constexpr std::size_t lengthBytes = 8;

/// Counted from the header of what is copied, so that a damaged file is told instead of passed on.
Result<std::int64_t> tensorsIn(const std::string& content, const std::string& name) {
    std::uint64_t header = 0;
    for (std::size_t i = lengthBytes; i > 0 && content.size() >= lengthBytes; --i) {
        header = header << 8 | static_cast<unsigned char>(content[i - 1]);
    }
    if (content.size() < lengthBytes || header > content.size() - lengthBytes) {
        return Error{ErrorCode::InputOutput, name + " is cut short: " + std::to_string(content.size()) + " bytes", "take another checkpoint"};
    }
    const auto parsed = formats::parse_safetensors_header(std::string_view(content).substr(lengthBytes, header),
                                                          content.size() - lengthBytes - header, name);
    return parsed ? Result<std::int64_t>(static_cast<std::int64_t>(parsed->tensors.size())) : Result<std::int64_t>(parsed.error());
}

}  // namespace

Result<WrittenWeights> writeWeights(const CheckpointInfo& from, const std::filesystem::path& file) {
    const auto content = read_file(from.weights(), limitBytes);
    if (!content) {
        return content.error();
    }
    const auto tensors = tensorsIn(*content, from.weights().string());
    if (!tensors) {
        return tensors.error();
    }
    if (const auto written = write_file_atomically(file, *content); !written) {
        return written.error();
    }
    return WrittenWeights{file, *tensors, static_cast<std::int64_t>(content->size()), from};
}

}  // namespace mantissa::ui
