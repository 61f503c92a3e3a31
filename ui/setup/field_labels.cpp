#include "ui/setup/field_labels.h"

#include <QCoreApplication>
#include <map>

namespace mantissa::ui {
namespace {

#define LABEL(text) QT_TRANSLATE_NOOP("PlanField", text)

const std::map<std::string, const char*>& labels() {
    static const std::map<std::string, const char*> table{
        {"name", LABEL("Name")},
        {"model.name", LABEL("Model")},
        {"model.hidden", LABEL("Hidden width")},
        {"dataset.name", LABEL("Data")},
        {"dataset.file", LABEL("Data file")},
        {"dataset.validation", LABEL("Held out for validation")},
        {"dataset.split_seed", LABEL("Seed of the split")},
        {"device", LABEL("Device")},
        {"mixed_precision", LABEL("Precision")},
        {"modes", LABEL("Modes")},
        {"launch.scope", LABEL("Runs in")},
        {"launch.threads", LABEL("Threads per worker")},
        {"launch.order", LABEL("Order of the runs")},
        {"training.batch_size", LABEL("Batch size")},
        {"training.epochs", LABEL("Epochs")},
        {"training.max_steps", LABEL("Steps")},
        {"training.gradient_accumulation_steps", LABEL("Micro-batches per step")},
        {"training.optimizer.name", LABEL("Optimizer")},
        {"training.optimizer.implementation", LABEL("Implementation")},
        {"training.optimizer.learning_rate", LABEL("Learning rate")},
        {"training.optimizer.weight_decay", LABEL("Weight decay")},
        {"training.optimizer.momentum", LABEL("Momentum")},
        {"training.optimizer.dampening", LABEL("Dampening")},
        {"training.optimizer.nesterov", LABEL("Nesterov")},
        {"training.optimizer.beta1", LABEL("Beta 1")},
        {"training.optimizer.beta2", LABEL("Beta 2")},
        {"training.optimizer.eps", LABEL("Epsilon")},
        {"training.optimizer.amsgrad", LABEL("AMSGrad")},
        {"training.optimizer.maximize", LABEL("Maximize")},
        {"training.scheduler.name", LABEL("Schedule")},
        {"training.scheduler.step_size", LABEL("Steps between drops")},
        {"training.scheduler.gamma", LABEL("Factor of a drop")},
        {"training.scheduler.start_factor", LABEL("Factor at the start")},
        {"training.scheduler.end_factor", LABEL("Factor at the end")},
        {"training.scheduler.total_iters", LABEL("Steps to the end factor")},
        {"training.scheduler.t_max", LABEL("Steps of half a wave")},
        {"training.scheduler.eta_min", LABEL("Lowest learning rate")},
        {"training.scheduler.max_lr", LABEL("Highest learning rate")},
        {"training.scheduler.total_steps", LABEL("Length of the cycle")},
        {"training.scheduler.pct_start", LABEL("Share that rises")},
        {"training.scheduler.div_factor", LABEL("Highest / first rate")},
        {"training.scheduler.final_div_factor", LABEL("First / last rate")},
        {"training.scheduler.anneal_strategy", LABEL("Form of the cycle")},
        {"training.scheduler.cycle_momentum", LABEL("Cycle the momentum")},
        {"training.scheduler.three_phase", LABEL("Three phases")},
        {"training.scheduler.base_momentum", LABEL("Lowest momentum")},
        {"training.scheduler.max_momentum", LABEL("Highest momentum")},
        {"training.loss", LABEL("Loss")},
        {"training.loss_factor", LABEL("Loss factor")},
        {"training.clip_grad_norm", LABEL("Clip gradient norm")},
        {"training.clip_grad_value", LABEL("Clip gradient values")},
        {"training.seed", LABEL("Seed")},
        {"training.deterministic", LABEL("Deterministic algorithms only")},
        {"loss_scale.initial", LABEL("Initial scale")},
        {"loss_scale.growth_factor", LABEL("Growth factor")},
        {"loss_scale.backoff_factor", LABEL("Back-off factor")},
        {"loss_scale.growth_interval", LABEL("Growth interval")},
        {"loss_scale.floor", LABEL("Floor")},
        {"evaluation.every", LABEL("Evaluate every (steps)")},
        {"evaluation.split", LABEL("Evaluated data")},
        {"evaluation.metric", LABEL("Metric")},
        {"evaluation.precision", LABEL("Evaluation precision")},
        {"fp32_islands", LABEL("Modules kept in fp32")},
        {"on_nonfinite", LABEL("On a non-finite value")},
        {"allow_emulated", LABEL("Allow emulated modes")},
        {"cpu_half", LABEL("Half kernels on a CPU")},
        {"batch_norm_on_skip", LABEL("Batch-norm statistics after a skip")},
        {"short_window", LABEL("Short last window")},
        {"compat", LABEL("Compatibility")},
    };
    return table;
}

const std::map<std::string, const char*>& choices() {
    static const std::map<std::string, const char*> table{
        {"on_nonfinite=stop", LABEL("stop – before any weight moves")},
        {"on_nonfinite=pause", LABEL("pause – and wait for you")},
        {"on_nonfinite=skip", LABEL("skip – leave this update out")},
        {"on_nonfinite=mark", LABEL("mark – go on as Accelerate would")},
        {"batch_norm_on_skip=restore", LABEL("restore – as before the skipped step")},
        {"batch_norm_on_skip=keep", LABEL("keep – as Accelerate does")},
        {"launch.order=turns", LABEL("turns – one computes at a time")},
        {"launch.order=one-by-one", LABEL("one by one – a whole run after the other")},
        {"launch.order=at-once", LABEL("at once – times are shared")},
        {"training.optimizer.implementation=exact", LABEL("exact – Python's bits")},
        {"training.optimizer.implementation=fused", LABEL("fused – faster")},
        {"evaluation.precision=fp32", LABEL("fp32 – outside autocast")},
        {"evaluation.precision=autocast", LABEL("autocast – in the mode of the run")},
        {"evaluation.precision=both", LABEL("both")},
        {"compat=none", LABEL("none")},
        {"compat=accelerate", LABEL("accelerate – repeat it to the bit")},
        {"short_window=right_sized", LABEL("right-sized – mean over what is there")},
        {"short_window=upstream", LABEL("upstream – as Accelerate divides")},
    };
    return table;
}

QString translated(const char* text) {
    return QCoreApplication::translate("PlanField", text);
}

}  // namespace

QString labelOf(const std::string& path) {
    const auto found = labels().find(path);
    return found == labels().end() ? QString::fromStdString(path) : translated(found->second);
}

QString choiceLabel(const std::string& path, const std::string& choice) {
    const auto found = choices().find(path + "=" + choice);
    return found == choices().end() ? QString::fromStdString(choice) : translated(found->second);
}

}  // namespace mantissa::ui
