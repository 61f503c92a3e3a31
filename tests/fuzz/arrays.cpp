// IDX, npy, npz and safetensors, read to their end in small pieces; the first byte chooses the format.
#include <algorithm>
#include <vector>

#include "formats/array_reader.h"
#include "formats/safetensors.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

void read_all(mantissa::Result<mantissa::ArrayReader> reader) {
    if (!reader) return;
    std::vector<double> block(1000);
    for (std::int64_t left = reader->elements(); left > 0;) {
        const std::int64_t now = std::min<std::int64_t>(left, 1000);
        if (!reader->read(now, block.data())) return;
        left -= now;
    }
    static_cast<void>(reader->expect_end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    if (size == 0) return 0;
    const auto path = fuzz::file_with("a", fuzz::text_of(data + 1, size - 1));
    switch (data[0] % 4) {
        case 0: read_all(open_idx(path)); break;
        case 1: read_all(open_npy(path)); break;
        case 2:
            if (const auto names = npz_names(path))
                for (const std::string& name : *names) read_all(open_npz(path, name));
            break;
        default:
            if (const auto names = tensor_names(path))
                for (const std::string& name : *names) read_all(open_tensor(path, name));
            static_cast<void>(read_safetensors(path));
            break;
    }
    return 0;
}
