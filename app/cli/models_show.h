#pragma once
namespace CLI {
class App;
}

namespace mantissa::cli {

/// `mantissa models show FILE`: the layers of a list with their sizes.
void add_models_show(CLI::App& models, int& result);
/// The layer lists that come with the program; 0 or the exit code of what is wrong with one.
int print_layer_presets();

}  // namespace mantissa::cli
