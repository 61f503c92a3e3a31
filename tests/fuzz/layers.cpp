// A layer list: reading it, and fitting it to samples of three forms. What is fitted has sizes that were counted without overflow.
#include <array>
#include <cstdlib>
#include <string_view>

#include "layers/layer_fit.h"
#include "layers/layer_json.h"
#include "layers/layer_rows.h"
#include "layers/layer_shapes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mantissa;
    const auto list = layers::parse_layer_list({reinterpret_cast<const char*>(data), size}, "net");
    if (!list) {
        if (list.error().message.empty()) std::abort();
        return 0;
    }
    const std::array<layers::SampleForm, 3> samples{{{"rows", {64}, 10, layers::SampleForm::Target::Class},
                                                     {"pictures", {3, 32, 32}, 1, layers::SampleForm::Target::Value},
                                                     {"text", {16}, 70, layers::SampleForm::Target::EachPiece}}};
    for (const layers::SampleForm& sample : samples) {
        const layers::FittedList fitted = layers::fit(*list, sample);
        for (const layers::LayerRow& row : layers::layer_rows(fitted))
            if (row.parameters < 0 || row.parameters > layers::most_parameters || row.multiply_adds < 0 || row.text.empty()) std::abort();
        if (layers::module_sizes(fitted.list).size() > 2 * layers::most_layers) std::abort();
    }
    return 0;
}
