#include "plan/catalogue.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace mantissa::catalogue {
namespace {

using Json = nlohmann::json;

template <typename Entry>
std::vector<std::string> ids_of(const std::vector<Entry>& entries) {
    std::vector<std::string> ids;
    for (const Entry& entry : entries) ids.push_back(entry.id);
    return ids;
}

template <typename Entry>
const Entry* find(const std::vector<Entry>& entries, std::string_view id) {
    for (const Entry& entry : entries)
        if (entry.id == id) return &entry;
    return nullptr;
}

std::vector<std::string> prefixed(const char* prefix, std::initializer_list<const char*> names) {
    std::vector<std::string> paths;
    for (const char* name : names) paths.push_back(std::string(prefix) + name);
    return paths;
}

Json choices_to_json(const std::vector<ChoiceEntry>& entries) {
    Json list = Json::array();
    for (const ChoiceEntry& entry : entries)
        list.push_back({{"id", entry.id},
                        {"title", entry.title},
                        {"description", entry.description},
                        {"fields", entry.fields}});
    return list;
}

}  // namespace

const std::vector<ModelEntry>& models() {
    // Rows of numbers: all but the text, whose model begins with an embedding.
    const std::vector<std::string> all{"digits", "breast-cancer", "article-1", "article-2", "fashion-mnist-part", "fashion-mnist"};
    static const std::vector<ModelEntry> entries{
        {"mlp",
         "Perceptron",
         "One hidden layer with ReLU; the 8-16-2 network of the first article at width 16.",
         {"model.hidden"},
         all,
         "linear F-H, relu, linear H-C",
         {"hidden", "relu", "head"}},
        {"cnn",
         "Small convolutional network",
         "Two convolutions with batch norm between; takes the 8×8 images of digits.",
         {},
         {"digits"},
         "unflatten 1×8×8, conv 1-8, relu, max pool 2, conv 8-16, batch norm, relu, max pool 2, flatten, "
         "linear 64-C",
         {"image", "conv1", "relu1", "pool1", "conv2", "norm", "relu2", "pool2", "flat", "head"}},
        {"linear",
         "One linear layer",
         "Logistic regression; the model of the second article.",
         {},
         all,
         "linear F-C",
         {"head"}},
        {"squares",
         "Squared features",
         "A hidden layer whose outputs are squared: large inputs leave the range of fp16 in the forward "
         "pass.",
         {"model.hidden"},
         all,
         "linear F-H, square, linear H-C",
         {"hidden", "square", "head"}},
        {"bright",
         "Bright images",
         "Pixels times 1,600 before two hidden layers, 16 outputs: fp8 takes all of its layers, and without a scale for each "
         "tensor it would overflow at once; takes the images of digits.",
         {"model.hidden"},
         {"digits"},
         "1,600 · inputs, linear F-H, relu, linear H-H, relu, linear H-16",
         {"bright", "hidden1", "relu1", "hidden2", "relu2", "head"}},
        {"gated",
         "Gated product",
         "A product of two branches that grows while training, until fp16 can't hold it; takes the images of "
         "digits.",
         {},
         {"digits"},
         "h = 300·linear F-64; linear 64-256(h) · relu(linear 64-256(h)); linear 256-64; layer norm of the "
         "sum with h; "
         "linear 64-C",
         {"inlet", "gate", "gate.value", "gate.opening", "gate.down", "norm", "head"}}};
    return entries;
}

const std::vector<DatasetEntry>& datasets() {
    static const char* const fashion_mnist = "Xiao, H., Rasul, K. & Vollgraf, R. (2017). Fashion-MNIST. Zalando SE, https://github.com/zalandoresearch/fashion-mnist";
    static const std::vector<DatasetEntry> entries{
        {"digits", "Handwritten digits", "8×8 grey images of handwritten digits, values 0 to 1.", 1797, 64,
         10, "digits.csv.gz", "CC BY 4.0",
         "Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits. UCI Machine Learning "
         "Repository, "
         "https://doi.org/10.24432/C50P49",
         true},
        {"breast-cancer", "Breast cancer, raw features",
         "30 measurements of cell nuclei, not normalised (up to 4,254); classes malignant and benign.", 569,
         30, 2, "breast_cancer.csv", "CC BY 4.0",
         "Wolberg, W., Mangasarian, O., Street, N. & Street, W. (1993). Breast Cancer Wisconsin "
         "(Diagnostic). UCI Machine "
         "Learning Repository, https://doi.org/10.24432/C5DW2B",
         true},
        {"article-1", "Random classes of the first article",
         "64 samples of 8 normal features with random labels, seed 1.", 64, 8, 2, "", "made by a formula",
         "the article on one entrance for device and precision", true},
        {"article-2", "Random classes of the second article",
         "32 samples of 8 normal features with random labels, seed 17.", 32, 8, 2, "", "made by a formula",
         "the article on choosing fp16 or bf16", true},
        {"fashion-mnist-part", "Pictures of clothes, a part", "The first 6,000 of the 10,000 test images of Fashion-MNIST: 28×28 grey pixels, values 0 to 1.", 6000, 784, 10,
         "fashion_mnist_part_images.gz", "MIT", fashion_mnist, true},
        {"fashion-mnist", "Pictures of clothes", "The 60,000 training images of Fashion-MNIST: 28×28 grey pixels, values 0 to 1; read from Debian's package.", 60000, 784, 10,
         "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz", "MIT", fashion_mnist, true, "dataset-fashion-mnist"},
        {"constitution", "A text", "Declaration of Independence and Constitution of the United States, in samples of 64 characters; for models that begin with an embedding.", 854, 64, 74,
         "constitution.txt", "public domain", "Congress of the United States, 1776 to 1992", true}};
    return entries;
}

