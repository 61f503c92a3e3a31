#include "engine/model_files.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/files.h"
#include "base/paths.h"
#include "engine/engine_error.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

template <typename T>
T take(Result<T> result) {
    if (!result) throw EngineError(result.error());
    return std::move(result).value();
}
void throw_unless_done(const Result<void>& result) {
    if (!result) throw EngineError(result.error());
}

std::map<std::string, torch::Tensor> by_name(const NamedTensors& tensors) { return {tensors.begin(), tensors.end()}; }

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > 8 ? text + " and " + std::to_string(names.size() - 8) + " more" : text;
}

std::string sentence(const LoadedModel& found) {
    std::string text;
    const auto add = [&](const char* what, const std::vector<std::string>& names) {
        if (!names.empty()) text += (text.empty() ? "" : "; ") + std::string(what) + " " + listed(names);
    };
    add("missing:", found.missing);
    add("not in the model:", found.unexpected);
    add("of another shape:", found.mis_shaped);
    return text;
}

// A name that is missing is not missed when the model ties it to one that is there.
LoadedModel compare(const NamedTensors& model, const NamedTensors& saved, bool same_types) {
    LoadedModel found;
    const auto there = by_name(saved), here = by_name(model);
    const auto tied = tied_names(model);
    const auto root = [&](const std::string& name) { return tied.contains(name) ? tied.at(name) : name; };
    std::set<std::string> roots;
    for (const auto& [name, tensor] : saved) roots.insert(root(name));
    for (const auto& [name, tensor] : model) {
        const auto match = there.find(name);
        if (match == there.end()) {
            if (!roots.contains(root(name))) found.missing.push_back(name);
        } else if (match->second.sizes() != tensor.sizes() ||
                   (same_types && match->second.scalar_type() != tensor.scalar_type())) {
            found.mis_shaped.push_back(name + ": " + readable_type(match->second) + " in the file, " + readable_type(tensor) +
                                       " in the model");
        }
    }
    for (const auto& [name, tensor] : saved) {
        if (!here.contains(name)) found.unexpected.push_back(name);
    }
    return found;
}

// A name from an index leads nowhere but into its own folder.
bool is_shard_name(const std::string& name) {
    return name.ends_with(".safetensors") && name.find('/') == std::string::npos && name.front() != '.';
}

NamedTensors read_index(const fs::path& index) {
    const std::string text = take(read_file(index));
    std::set<std::string> files;
    std::map<std::string, std::string> places;
    try {
        const auto json = nlohmann::json::parse(text);
        for (const auto& [name, file] : json.at("weight_map").items()) {
            places[name] = file.get<std::string>();
            files.insert(places[name]);
        }
    } catch (const nlohmann::json::exception&) {
        throw EngineError({ErrorCode::InputOutput, index.string() + " is damaged: it has no \"weight_map\" of names to files", ""});
    }
    NamedTensors tensors;
    for (const std::string& file : files) {
        if (!is_shard_name(file)) {
            throw EngineError({ErrorCode::InputOutput, index.string() + " names '" + file + "', which is no shard beside it", ""});
        }
        for (auto& [name, tensor] : take(read_tensor_file(index.parent_path() / file))) {
            places.erase(name);
            tensors.emplace_back(name, std::move(tensor));
        }
    }
    if (!places.empty()) {
        throw EngineError({ErrorCode::InputOutput,
                           places.begin()->second + " lacks " + places.begin()->first + ", which " + index.string() + " names", ""});
    }
    return tensors;
}

// As few as possible in the order of the names' tensors: the next shard begins when the next tensor doesn't fit.
std::vector<NamedTensors> split_up(const NamedTensors& tensors, std::uint64_t limit) {
    std::vector<NamedTensors> shards(1);
    const auto tied = tied_names(tensors);
    std::map<std::string, std::size_t> places;
    std::uint64_t bytes = 0;
    for (const auto& [name, tensor] : tensors) {
        if (tied.contains(name)) continue;
        if (bytes > 0 && bytes + tensor.nbytes() > limit) {
            shards.emplace_back();
            bytes = 0;
        }
        bytes += tensor.nbytes();
        places[name] = shards.size() - 1;
        shards.back().emplace_back(name, tensor);
    }
    for (const auto& [name, tensor] : tensors) {  // into the shard that holds what it is tied to, where metadata names it
        if (tied.contains(name)) shards[places.at(tied.at(name))].emplace_back(name, tensor);
    }
    return shards;
}

