#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/numbers.h"
#include "launch/bundle.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t longest_name = 1000;
constexpr std::size_t deepest_name = 8;
constexpr std::int64_t room_left = std::int64_t{64} << 20;  // of the disk, for those who work on it

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

struct Entry {
    zip_uint64_t index = 0;
    fs::path name;
    std::int64_t bytes = 0;
    bool is_folder = false;
};

struct Contents {
    std::string run;
    std::vector<Entry> entries;
};

std::string printable(std::string_view name) {
    std::string text(name.substr(0, 120));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

Error refused(const fs::path& file, const std::string& why) {
    return {ErrorCode::InputOutput, file.string() + " is not unpacked: " + why, "a bundle of `mantissa replay RUN --bundle FILE.zip` has nothing like that"};
}

std::string text_of(zip_error_t* error) {
    std::string text = zip_error_strerror(error);
    zip_error_fini(error);
    return text;
}

/// An open descriptor, so that what is looked at is what is unpacked.
Result<Archive> open_archive(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return Error{ErrorCode::InputOutput, file.string() + " can't be read: " + std::strerror(errno), "look at its name and permissions"};
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor);
        return Error{ErrorCode::InputOutput, file.string() + " is not a file", "name a bundle (.zip)"};
    }
    int code = 0;
    zip_t* archive = zip_fdopen(descriptor, ZIP_CHECKCONS, &code);
    if (archive != nullptr) return Archive(archive);  // it owns the descriptor now
    ::close(descriptor);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    return Error{ErrorCode::InputOutput, file.string() + " is no whole .zip file: " + text_of(&error), "copy it once more from where it was made"};
}

/// Empty: the name stays below the folder that it is unpacked to.
std::string why_bad(std::string_view name) {
    if (name.empty() || name.size() > longest_name) return "a name is empty or longer than " + std::to_string(longest_name) + " bytes";
    if (name.front() == '/') return "the name \"" + printable(name) + "\" is absolute";
    for (const char c : name) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "the name \"" + printable(name) + "\" holds a control character";
        if (c == '\\' || c == ':') return "the name \"" + printable(name) + "\" leads to other places on other systems";
    }
    std::size_t depth = 0;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t slash = std::min(name.find('/', at), name.size());
        const std::string_view part = name.substr(at, slash - at);
        if (part.empty() || part == "." || part == "..") return "the name \"" + printable(name) + "\" leads out of the bundle's folder";
        if (part.size() > 255) return "the name \"" + printable(name) + "\" is too long";
        if (++depth > deepest_name) return "the name \"" + printable(name) + "\" is nested more than " + std::to_string(deepest_name) + " folders deep";
        at = slash + 1;
    }
    return "";
}

/// Only files and folders; links could point anywhere.
std::string why_bad_kind(zip_t* archive, zip_uint64_t index, bool is_folder, std::string_view name) {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(archive, index, 0, &system, &attributes) != 0) return "the kind of \"" + printable(name) + "\" can't be read";
    if (system != ZIP_OPSYS_UNIX && system != ZIP_OPSYS_OS_X) return "";
    const auto kind = (attributes >> 16) & S_IFMT;
    if (kind == 0 || kind == (is_folder ? S_IFDIR : S_IFREG)) return "";
    return "\"" + printable(name) + "\" is " + (kind == S_IFLNK ? "a link" : "neither a file nor a folder");
}

Result<Contents> look_at(zip_t* archive, const fs::path& file, const BundleLimits& limits) {
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    if (count > limits.files) return refused(file, "it holds " + std::to_string(count) + " files, more than " + std::to_string(limits.files));
    Contents contents;
    std::set<std::string> names;
    std::int64_t bytes = 0;
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        const auto index = static_cast<zip_uint64_t>(i);
        if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
            return refused(file, "name or size of its file " + std::to_string(i + 1) + " can't be read");
        std::string name = stat.name;
        const bool is_folder = name.ends_with('/');
        if (is_folder) name.pop_back();
        if (const std::string why = why_bad(name); !why.empty()) return refused(file, why);
        if (const std::string why = why_bad_kind(archive, index, is_folder, name); !why.empty()) return refused(file, why);
        if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE) return refused(file, "\"" + printable(name) + "\" is encrypted");
        if (!names.insert(name).second) return refused(file, "the name \"" + printable(name) + "\" is in it twice");
        const std::string top = name.substr(0, name.find('/'));
        if (contents.run.empty()) contents.run = top;
        if (top != contents.run || (!is_folder && top == name)) return refused(file, "it holds more than one run folder: \"" + printable(contents.run) + "\" and \"" + printable(name) + "\"");
        if (stat.size > static_cast<zip_uint64_t>(limits.bytes) || (bytes += static_cast<std::int64_t>(stat.size)) > limits.bytes)
            return refused(file, "unpacked it is larger than " + readable_bytes(static_cast<std::uint64_t>(limits.bytes)));
        contents.entries.push_back({index, fs::path(name), static_cast<std::int64_t>(stat.size), is_folder});
    }
    if (contents.run.starts_with('.') || contents.run == "comparisons") return refused(file, "its folder is named \"" + printable(contents.run) + "\"");
    if (!names.contains(contents.run + "/plan.json") || !names.contains(contents.run + "/run.db"))
        return Error{ErrorCode::InputOutput, file.string() + " is not a bundle: a run's plan.json and run.db are not in it", "make one with `mantissa replay RUN --bundle FILE.zip`"};
    return contents;
}

