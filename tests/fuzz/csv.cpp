// The bundled tables' reader: every option that changes its path, chosen by the first byte.
#include "formats/csv.h"

#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    if (size == 0) return 0;
    CsvOptions options;
    options.header = static_cast<CsvHeader>(data[0] & 3);
    options.allow_nonfinite = (data[0] & 4) != 0;
    options.separator = (data[0] & 8) != 0 ? ';' : ',';
    const auto table = read_csv(fuzz::file_with("t", fuzz::text_of(data + 1, size - 1)), options);
    if (table && static_cast<std::int64_t>(table->values.size()) != table->rows * table->columns) std::abort();
    return 0;
}
