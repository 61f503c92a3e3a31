#pragma once
// Samples of a data file of one's own: what is in it, told by its content and not by its name, as rows of float32 features with a class,
// a value or the next tokens to be learned. Files are read in blocks; the rows lie in memory, or on disk where they are too many
// (samples/float_store.h).
//
// Kinds of files: IDX images with IDX labels; npy with npy labels; npz and safetensors, features and labels in one file; tables (CSV);
// plain text in UTF-8, cut into windows of characters. All but npz may be gzip.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/catalogue.h"
#include "plan/run_plan.h"
#include "samples/float_store.h"

namespace mantissa {

enum class SampleTarget {
    Classes,    // one of a few: labels
    Values,     // a number: values
    NextToken,  // the tokens one place on: labels, as many as a sample has tokens
};

struct SampleFacts {
    std::string format;                  // "IDX", "npy", "npz", "safetensors", "CSV", "text"
    std::string element;                 // type of the features in the file: "uint8", "number", "character"
    std::int64_t samples = 0;
    std::vector<std::int64_t> shape;     // of one sample: {30}, {1, 28, 28} (images get a channel), {context} of tokens
    std::vector<std::string> columns;    // names of the features where the file has any
    std::string target_name;             // column, array or file of the labels
    SampleTarget target = SampleTarget::Classes;
    std::vector<std::string> classes;    // names in the order of their numbers; characters of a text
    bool are_bytes = false;              // features are uint8: divided by 255 unless the plan says otherwise
    bool are_tokens = false;             // features are whole numbers that name characters
    std::int64_t missing = 0;            // values that weren't there: NaN in the features until they are filled
    std::int64_t dropped = 0;            // samples left out for them

    [[nodiscard]] std::int64_t width() const;  // features of a sample
};

struct Samples {
    SampleFacts facts;
    FloatStore features;               // samples × width
    std::vector<std::int64_t> labels;  // classes: one a sample; next tokens: width a sample; else empty
    std::vector<float> values;         // one a sample where the target is a value; else empty
};

struct SampleLimits {
    std::uint64_t bytes_in_memory = 0;   // of features; 0 = half of the machine's memory
    std::int64_t most_samples = 0;       // 0 = all; a preview reads the first ones
};

/// Reads `plan.file`. Every error is a sentence that names file and line, byte or array, and what to do.
Result<Samples> read_samples(const DatasetPlan& plan, const SampleLimits& limits = {});

/// Where the file of a data set of the catalogue lies; an error that names the package for one that isn't installed.
Result<std::filesystem::path> catalogue_file(const catalogue::DatasetEntry& entry);

/// Whether a run can read what the plan names, as far as that can be told at once: a file of up to 32 MiB is read whole, of a larger one
/// the first samples; of the catalogue what a package brings must be there.
Result<void> check_data_file(const DatasetPlan& plan);

/// What the file is, by its first bytes; an error for what none of the readers takes.
enum class FileKind { Idx, Npy, Npz, SafeTensors, Table, Text };
Result<FileKind> file_kind(const std::filesystem::path& file);
[[nodiscard]] const char* to_string(FileKind kind);  // as SampleFacts::format

}  // namespace mantissa
