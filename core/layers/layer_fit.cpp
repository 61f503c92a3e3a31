#include "layers/layer_fit.h"

#include <algorithm>

#include "base/numbers.h"
#include "layers/layer_kinds.h"
#include "layers/layer_shapes.h"

namespace mantissa::layers {
namespace {

std::string titled(const ListedLayer& layer) {
    return layer.place + " " + entry_of(layer.kind).id;
}

class Walk {
  public:
    Walk(FittedList& fitted, std::int64_t classes) : m_fitted(fitted), m_classes(classes) {}

    /// The sizes behind the last layer; stops at a problem.
    Shape chain(std::vector<ListedLayer>& layers, Shape shape, std::string giver) {
        for (ListedLayer& layer : layers) {
            shape = one(layer, shape, giver);
            if (m_fitted.problem) return {};
            giver = titled(layer);
        }
        return shape;
    }
    [[nodiscard]] std::int64_t parameters() const { return m_parameters; }

  private:
    Shape one(ListedLayer& layer, const Shape& input, const std::string& giver) {
        if (layer.layers.empty()) {
            if (const auto done = fit_layer(layer, input, giver, m_classes); !done) return refused(layer, done.error());
            m_parameters += layer.fitted->parameters();
            if (m_parameters > most_parameters)
                return refused(layer,
                               {ErrorCode::BadPlan, titled(layer) + ": the model has more than " + readable_count(most_parameters) + " weights here",
                                "use smaller sizes"});
            return layer.fitted->output;
        }
        const Shape output = chain(layer.layers, input, giver);
        if (m_fitted.problem) return {};
        if (layer.kind == LayerKind::Residual) {
            const Shape beside = layer.shortcut.empty() ? input : chain(layer.shortcut, input, giver);
            if (m_fitted.problem) return {};
            if (beside != output)
                return refused(layer, {ErrorCode::BadPlan,
                                       titled(layer) + ": its layers give " + shape_text(output) + ", " +
                                           (layer.shortcut.empty() ? "its input is " : "its shortcut gives ") + shape_text(beside) +
                                           ", and only equal sizes can be added",
                                       layer.shortcut.empty()
                                           ? R"(let its layers keep the sizes, or give it a shortcut: {"residual": {"layers": […], "shortcut": […]}})"
                                           : "let both give the same sizes"});
        }
        layer.fitted = LayerSizes{input, output, {}, 0};
        return output;
    }

    Shape refused(const ListedLayer& layer, const Error& error) {
        m_fitted.problem = error;
        m_fitted.problem_place = layer.place;
        return {};
    }

    FittedList& m_fitted;
    std::int64_t m_classes, m_parameters = 0;
};

std::optional<Error> input_problem(const LayerList& list, const SampleForm& sample) {
    if (list.input.empty() || product(list.input) == product(sample.sizes)) return {};
    return Error{ErrorCode::BadPlan,
                 "input is " + shape_text(list.input) + ", " + readable_count(product(list.input)) + " values, but a sample of " + sample.name +
                     " has " + readable_count(product(sample.sizes)),
                 "say the form of its samples, or drop input"};
}

/// What a loss needs of the last layer; empty: it gets it.
std::string output_problem(const Shape& output, const SampleForm& sample) {
    const std::string classes = sample.name + " has " + std::to_string(sample.classes) + " classes";
    switch (sample.target) {
        case SampleForm::Target::Class:
            return output.size() == 1 && output.front() >= sample.classes ? "" : classes + ", each with a number of its own";
        case SampleForm::Target::Value:
            return output == Shape{1} ? "" : "the labels of " + sample.name + " are values, one a sample";
        case SampleForm::Target::EachPiece:
            return output.size() == 2 && output.front() == product(sample.sizes) && output.back() >= sample.classes
                       ? ""
                       : classes + " for each of the " + std::to_string(product(sample.sizes)) + " pieces";
    }
    return {};
}

const char* way_out(SampleForm::Target target) {
    return target == SampleForm::Target::EachPiece ? R"(end it with {"linear": "classes"} over pieces × features)"
                                                   : R"(end it with "flatten" or "mean_tokens" and {"linear": "classes"})";
}

}  // namespace

FittedList fit(LayerList list, const SampleForm& sample) {
    FittedList fitted{std::move(list), {}, {}};
    fitted.problem = input_problem(fitted.list, sample);
    if (fitted.problem) return fitted;
    Walk walk(fitted, sample.classes);
    const bool is_told = !fitted.list.input.empty();
    const Shape output = walk.chain(fitted.list.layers, is_told ? fitted.list.input : sample.sizes, is_told ? "input" : "a sample of " + sample.name);
    if (fitted.problem) return fitted;
    const ListedLayer& last = fitted.list.layers.back();
    const auto at_the_end = [&](const std::string& problem, const std::string& hint) {
        fitted.problem = Error{ErrorCode::BadPlan, titled(last) + ": " + problem, hint};
        fitted.problem_place = last.place;
    };
    if (const std::string problem = output_problem(output, sample); !problem.empty())
        at_the_end("the list ends with " + shape_text(output) + " for a sample, but " + problem, way_out(sample.target));
    else if (walk.parameters() == 0)
        at_the_end("no layer of the list has weights, so nothing can be trained", R"(add {"linear": "classes"})");
    return fitted;
}

}  // namespace mantissa::layers
