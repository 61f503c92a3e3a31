#include "ui/bridge/bundle_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "record/replay_report.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t block = 512;
constexpr std::uint64_t largestFile = (1ULL << 33) - 1;  // eleven octal digits

/// A header of POSIX ustar (IEEE Std 1003.1, pax, "ustar Interchange Format").
using Header = std::array<char, block>;

void put(Header& header, std::size_t at, const std::string& text) { std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at)); }

std::string octal(std::uint64_t value, int digits) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
    return text.data();
}

Result<Header> headerOf(const std::string& name, std::uint64_t bytes) {
    Header header{};
    std::size_t cut = 0;
    if (name.size() > 100) {  // the front goes into the prefix, cut at a slash
        cut = name.find('/', name.size() - 101);
        if (cut == std::string::npos || cut > 155) {
            return Error{ErrorCode::InputOutput, "the name " + name + " is too long for a .tar file", "give the run a shorter name"};
        }
        put(header, 345, name.substr(0, cut));
        ++cut;
    }
    put(header, 0, name.substr(cut));
    put(header, 100, "0000644");
    put(header, 108, "0000000");
    put(header, 116, "0000000");
    put(header, 124, octal(bytes, 11));
    put(header, 136, octal(static_cast<std::uint64_t>(now_ns() / 1'000'000'000), 11));
    put(header, 148, "        ");  // the checksum counts as spaces
    header[156] = '0';
    put(header, 257, std::string("ustar\0" "00", 8));
    std::uint64_t sum = 0;
    for (const char byte : header) {
        sum += static_cast<unsigned char>(byte);
    }
    put(header, 148, octal(sum, 6) + std::string("\0 ", 2));
    return header;
}

Error unreadable(const fs::path& file) { return {ErrorCode::InputOutput, file.string() + " can't be read", "look at its permissions"}; }

Result<std::int64_t> append(std::ofstream& out, const fs::path& file, const std::string& name) {
    std::error_code failure;
    const std::uint64_t bytes = fs::file_size(file, failure);
    std::ifstream in(file, std::ios::binary);
    if (failure || !in) {
        return unreadable(file);
    }
    if (bytes > largestFile) {
        return Error{ErrorCode::InputOutput, file.string() + " is larger than a .tar file holds (8 GiB)", "copy the run's folder instead"};
    }
    const auto header = headerOf(name, bytes);
    if (!header) {
        return header.error();
    }
    out.write(header->data(), block);
    std::vector<char> part(1 << 20);
    // A recording may grow meanwhile: exactly what the header says is taken.
    for (std::uint64_t left = bytes; left > 0;) {
        in.read(part.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, part.size())));
        const std::streamsize got = in.gcount();
        if (got <= 0) {
            return unreadable(file);
        }
        out.write(part.data(), got);
        left -= static_cast<std::uint64_t>(got);
    }
    const std::array<char, block> zeros{};
    out.write(zeros.data(), static_cast<std::streamsize>((block - bytes % block) % block));
    return static_cast<std::int64_t>(bytes);
}

/// Paths below the run, in a fixed order.
std::vector<fs::path> filesOf(const fs::path& run, std::int64_t step) {
    std::vector<fs::path> files;
    std::error_code failure;
    const RunFolder folder{run};
    for (const fs::path& file : {folder.plan(), folder.environment(), folder.database(), fs::path(folder.database().string() + "-wal"), folder.verdicts()}) {
        if (fs::exists(file, failure)) {
            files.push_back(file.lexically_relative(run));
        }
    }
    std::vector<fs::path> ofStep;
    for (const auto& entry : fs::recursive_directory_iterator(incident_folder(run, step), failure)) {
        if (entry.is_regular_file(failure)) {
            ofStep.push_back(entry.path().lexically_relative(run));
        }
    }
    std::sort(ofStep.begin(), ofStep.end());
    files.insert(files.end(), ofStep.begin(), ofStep.end());
    return files;
}

}  // namespace

Result<WrittenBundle> writeBundle(const fs::path& run, std::int64_t step, const fs::path& file) {
    const std::vector<fs::path> names = filesOf(run, step);
    if (names.empty()) {
        return Error{ErrorCode::InputOutput, "there is nothing to save in " + run.string(), "the run's folder was moved or deleted"};
    }
    const fs::path draft = file.string() + ".part";
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    WrittenBundle written{file, 0, 0};
    std::error_code ignored;
    for (const fs::path& name : names) {
        const auto bytes = append(out, run / name, (run.filename() / name).generic_string());
        if (!bytes) {
            out.close();
            fs::remove(draft, ignored);
            return bytes.error();
        }
        ++written.files;
        written.bytes += *bytes;
    }
    const std::array<char, 2 * block> end{};
    out.write(end.data(), end.size());
    out.close();
    std::error_code failure;
    if (out) {
        fs::rename(draft, file, failure);
    }
    if (!out || failure) {
        fs::remove(draft, ignored);
        return Error{ErrorCode::InputOutput, file.string() + " can't be written", "choose another folder, or free some room"};
    }
    return written;
}

}  // namespace mantissa::ui