Result<void> unpack_one(zip_t* archive, const Entry& entry, const fs::path& to) {
    const std::unique_ptr<zip_file_t, Discard> from(zip_fopen_index(archive, entry.index, 0));
    if (!from) return Error{ErrorCode::InputOutput, entry.name.string() + " can't be unpacked: " + zip_strerror(archive), ""};
    std::ofstream out(to, std::ios::binary | std::ios::trunc);
    std::vector<char> part(1 << 18);
    for (std::int64_t left = entry.bytes;;) {
        const zip_int64_t got = zip_fread(from.get(), part.data(), part.size());
        if (got < 0) return Error{ErrorCode::InputOutput, entry.name.string() + " can't be unpacked: " + zip_file_strerror(from.get()), "copy the bundle once more from where it was made"};
        if (got == 0) {
            if (left > 0) return Error{ErrorCode::InputOutput, entry.name.string() + " is cut short in the bundle", "copy it once more from where it was made"};
            break;
        }
        left -= got;
        if (left < 0) return Error{ErrorCode::InputOutput, entry.name.string() + " is larger than the bundle says", "don't trust where it came from"};
        out.write(part.data(), got);
        if (!out) break;
    }
    out.close();
    if (!out) return Error{ErrorCode::InputOutput, to.string() + " can't be written", "free some room"};
    return {};
}

Result<void> unpack_all(zip_t* archive, const Contents& contents, const fs::path& folder) {
    for (const Entry& entry : contents.entries) {
        const fs::path to = folder / entry.name;
        if (auto made = make_folders(entry.is_folder ? to : to.parent_path()); !made) return made;
        if (entry.is_folder) continue;
        if (auto unpacked = unpack_one(archive, entry, to); !unpacked) return unpacked;
    }
    return {};
}

}  // namespace

bool looks_like_bundle(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    std::array<char, 4> bytes{};
    std::ifstream stream(file, std::ios::binary);
    return stream.read(bytes.data(), bytes.size()) && std::memcmp(bytes.data(), "PK\x03\x04", bytes.size()) == 0;
}

Result<std::string> bundle_run_name(const fs::path& file, const BundleLimits& limits) {
    const auto archive = open_archive(file);
    if (!archive) return archive.error();
    auto contents = look_at(archive->get(), file, limits);
    if (!contents) return contents.error();
    return contents->run;
}

Result<fs::path> unpack_bundle(const fs::path& file, const fs::path& folder, const BundleLimits& limits) {
    const auto archive = open_archive(file);
    if (!archive) return archive.error();
    const auto contents = look_at(archive->get(), file, limits);
    if (!contents) return contents.error();
    if (auto made = make_folders(folder); !made) return made.error();
    const fs::path target = folder / contents->run;
    std::error_code failed;
    if (fs::exists(fs::symlink_status(target, failed)))
        return Error{ErrorCode::InputOutput, target.string() + " is there already", "move it away, or name another folder"};
    std::int64_t bytes = 0;
    for (const Entry& entry : contents->entries) bytes += entry.bytes;
    const auto room = fs::space(folder, failed);
    if (!failed && static_cast<std::uint64_t>(bytes + room_left) > room.available)
        return Error{ErrorCode::InputOutput,
                     folder.string() + " has " + readable_bytes(room.available) + " left, and " + file.string() + " needs " + readable_bytes(static_cast<std::uint64_t>(bytes)),
                     "free some room, or name another folder"};
    // Beside the target, so that nobody sees a run that is half there.
    std::string draft = (folder / ".unpacking-XXXXXX").string();
    if (::mkdtemp(draft.data()) == nullptr) return Error{ErrorCode::InputOutput, "can't write in " + folder.string() + ": " + std::strerror(errno), "name another folder"};
    auto unpacked = unpack_all(archive->get(), *contents, draft);
    if (unpacked) {
        fs::rename(fs::path(draft) / contents->run, target, failed);
        if (failed) unpacked = Error{ErrorCode::InputOutput, target.string() + " can't be made: " + failed.message(), "name another folder"};
    }
    fs::remove_all(draft, failed);
    if (!unpacked) return unpacked.error();
    return target;
}

}  // namespace mantissa
