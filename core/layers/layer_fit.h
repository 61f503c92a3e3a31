#pragma once
// A layer list fitted to the samples of a data set: the sizes of every layer, up to the one that doesn't fit.
#include <optional>
#include <string>

#include "base/result.h"
#include "layers/layer_list.h"

namespace mantissa::layers {

struct SampleForm {
    enum class Target { Class, Value, EachPiece };  // EachPiece: of a text every piece has a class, the next piece

    std::string name;  // of the data set, for sentences
    Shape sizes;
    std::int64_t classes = 0;  // 1 for a value
    Target target = Target::Class;
};

/// Layers before `problem_place` are fitted.
struct FittedList {
    LayerList list;
    std::optional<Error> problem;  // BadPlan
    std::string problem_place;     // "layers[3].residual[0]"; empty: no layer's
};

[[nodiscard]] FittedList fit(LayerList list, const SampleForm& sample);

}  // namespace mantissa::layers
