#include <optional>
#include <utility>

#include "formats/array_reader.h"

namespace mantissa {
namespace {

std::optional<ElementType> type_of(unsigned char code) {
    switch (code) {
        case 0x08: return ElementType::U8;
        case 0x09: return ElementType::I8;
        case 0x0B: return ElementType::I16;
        case 0x0C: return ElementType::I32;
        case 0x0D: return ElementType::F32;
        case 0x0E: return ElementType::F64;
        default: return std::nullopt;
    }
}

}  // namespace

Result<ArrayReader> open_idx(const std::filesystem::path& path) {
    auto opened = open_bytes(path);
    if (!opened) return opened.error();
    std::unique_ptr<ByteReader> bytes = std::move(*opened);
    unsigned char magic[4] = {};
    if (auto done = bytes->read_whole(magic, 4, "the IDX header"); !done) return done.error();
    if (magic[0] != 0 || magic[1] != 0) return bytes->error("is no IDX file: its first two bytes aren't 0");
    const auto type = type_of(magic[2]);
    if (!type) return bytes->error("byte 2: " + std::to_string(magic[2]) + " is no type of IDX", "8, 9, 11, 12, 13 and 14 are: uint8, int8, int16, int32, float32, float64");
    if (magic[3] == 0 || magic[3] > 8) return bytes->error("byte 3: " + std::to_string(magic[3]) + " dimensions, 1 to 8 can be read");
    std::vector<std::int64_t> shape;
    for (int i = 0; i < magic[3]; ++i) {
        unsigned char size[4] = {};
        if (auto done = bytes->read_whole(size, 4, "the IDX header"); !done) return done.error();
        shape.push_back(std::int64_t{size[0]} << 24 | std::int64_t{size[1]} << 16 | std::int64_t{size[2]} << 8 | size[3]);
    }
    if (!elements_of(shape)) return bytes->error("says that it holds " + shape_text(shape) + " numbers, more than any file can");
    return ArrayReader(std::move(bytes), *type, true, std::move(shape));
}

}  // namespace mantissa
