#include "samples/samples.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/paths.h"
#include "formats/byte_reader.h"
#include "formats/table_reader.h"
#include "formats/utf8.h"
#include "samples/readers.h"

namespace mantissa {
namespace {

constexpr std::size_t looked_at = 4096;

bool looks_like_idx(const std::string& start) {
    const auto byte = [&start](std::size_t i) { return static_cast<unsigned char>(start[i]); };
    return start.size() >= 8 && byte(0) == 0 && byte(1) == 0 && byte(2) >= 8 && byte(2) <= 14 && byte(3) >= 1 && byte(3) <= 8;
}

bool looks_like_safetensors(const std::string& start) {
    return start.size() > 9 && start[8] == '{' && start[6] == 0 && start[7] == 0;
}

bool is_text(std::string_view start) {
    if (start.find('\0') != std::string_view::npos) return false;
    const auto bad = first_bad_utf8(start);
    // What was read may end in the middle of a character.
    return !bad || (start.size() == looked_at && start.size() - *bad < 4);
}

}  // namespace

const char* to_string(FileKind kind) {
    switch (kind) {
        case FileKind::Idx: return "IDX";
        case FileKind::Npy: return "npy";
        case FileKind::Npz: return "npz";
        case FileKind::SafeTensors: return "safetensors";
        case FileKind::Table: return "CSV";
        case FileKind::Text: return "text";
    }
    return "";
}

std::int64_t SampleFacts::width() const { return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()); }

Result<FileKind> file_kind(const std::filesystem::path& file) {
    const auto start = first_bytes(file, looked_at);
    if (!start) return start.error();
    if (start->empty()) return Error{ErrorCode::InputOutput, file.string() + " is empty", ""};
    if (start->starts_with("\x93NUMPY")) return FileKind::Npy;
    if (start->starts_with("PK\x03\x04") || start->starts_with("PK\x05\x06")) return FileKind::Npz;
    if (looks_like_idx(*start)) return FileKind::Idx;
    if (looks_like_safetensors(*start)) return FileKind::SafeTensors;
    // A table is one whose first lines divide evenly, or nearly so, for then its reader tells which one doesn't; of other texts every
    // character counts. A table in another encoding is told so where its words are needed.
    const bool reads_as_text = is_text(*start);
    const bool has_zero = start->find('\0') != std::string::npos;
    if (const auto table = TableReader::open(file); !has_zero && (table || (reads_as_text && nearly_a_table(*start)))) return FileKind::Table;
    if (reads_as_text) return FileKind::Text;
    return Error{ErrorCode::InputOutput, file.string() + " is none of the kinds of data files that can be read here",
                 "these are, told by their content: IDX, npy, npz, safetensors, CSV tables and text in UTF-8"};
}

Result<Samples> read_samples(const DatasetPlan& plan, const SampleLimits& limits) {
    const auto kind = file_kind(plan.file);
    if (!kind) return kind.error();
    if (*kind == FileKind::Text) {
        // Somebody who names labels or columns means a table: say why it is none.
        if (!plan.labels.empty() || !plan.leave_out.empty() || plan.target != TargetWish::Auto) return samples::read_table(plan, limits);
        return samples::read_text(plan, limits);
    }
    return *kind == FileKind::Table ? samples::read_table(plan, limits) : samples::read_arrays(plan, *kind, limits);
}

Result<std::filesystem::path> catalogue_file(const catalogue::DatasetEntry& entry) {
    const std::filesystem::path file = resources_folder() / "datasets" / entry.file;  // an absolute one stays as it is
    std::error_code failed;
    if (entry.package.empty() || std::filesystem::is_regular_file(file, failed)) return file;
    return Error{ErrorCode::InputOutput, "dataset.name is \"" + entry.id + "\", whose files aren't here (" + file.string() + ")",
                 "apt install " + entry.package + ", or name your own copy of them in dataset.file"};
}

Result<void> check_data_file(const DatasetPlan& plan) {
    if (plan.file.empty()) {
        const auto* entry = catalogue::find_dataset(plan.name);
        if (entry == nullptr || entry->file.empty()) return {};
        const auto file = catalogue_file(*entry);
        return file ? Result<void>() : file.error();
    }
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(plan.file, failed);
    const bool is_small = !failed && bytes <= (32u << 20);
    const auto read = read_samples(plan, {.most_samples = is_small ? 0 : 1000});
    return read ? Result<void>() : read.error();
}

}  // namespace mantissa
