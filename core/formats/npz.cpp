#include <zip.h>

#include <algorithm>
#include <utility>

#include "formats/array_reader.h"

namespace mantissa {
namespace {

constexpr zip_int64_t most_members = 1000;
constexpr std::size_t longest_name = 1000;

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

std::string text_of_zip_error(zip_error_t* error) {
    std::string text = zip_error_strerror(error);
    zip_error_fini(error);
    return text;
}

Result<Archive> open_archive(const std::filesystem::path& path) {
    int code = 0;
    Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (archive) {
        if (zip_get_num_entries(archive.get(), 0) <= most_members) return archive;
        return Error{ErrorCode::InputOutput, path.string() + " holds more than the " + std::to_string(most_members) + " arrays allowed here", ""};
    }
    zip_error_t why;
    zip_error_init_with_code(&why, code);
    return Error{ErrorCode::InputOutput, path.string() + " can't be read as an npz archive: " + text_of_zip_error(&why), "fetch the file again"};
}

class MemberBytes : public ByteReader {
  public:
    MemberBytes(std::string name, Archive archive, Member member) : ByteReader(std::move(name)), m_archive(std::move(archive)), m_member(std::move(member)) {}

  private:
    Result<std::size_t> take(void* to, std::size_t size) override {
        auto* at = static_cast<char*>(to);
        std::size_t done = 0;
        while (done < size) {
            const zip_int64_t got = zip_fread(m_member.get(), at + done, size - done);
            if (got < 0) return Error{ErrorCode::InputOutput, zip_error_strerror(zip_file_get_error(m_member.get())), "fetch the file again"};
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }
    Archive m_archive;  // outlives its member
    Member m_member;
};

}  // namespace

Result<std::vector<std::string>> npz_names(const std::filesystem::path& path) {
    auto archive = open_archive(path);
    if (!archive) return archive.error();
    std::vector<std::string> names;
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive->get(), 0); ++i) {
        const char* raw = zip_get_name(archive->get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
        const std::string_view name = raw != nullptr ? raw : "";
        if (name.size() > longest_name || !name.ends_with(".npy")) continue;
        names.emplace_back(name.substr(0, name.size() - 4));
    }
    return names;
}

Result<ArrayReader> open_npz(const std::filesystem::path& path, const std::string& name) {
    auto archive = open_archive(path);
    if (!archive) return archive.error();
    Member member(zip_fopen(archive->get(), (name + ".npy").c_str(), 0));
    const std::string whole_name = path.string() + ", " + name + ".npy,";
    if (!member) return Error{ErrorCode::InputOutput, whole_name + " can't be read: " + zip_strerror(archive->get()), ""};
    return open_npy(std::make_unique<MemberBytes>(whole_name, std::move(*archive), std::move(member)));
}

}  // namespace mantissa