std::string shard_name(std::size_t index, std::size_t count) {
    char text[64];
    std::snprintf(text, sizeof text, "model-%05zu-of-%05zu.safetensors", index + 1, count);
    return text;
}

bool is_of_a_former_save(const std::string& name) {
    return name == single_name || name == index_name ||
           (name.starts_with("model-") && name.ends_with(".safetensors") && name.find("-of-") != std::string::npos);
}

std::string index_text(const std::vector<NamedTensors>& shards) {
    std::uint64_t bytes = 0;
    nlohmann::ordered_json map = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const auto tied = tied_names(shards[i]);
        for (const auto& [name, tensor] : shards[i]) {
            if (tied.contains(name)) continue;
            bytes += tensor.nbytes();
            map[name] = shard_name(i, shards.size());
        }
    }
    return nlohmann::ordered_json{{"metadata", {{"total_size", bytes}}}, {"weight_map", map}}.dump(2) + "\n";
}

}  // namespace

NamedTensors weights_of(const torch::nn::Module& module) {
    NamedTensors tensors;
    for (const auto& entry : module.named_parameters()) tensors.emplace_back(entry.key(), entry.value().detach());
    for (const auto& entry : module.named_buffers()) {
        if (entry.value().defined()) tensors.emplace_back(entry.key(), entry.value().detach());
    }
    return tensors;
}

void check_fits(const torch::nn::Module& module, const NamedTensors& tensors) {
    const LoadedModel found = compare(weights_of(module), tensors, true);
    if (!found.is_complete()) {
        throw EngineError({ErrorCode::BadPlan, "the saved weights don't fit: " + sentence(found), "make the model that was saved"});
    }
}

void copy_into(torch::nn::Module& module, const NamedTensors& tensors) {
    const torch::NoGradGuard no_grad;
    const auto there = by_name(tensors);
    for (auto& [name, tensor] : weights_of(module)) {
        const auto match = there.find(name);
        if (match != there.end() && match->second.sizes() == tensor.sizes()) tensor.copy_(match->second);
    }
}

std::vector<fs::path> save_weights(const NamedTensors& tensors, const fs::path& folder, const SaveModelOptions& options) {
    if (options.max_shard_size == 0) {
        throw EngineError({ErrorCode::BadPlan, "max_shard_size is 0", "give the largest size of a file in bytes"});
    }
    throw_unless_done(make_folders(folder));
    const auto shards = split_up(tensors, options.max_shard_size);
    std::vector<fs::path> files;
    std::set<std::string> written;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string name = shards.size() == 1 ? single_name : shard_name(i, shards.size());
        (void)take(write_tensor_file(folder / name, shards[i]));
        files.push_back(folder / name);
        written.insert(name);
    }
    if (shards.size() > 1) {
        throw_unless_done(write_file_atomically(folder / index_name, index_text(shards)));
        files.push_back(folder / index_name);
        written.insert(index_name);
    }
    throw_unless_done(sync_folder(folder));
    std::error_code failed;
    std::vector<fs::path> old;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (is_of_a_former_save(name) && !written.contains(name)) old.push_back(entry->path());
    }
    for (const fs::path& path : old) fs::remove(path, failed);
    return files;
}

NamedTensors read_weights(const fs::path& place) {
    std::error_code failed;
    if (fs::is_directory(place, failed)) {
        if (fs::exists(place / index_name, failed)) return read_index(place / index_name);
        if (fs::exists(place / single_name, failed)) return take(read_tensor_file(place / single_name));
        throw EngineError({ErrorCode::InputOutput, place.string() + " holds neither " + single_name + " nor " + index_name,
                           "weights pickled by Python (.bin, .pt) aren't read here: python3 " + (resources_folder() / "python" / "pickled_to_safetensors.py").string() + " " + place.string()});
    }
    return place.extension() == ".json" ? read_index(place) : take(read_tensor_file(place));
}

LoadedModel load_weights(torch::nn::Module& module, const fs::path& place, bool strict) {
    const NamedTensors tensors = read_weights(place);
    LoadedModel found = compare(weights_of(module), tensors, false);
    if (strict && !found.is_complete()) {
        throw EngineError({ErrorCode::BadPlan, place.string() + " doesn't fit the model: " + sentence(found),
                           "load with strict = false to take what fits"});
    }
    copy_into(module, tensors);
    return found;
}

}  // namespace mantissa