const std::vector<ChoiceEntry>& losses() {
    static const std::vector<ChoiceEntry> entries{
        {"cross_entropy", "Cross entropy", "log-softmax and negative log likelihood in one step", {}},
        {"bce_with_logits", "Binary cross entropy", "of each output against its one-hot label, sigmoid and logarithm in one step", {}},
        {"mse", "Mean squared error", "of the outputs against one-hot labels", {}},
        {"l1", "Mean absolute error", "of the outputs against one-hot labels", {}},
        {"huber", "Huber loss", "squared below a distance of 1 from the one-hot labels, absolute above", {}},
        {"naive_nll",
         "Naive negative log likelihood",
         "−log(softmax): breaks when a probability reaches 0, to show why the fused form exists",
         {}}};
    return entries;
}

const std::vector<ChoiceEntry>& metrics() {
    static const std::vector<ChoiceEntry> entries{
        {"accuracy", "Accuracy", "share of samples classified right", {}},
        {"loss", "Loss", "mean loss", {}},
        {"mae", "Mean absolute error", "of a regression; not built yet", {}},
        {"perplexity", "Perplexity", "of a language model; not built yet", {}}};
    return entries;
}

const std::vector<ChoiceEntry>& optimizers() {
    const char* prefix = "training.optimizer.";
    const auto adam = prefixed(prefix, {"implementation", "learning_rate", "weight_decay", "beta1", "beta2",
                                        "eps", "amsgrad", "maximize", "no_decay_on_norms_and_biases"});
    static const std::vector<ChoiceEntry> entries{
        {"sgd", "SGD", "stochastic gradient descent with momentum",
         prefixed(prefix, {"implementation", "learning_rate", "weight_decay", "momentum", "dampening",
                           "nesterov", "maximize", "no_decay_on_norms_and_biases"})},
        {"adam", "Adam", "adaptive moments; weight decay joins the gradient", adam},
        {"adamw", "AdamW", "adaptive moments; weight decay acts on the weights", adam}};
    return entries;
}

const std::vector<ChoiceEntry>& schedulers() {
    const char* prefix = "training.scheduler.";
    static const std::vector<ChoiceEntry> entries{
        {"constant", "Constant", "the learning rate stays", {}},
        {"step", "Step", "multiplied by gamma every step_size applied steps (StepLR)",
         prefixed(prefix, {"step_size", "gamma"})},
        {"linear", "Linear", "from start_factor to end_factor over total_iters applied steps (LinearLR)",
         prefixed(prefix, {"start_factor", "end_factor", "total_iters"})},
        {"cosine", "Cosine", "down to eta_min along half a cosine of t_max applied steps (CosineAnnealingLR)",
         prefixed(prefix, {"t_max", "eta_min"})},
        {"one_cycle", "One cycle",
         "up to max_lr and down again, with the momentum moving against it (OneCycleLR)",
         prefixed(prefix,
                  {"max_lr", "total_steps", "pct_start", "div_factor", "final_div_factor", "anneal_strategy",
                   "cycle_momentum", "three_phase", "base_momentum", "max_momentum"})},
        {"constant_with_warmup", "Constant after a warm-up",
         "from 0 up to the learning rate over warmup_steps applied steps, then constant",
         prefixed(prefix, {"warmup_steps"})},
        {"linear_with_warmup", "Linear after a warm-up",
         "from 0 up to the learning rate over warmup_steps applied steps, then straight down to 0",
         prefixed(prefix, {"warmup_steps", "total_steps"})},
        {"cosine_with_warmup", "Cosine after a warm-up",
         "from 0 up to the learning rate over warmup_steps applied steps, then down along num_cycles waves",
         prefixed(prefix, {"warmup_steps", "total_steps", "num_cycles"})}};
    return entries;
}

const ModelEntry* find_model(std::string_view id) {
    return find(models(), id);
}
const DatasetEntry* find_dataset(std::string_view id) {
    return find(datasets(), id);
}
std::vector<std::string> model_ids() {
    return ids_of(models());
}
std::vector<std::string> dataset_ids() {
    return ids_of(datasets());
}
std::vector<std::string> loss_ids() {
    return ids_of(losses());
}
std::vector<std::string> metric_ids() {
    return ids_of(metrics());
}
std::vector<std::string> optimizer_ids() {
    return ids_of(optimizers());
}
std::vector<std::string> scheduler_ids() {
    return ids_of(schedulers());
}

std::int64_t held_out_samples(std::int64_t samples, double share) {
    // A share such as 0.1 of 10 is 1.0000000000000002 in floating point: it must not hold out a second
    // sample.
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(samples) * share - 1e-9));
}

nlohmann::json models_to_json() {
    Json list = Json::array();
    for (const ModelEntry& entry : models())
        list.push_back({{"id", entry.id},
                        {"title", entry.title},
                        {"description", entry.description},
                        {"layers", entry.layers},
                        {"fields", entry.fields},
                        {"datasets", entry.datasets},
                        {"modules", entry.modules}});
    return {{"models", list},
            {"losses", choices_to_json(losses())},
            {"metrics", choices_to_json(metrics())},
            {"optimizers", choices_to_json(optimizers())},
            {"schedulers", choices_to_json(schedulers())}};
}

nlohmann::json datasets_to_json() {
    Json list = Json::array();
    for (const DatasetEntry& entry : datasets())
        list.push_back({{"id", entry.id},
                        {"title", entry.title},
                        {"description", entry.description},
                        {"samples", entry.samples},
                        {"features", entry.features},
                        {"classes", entry.classes},
                        {"file", entry.file.empty() ? Json(nullptr) : Json(entry.file)},
                        {"licence", entry.licence},
                        {"attribution", entry.attribution}});
    return {{"datasets", list}};
}

}  // namespace mantissa::catalogue
