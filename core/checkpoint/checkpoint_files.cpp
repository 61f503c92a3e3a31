#include "checkpoint/checkpoint_files.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "checkpoint/state_json.h"

namespace mantissa {
namespace fs = std::filesystem;
using namespace checkpoint;
namespace {

constexpr const char* state_name = "state.json";
constexpr const char* unfinished = ".unfinished";

struct PartFile {
    std::string name;
    const StateBundle* bundle;
};

// Parts other than models that have tensors, with the file that they go to.
std::vector<PartFile> part_files(const Checkpoint& checkpoint) {
    std::vector<PartFile> files;
    const auto add = [&](const std::vector<StateBundle>& bundles, auto&& name) {
        for (std::size_t i = 0; i < bundles.size(); ++i) files.push_back({name(i), &bundles[i]});
    };
    add(checkpoint.optimizers, [](std::size_t i) { return numbered_name("optimizer", i); });
    add(checkpoint.schedulers, [](std::size_t i) { return numbered_name("scheduler", i); });
    add(checkpoint.loaders, [](std::size_t i) { return numbered_name("loader", i); });
    add(checkpoint.objects, [](std::size_t i) { return custom_name(i); });
    return files;
}

fs::path plain_path(const fs::path& given) {
    std::error_code failed;
    const fs::path target = fs::absolute(given, failed).lexically_normal();
    return target.has_filename() ? target : target.parent_path();
}

// Left by a process that is no more. Of a living one it may still be growing.
void remove_left_over(const fs::path& parent) {
    std::error_code failed;
    for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end; entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(".") || !name.ends_with(unfinished)) continue;
        const std::string stem = name.substr(0, name.size() - std::strlen(unfinished));
        const auto process = parse_int(stem.substr(stem.rfind('.') + 1));
        if (process && *process > 0 && ::kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH) {
            std::error_code ignored;
            fs::remove_all(entry->path(), ignored);
        }
    }
}

Result<WrittenFile> described(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::InputOutput, path.string() + " can't be read: " + std::strerror(errno), ""};
    Sha256 hash;
    WrittenFile one{path.filename().string(), 0, ""};
    std::vector<char> buffer(1 << 20);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
        hash.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
        one.bytes += static_cast<std::uint64_t>(file.gcount());
    }
    if (file.bad()) return Error{ErrorCode::InputOutput, path.string() + " can't be read to its end", ""};
    one.sha256 = hash.hex();
    return one;
}

Error damaged(const fs::path& file, const std::string& what) {
    return {ErrorCode::InputOutput, file.string() + " is damaged: " + what, "go on from an earlier checkpoint"};
}

Result<void> check_files(const fs::path& folder, const std::vector<WrittenFile>& files) {
    for (const WrittenFile& file : files) {
        std::error_code failed;
        const auto size = fs::file_size(folder / file.name, failed);
        if (failed) return damaged(folder / file.name, "it is missing, though state.json names it");
        if (size != file.bytes) {
            return damaged(folder / file.name, "it has " + std::to_string(size) + " bytes instead of " + std::to_string(file.bytes));
        }
        const auto found = described(folder / file.name);
        if (!found) return found.error();
        if (found->sha256 != file.sha256) return damaged(folder / file.name, "its SHA-256 isn't the one in state.json");
    }
    return {};
}

// A file that state.json doesn't name is not read: it wasn't written with the rest.
Result<NamedTensors> read_named(const fs::path& folder, const StateFile& state, const std::string& name, bool is_needed) {
    if (state.names(name)) return read_tensor_file(folder / name);
    if (is_needed) return damaged(folder / state_name, "it names no " + name);
    return NamedTensors{};
}

}  // namespace

fs::path hidden_checkpoint(const fs::path& target, std::int64_t process) {
    const fs::path plain = plain_path(target);
    return plain.parent_path() / ("." + plain.filename().string() + "." + std::to_string(process) + unfinished);
}

Result<CheckpointWriter> CheckpointWriter::begin(const fs::path& given) {
    std::error_code failed;
    fs::path target = plain_path(given);
    if (fs::exists(fs::symlink_status(target, failed))) {
        return Error{ErrorCode::InputOutput, target.string() + " exists already", "give another folder, or remove it first"};
    }
    if (const auto made = make_folders(target.parent_path()); !made) return made.error();
    remove_left_over(target.parent_path());
    fs::path hidden = hidden_checkpoint(target, ::getpid());
    fs::remove_all(hidden, failed);
    if (!fs::create_directory(hidden, failed)) {
        return Error{ErrorCode::InputOutput, hidden.string() + " can't be made: " + failed.message(), ""};
    }
    return CheckpointWriter(std::move(target), std::move(hidden));
}

CheckpointWriter::CheckpointWriter(CheckpointWriter&& other) noexcept
    : m_target(std::move(other.m_target)), m_folder(std::exchange(other.m_folder, {})) {}

CheckpointWriter::~CheckpointWriter() {
    std::error_code ignored;
    if (!m_folder.empty()) fs::remove_all(m_folder, ignored);
}

Result<void> CheckpointWriter::add_shared(const Checkpoint& checkpoint) {
    for (std::size_t i = 0; i < checkpoint.models.size(); ++i) {
        const auto written = write_tensor_file(m_folder / numbered_name("model", i), checkpoint.models[i]);
        if (!written) return written.error();
    }
    for (const PartFile& part : part_files(checkpoint)) {
        if (part.bundle->tensors.empty()) continue;
        const auto written = write_tensor_file(m_folder / part.name, part.bundle->tensors);
        if (!written) return written.error();
    }
    return {};
}

