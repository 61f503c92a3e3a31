#include "layers/layer_rows.h"

#include "layers/layer_kinds.h"

namespace mantissa::layers {
namespace {

void add_rows(const std::vector<ListedLayer>& layers, const std::string& prefix, int depth, const FittedList& fitted, std::vector<LayerRow>& rows) {
    for (const ListedLayer& layer : layers) {
        LayerRow row{depth, prefix + layer.name, layer.place, describe(layer), layer.fitted.has_value(), {}, 0, 0, 0, {}};
        if (layer.fitted) {
            row.output = layer.fitted->output;
            row.parameters = layer.fitted->parameters();
            row.buffer_bytes = layer.fitted->buffer_bytes();
            row.multiply_adds = layer.fitted->multiply_adds;
        }
        if (fitted.problem && fitted.problem_place == layer.place) row.problem = mantissa::describe(*fitted.problem);
        rows.push_back(std::move(row));
        const std::string inside = prefix + layer.name + ".";
        add_rows(layer.layers, inside, depth + 1, fitted, rows);
        add_rows(layer.shortcut, inside + "shortcut.", depth + 1, fitted, rows);
    }
}

void add_modules(const std::vector<ListedLayer>& layers, const std::string& prefix, std::vector<ModuleSize>& modules) {
    for (const ListedLayer& layer : layers) {
        const std::string path = prefix + layer.name;
        if (layer.fitted)
            for (const WeightedPart& part : layer.fitted->parts)
                modules.push_back({part.name.empty() ? path : path + "." + part.name, part.parameters, part.buffer_bytes});
        add_modules(layer.layers, path + ".", modules);
        add_modules(layer.shortcut, path + ".shortcut.", modules);
    }
}

constexpr std::uint64_t float_bytes = 4, training_copies = 4;

}  // namespace

std::uint64_t training_bytes(const LayerRow& row) {
    return static_cast<std::uint64_t>(row.parameters) * float_bytes * training_copies + static_cast<std::uint64_t>(row.buffer_bytes);
}

LayerSums sums_of(const std::vector<LayerRow>& rows) {
    LayerSums sums;
    for (const LayerRow& row : rows) {
        sums.parameters += row.parameters;
        sums.multiply_adds += row.multiply_adds;
        sums.training_bytes += training_bytes(row);
    }
    return sums;
}

std::vector<LayerRow> layer_rows(const FittedList& fitted) {
    std::vector<LayerRow> rows;
    add_rows(fitted.list.layers, "", 0, fitted, rows);
    return rows;
}

std::vector<ModuleSize> module_sizes(const LayerList& fitted) {
    std::vector<ModuleSize> modules;
    add_modules(fitted.layers, "", modules);
    return modules;
}

}  // namespace mantissa::layers
