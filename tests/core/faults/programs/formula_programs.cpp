// Formulas that give out in every precision, and some that only half precision brings to that point.
#include "fault_program.h"

namespace mantissa {
namespace {

using torch::Tensor;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
const std::vector<Precision> all_modes{Precision::No, Precision::Fp16, Precision::Bf16};

using Middle = std::function<Tensor(const Tensor&)>;

/// x·W, then a function between modules, then a head.
std::shared_ptr<FaultNet> ops_with(const Middle& middle, double scale = 0.1) {
    return std::make_shared<OpsNet>(
        std::vector<std::pair<std::string, Tensor>>{{"weight", weights(width, width, scale)}, {"head", weights(width, 2)}},
        [middle](const OpsNet& net, const Tensor& x) { return middle(x.matmul(net["weight"])).matmul(net["head"]); });
}
/// The function on the features themselves.
std::shared_ptr<FaultNet> ops_on_features(const Middle& middle) {
    return std::make_shared<OpsNet>(std::vector<std::pair<std::string, Tensor>>{{"head", weights(width, 2)}},
                                    [middle](const OpsNet& net, const Tensor& x) { return middle(x).matmul(net["head"]); });
}
std::shared_ptr<FaultNet> layers_with(const Middle& middle) {
    torch::nn::Sequential layers;
    layers->push_back(torch::nn::Linear(torch::nn::LinearOptions(width, width).bias(false)));
    layers->push_back(torch::nn::Functional(middle));
    layers->push_back(torch::nn::Linear(width, 2));
    return std::make_shared<LayerNet>(layers);
}
std::shared_ptr<FaultNet> script_with(const std::string& middle) {
    return std::make_shared<ScriptNet>(weights(width, width), "    h = torch.matmul(x, self.weight)\n" + middle,
                                       "    return self.block.forward(x)[:, :2]\n");
}

void zero_row(FaultBatch& batch) { batch.features[3].zero_(); }
void many_times(FaultBatch& batch) { batch.features *= 3000; }
void mask_a_row(FaultBatch& batch) { batch.features[2].fill_(-100); }

FaultProgram program(const std::string& label, const std::string& name, const std::string& form,
                     std::function<std::shared_ptr<FaultNet>()> net, std::function<void(FaultBatch&)> spoil, const std::string& place) {
    return {.label = label, .name = name, .form = form, .net = std::move(net), .loss = cross_entropy, .batch = spoilt(std::move(spoil)),
            .optimizer = plain_sgd, .rate = 1e-6, .looks_at_skips = true, .place = place};
}

Tensor naive_nll(const Tensor& output, const Tensor& labels) {
    return -torch::softmax(output, 1).gather(1, labels.unsqueeze(1)).log().mean();
}

void logarithms(FaultPrograms& to) {
    const Middle nothing = [](const Tensor& h) { return h; };
    FaultProgram naive = program("log_of_zero", "log of a softmax", "ops", [nothing] { return ops_with(nothing, 1); }, many_times, "loss.log");
    naive.loss = naive_nll;
    add_in_modes(to, naive, all_modes);
    naive.form = "layers";
    naive.net = [nothing] { return layers_with(nothing); };
    naive.batch = spoilt([](FaultBatch& batch) { batch.features *= 20000; });
    add_in_modes(to, naive, all_modes);
    const Middle hidden = [](const Tensor& h) { return torch::where(h.abs() > 0, h.abs().log(), torch::zeros_like(h)); };
    add_in_modes(to, program("log_of_zero", "logarithm behind a where", "ops", [hidden] { return ops_with(hidden); }, zero_row, "log"),
                 all_modes);
    add_in_modes(to, program("log_of_zero", "log of a sigmoid", "script", [] {
        return script_with("    return torch.log(torch.sigmoid(h))\n");
    }, many_times, "block.log"), all_modes);
    const Middle half_only = [](const Tensor& h) { return torch::sigmoid(h).log(); };
    FaultProgram small = program("log_of_zero", "probability below fp16", "ops", [half_only] { return ops_with(half_only); },
                                 [](FaultBatch& batch) { batch.features *= 80; }, "log");
    add_in_modes(to, small, {Precision::Fp16});
}

void quotients(FaultPrograms& to) {
    const Middle share = [](const Tensor& x) { return x / x.abs().sum(1, true); };
    add_in_modes(to, program("zero_over_zero", "share of a row of zeros", "ops", [share] { return ops_on_features(share); }, zero_row, "div"),
                 all_modes);
    add_in_modes(to, program("zero_over_zero", "share of a row of zeros", "layers", [share] { return layers_with(share); }, zero_row, "div"),
                 all_modes);
    add_in_modes(to, program("zero_over_zero", "share of a row of zeros", "script", [] {
        return script_with("    return h / h.abs().sum(1, True)\n");
    }, zero_row, "block.div"), all_modes);
    FaultProgram ignored = program("zero_over_zero", "labels that are all to be left out", "ops",
                                   [] { return ops_with([](const Tensor& h) { return h; }); },
                                   [](FaultBatch& batch) { batch.labels.fill_(-100); }, "loss.cross_entropy_loss");
    add_in_modes(to, ignored, all_modes);
    const Middle squares = [](const Tensor& h) {
        const Tensor y = h * 1e-2;
        return y * y / (y * y).sum(1, true);
    };
    add_in_modes(to, program("zero_over_zero", "squares below fp16", "ops", [squares] { return ops_with(squares, 1); },
                             [](FaultBatch& batch) { batch.features *= 1e-4; }, "div"), {Precision::Fp16});
}

void infinities(FaultPrograms& to) {
    const Middle by_hand = [](const Tensor& x) {
        const Tensor masked = x.masked_fill(x < -50, -infinity);
        const Tensor shifted = (masked - masked.amax(1, true)).exp();
        return shifted / shifted.sum(1, true);
    };
    add_in_modes(to, program("inf_minus_inf", "softmax by hand, a row masked", "ops", [by_hand] { return ops_on_features(by_hand); },
                             mask_a_row, "sub"), all_modes);
    add_in_modes(to, program("inf_minus_inf", "mask that is multiplied by −Inf", "layers", [] {
        return layers_with([](const Tensor& h) { return torch::softmax(h + (h > 1e6).to(torch::kFloat) * -infinity, 1); });
    }, mask_a_row, "mul"), all_modes);
    const Middle softmax = [](const Tensor& x) { return torch::softmax(x.masked_fill(x < -50, -infinity), 1); };
    add_in_modes(to, program("masked_row", "softmax of a masked row", "ops", [softmax] { return ops_on_features(softmax); }, mask_a_row,
                             "softmax"), all_modes);
    add_in_modes(to, program("masked_row", "softmax of a masked row", "script", [] {
        return std::make_shared<ScriptNet>(weights(width, 2),
                                           "    y = torch.softmax(x.masked_fill(x < -50.0, float('-inf')), 1)\n"
                                           "    return torch.matmul(y, self.weight)\n",
                                           "    return self.block.forward(x)\n");
    }, mask_a_row, "block.softmax"), all_modes);
    const Middle additive = [](const Tensor& x) {
        return torch::log_softmax(x + torch::zeros_like(x).masked_fill(x < -50, -infinity), 1).clamp_min(-20);
    };
    add_in_modes(to, program("masked_row", "mask that is added before a log softmax", "layers", [additive] {
        return std::make_shared<LayerNet>(torch::nn::Sequential(torch::nn::Functional(additive), torch::nn::Linear(width, 2)));
    }, mask_a_row, "log_softmax"), all_modes);
}

/// torch's own attention over the batch as one sequence; samples of padding are no keys.
struct PaddedAttention : FaultNet {
    torch::nn::MultiheadAttention attention{torch::nn::MultiheadAttentionOptions(width, 2)};
    torch::nn::Linear head{width, 2};
    PaddedAttention() {
        register_module("attention", attention);
        register_module("head", head);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor sequence = x.unsqueeze(1), is_padding = (x < -50).all(1).unsqueeze(0);
        return head(std::get<0>(attention(sequence, sequence, sequence, is_padding)).squeeze(1));
    }
};

void attentions(FaultPrograms& to) {
    // A query that may look at no key.
    add_in_modes(to, program("masked_row", "attention of a query without keys", "ops", [] {
        return std::make_shared<OpsNet>(
            std::vector<std::pair<std::string, Tensor>>{{"query", weights(width, width)}, {"key", weights(width, width)}, {"value", weights(width, 2)}},
            [](const OpsNet& net, const Tensor& x) {
                const Tensor scores = x.matmul(net["query"]).matmul(x.matmul(net["key"]).t()) / 8;
                return torch::softmax(scores.masked_fill((x < -50).any(1, true), -infinity), 1).matmul(x.matmul(net["value"]));
            });
    }, mask_a_row, "softmax"), all_modes);
    // Its masked_fill has no half kernel in C++.
    add_in_modes(to, program("masked_row", "attention over padding alone", "layers", [] { return std::make_shared<PaddedAttention>(); },
                             [](FaultBatch& batch) { batch.features.fill_(-100); }, "softmax"), {Precision::No});
    add_in_modes(to, program("masked_row", "attention of a query without keys", "script", [] {
        return std::make_shared<ScriptNet>(weights(width, width),
                                           "    q = torch.matmul(x, self.weight)\n"
                                           "    mask = torch.zeros_like(x[:, :1]).masked_fill(x[:, :1] < -50.0, float('-inf'))\n"
                                           "    return torch.matmul(torch.softmax(torch.matmul(q, q.t()) / 8.0 + mask, 1), q)\n",
                                           "    return self.block.forward(x)[:, :2]\n");
    }, mask_a_row, "block.softmax"), all_modes);
    // The mean over what a mask keeps, when it keeps nothing, isn't a softmax: 0 / 0.
    const Middle mean = [](const Tensor& x) {
        const Tensor kept = (x > -50).to(torch::kFloat);
        return x * 0.1 + (x * kept).sum(1, true) / kept.sum(1, true);
    };
    add_in_modes(to, program("zero_over_zero", "mean over a mask that keeps nothing", "ops", [mean] { return ops_on_features(mean); }, mask_a_row,
                             "div"), all_modes);
    add_in_modes(to, program("zero_over_zero", "mean over a mask that keeps nothing", "script", [] {
        return std::make_shared<ScriptNet>(weights(width, 2),
                                           "    kept = (x > -50.0).float()\n"
                                           "    mean = (x * kept).sum(1, True) / kept.sum(1, True)\n"
                                           "    return torch.matmul(x * 0.1 + mean, self.weight)\n",
                                           "    return self.block.forward(x)\n");
    }, mask_a_row, "block.div"), all_modes);
}

void roots(FaultPrograms& to) {
    const Middle norm = [](const Tensor& h) { return h / (h.square().sum(1, true).sqrt() + 1); };
    add_in_modes(to, program("root_at_zero", "length of a row of zeros", "ops", [norm] { return ops_with(norm); }, zero_row, "sqrt"), all_modes);
    add_in_modes(to, program("root_at_zero", "length of a row of zeros", "layers", [norm] { return layers_with(norm); }, zero_row, "sqrt"),
                 all_modes);
    add_in_modes(to, program("root_at_zero", "root of zero", "script", [] { return script_with("    return torch.sqrt(h.abs())\n"); }, zero_row,
                             "block.sqrt"), all_modes);
}

void batches(FaultPrograms& to) {
    const Middle nothing = [](const Tensor& h) { return h; };
    add_in_modes(to, program("bad_input", "a NaN in the batch", "ops", [nothing] { return ops_with(nothing); },
                             [](FaultBatch& batch) { batch.features[3][2] = not_a_number; }, "features"), all_modes);
    add_in_modes(to, program("bad_input", "an Inf in the batch", "layers", [nothing] { return layers_with(nothing); },
                             [](FaultBatch& batch) { batch.features[3][2] = infinity; }, "features"), all_modes);
    add_in_modes(to, program("bad_input", "a NaN in the batch", "script", [] { return script_with("    return h\n"); },
                             [](FaultBatch& batch) { batch.features[0][0] = not_a_number; }, "features"), all_modes);
    const Middle square = [](const Tensor& h) { return h * h; };
    add_in_modes(to, program("not_precision", "values of 1e30, squared", "ops", [square] { return ops_with(square); },
                             [](FaultBatch& batch) { batch.features *= 1e30; }, ""), all_modes);
    add_in_modes(to, program("not_precision", "angle of a cosine above one", "layers", [] {
        return layers_with([](const Tensor& h) { return torch::acos(h.clamp_max(100) * 0.05); });
    }, many_times, "acos"), all_modes);
}

}  // namespace

FaultPrograms formula_programs() {
    FaultPrograms programs;
    for (const auto add : {logarithms, quotients, infinities, attentions, roots, batches}) add(programs);
    return programs;
}

// The control takes in the NaN of a gradient and is lost; the scaler of fp16 skips that step and goes on.
FaultPrograms survivors() {
    const Middle norm = [](const Tensor& h) { return h / (h.square().sum(1, true).sqrt() + 1); };
    FaultPrograms programs{
        program("survived_by_skipping", "length of a row of zeros, marked", "ops", [norm] { return ops_with(norm); }, zero_row, ""),
        program("survived_by_skipping", "length of a row of zeros, marked", "layers", [norm] { return layers_with(norm); }, zero_row, ""),
        program("survived_by_skipping", "root of zero, marked", "script", [] { return script_with("    return torch.sqrt(h.abs())\n"); },
                zero_row, "")};
    for (FaultProgram& one : programs) {
        one.mode = Precision::Fp16;
        one.rule = OnNonfinite::Mark;
        one.max_steps = 30;
    }
    return programs;
}

}  // namespace mantissa