Result<void> write_rank_files(const fs::path& hidden, std::int64_t rank, const Checkpoint& checkpoint) {
    const auto written = write_tensor_file(hidden / rank_name("random_states", rank), checkpoint.random_states);
    if (!written) return written.error();
    if (checkpoint.accelerator.tensors.empty()) return {};
    const auto window = write_tensor_file(hidden / rank_name("window", rank), checkpoint.accelerator.tensors);
    return window ? Result<void>() : window.error();
}

Result<fs::path> CheckpointWriter::finish(const Checkpoint& checkpoint) {
    StateFile state{checkpoint, {}};
    std::vector<fs::path> paths;
    std::error_code failed;
    for (fs::directory_iterator entry(m_folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        paths.push_back(entry->path());
    }
    if (failed) return Error{ErrorCode::InputOutput, m_folder.string() + " can't be read: " + failed.message(), ""};
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        auto file = described(path);
        if (!file) return file.error();
        state.files.push_back(std::move(*file));
    }
    std::string text;
    try {
        text = state_to_text(state);
    } catch (const nlohmann::json::exception&) {
        return Error{ErrorCode::InputOutput, "a text of the state to be saved is no UTF-8", "save such bytes as a uint8 tensor"};
    }
    if (const auto written = write_file_atomically(m_folder / state_name, text); !written) return written.error();
    if (const auto synced = sync_folder(m_folder); !synced) return synced.error();
    fs::rename(m_folder, m_target, failed);
    if (failed) return Error{ErrorCode::InputOutput, m_target.string() + " can't be made: " + failed.message(), ""};
    m_folder.clear();
    if (const auto synced = sync_folder(m_target.parent_path()); !synced) return synced.error();
    return m_target;
}

Result<fs::path> write_checkpoint(const fs::path& target, const Checkpoint& checkpoint) {
    auto writer = CheckpointWriter::begin(target);
    if (!writer) return writer.error();
    if (const auto added = writer->add_shared(checkpoint); !added) return added.error();
    if (const auto added = write_rank_files(writer->folder(), 0, checkpoint); !added) return added.error();
    return writer->finish(checkpoint);
}

Result<Checkpoint> read_checkpoint(const fs::path& folder, std::int64_t rank) {
    std::error_code failed;
    if (!fs::is_directory(folder, failed)) {
        return Error{ErrorCode::InputOutput, "there is no checkpoint folder " + folder.string(), ""};
    }
    if (!fs::exists(folder / state_name, failed)) {
        return Error{ErrorCode::InputOutput, folder.string() + " is no checkpoint of Mantissa: it has no state.json",
                     "a folder of Accelerate holds pickled states, which aren't read here; take its weights with load_model()"};
    }
    const auto text = read_file(folder / state_name);
    if (!text) return text.error();
    auto state = state_from_text(*text, (folder / state_name).string());
    if (!state) return state.error();
    if (const auto checked = check_files(folder, state->files); !checked) return checked.error();
    Checkpoint& checkpoint = state->checkpoint;
    const auto take = [&](NamedTensors& into, const std::string& name, bool is_needed) -> Result<void> {
        auto tensors = read_named(folder, *state, name, is_needed);
        if (!tensors) return tensors.error();
        into = std::move(*tensors);
        return {};
    };
    for (std::size_t i = 0; i < checkpoint.models.size(); ++i) {
        if (const auto taken = take(checkpoint.models[i], numbered_name("model", i), true); !taken) return taken.error();
    }
    for (const PartFile& part : part_files(checkpoint)) {
        if (const auto taken = take(const_cast<StateBundle*>(part.bundle)->tensors, part.name, false); !taken) return taken.error();
    }
    // A rank that wasn't there when it was saved goes on with its own random numbers.
    if (const auto taken = take(checkpoint.random_states, rank_name("random_states", rank), rank == 0); !taken) return taken.error();
    if (const auto taken = take(checkpoint.accelerator.tensors, rank_name("window", rank), false); !taken) return taken.error();
    return std::move(checkpoint);
}

fs::path checkpoint_path(const fs::path& folder, std::int64_t number) { return folder / ("checkpoint_" + std::to_string(number)); }

std::vector<std::int64_t> checkpoint_numbers(const fs::path& folder) {
    std::vector<std::int64_t> numbers;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        const std::string_view prefix = "checkpoint_";
        const auto number = name.starts_with(prefix) ? parse_int(name.substr(prefix.size())) : std::nullopt;
        std::error_code ignored;
        if (number && *number >= 0 && checkpoint_path(folder, *number) == entry->path() &&
            fs::exists(entry->path() / state_name, ignored)) {
            numbers.push_back(*number);
        }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

Result<void> remove_old_checkpoints(const fs::path& folder, std::int64_t limit) {
    const auto numbers = checkpoint_numbers(folder);
    const auto keep = static_cast<std::size_t>(std::max(limit, checkpoints_always_kept));
    std::error_code failed;
    for (std::size_t i = 0; i + keep < numbers.size(); ++i) {
        // Renamed first: a reader sees it whole or not at all.
        const fs::path hidden = hidden_checkpoint(checkpoint_path(folder, numbers[i]), ::getpid());
        fs::rename(checkpoint_path(folder, numbers[i]), hidden, failed);
        if (!failed) fs::remove_all(hidden, failed);
        if (failed) {
            return Error{ErrorCode::InputOutput, checkpoint_path(folder, numbers[i]).string() + " can't be removed: " + failed.message(), ""};
        }
    }
    return {};
}

}  // namespace mantissa
