#include "models/losses.h"

#include "engine/safe_ops.h"

namespace mantissa {
namespace {

using torch::Tensor;

// Tokens of all samples are as many samples of one.
Tensor rows(const Tensor& output) { return output.dim() > 2 ? output.flatten(0, -2) : output; }

Tensor cross_entropy(const Tensor& output, const Tensor& labels) { return safe::cross_entropy(rows(output), labels.flatten()); }

// What each output should be: the value itself, or 1 for the label's output and 0 for the others.
Tensor targets(const Tensor& output, const Tensor& labels) {
    if (labels.is_floating_point()) return labels.view_as(output);
    return torch::one_hot(labels, output.size(-1)).to(torch::kFloat);
}

Tensor mse(const Tensor& output, const Tensor& labels) { return safe::mse_loss(output, targets(output, labels)); }

Tensor l1(const Tensor& output, const Tensor& labels) { return safe::l1_loss(output, targets(output, labels)); }

Tensor huber(const Tensor& output, const Tensor& labels) { return safe::huber_loss(output, targets(output, labels)); }

Tensor bce_with_logits(const Tensor& output, const Tensor& labels) {
    return safe::binary_cross_entropy_with_logits(output, targets(output, labels));
}

// -log(p) of the label's probability, written out: goes to infinity where cross_entropy doesn't. It is here to
// be watched, not to be used. Only the label's probability passes the logarithm: of the others 0 is harmless.
Tensor naive_nll(const Tensor& output, const Tensor& labels) {
    return -torch::log(torch::softmax(rows(output), 1).gather(1, labels.flatten().unsqueeze(1))).mean();
}

struct LossEntry {
    const char* id;
    Tensor (*function)(const Tensor& output, const Tensor& labels);
};
constexpr LossEntry losses[] = {{"cross_entropy", cross_entropy}, {"bce_with_logits", bce_with_logits}, {"mse", mse}, {"l1", l1}, {"huber", huber}, {"naive_nll", naive_nll}};

}  // namespace

std::vector<std::string> registered_losses() {
    std::vector<std::string> ids;
    for (const LossEntry& entry : losses) ids.emplace_back(entry.id);
    return ids;
}

Result<LossFunction> find_loss(const std::string& id) {
    std::string known;
    for (const LossEntry& entry : losses) {
        if (id == entry.id) return LossFunction(entry.function);
        known += (known.empty() ? "" : ", ") + std::string(entry.id);
    }
    return Error{ErrorCode::BadPlan, "training.loss is \"" + id + "\", which is no loss of the catalogue",
                 "one of " + known};
}

}  // namespace mantissa
