#include "ui/setup/field_labels.h"

#include <QCoreApplication>
#include <map>

#include "plan/catalogue.h"

namespace mantissa::ui {
namespace {

const std::map<std::string, const char*>& labels() {
    static const std::map<std::string, const char*> table{
        {"name", QT_TRANSLATE_NOOP("PlanField", "Name")},
        {"model.name", QT_TRANSLATE_NOOP("PlanField", "Model")},
        {"model.file", QT_TRANSLATE_NOOP("PlanField", "Model file")},
        {"model.weights", QT_TRANSLATE_NOOP("PlanField", "Weights to start from")},
        {"model.partial_weights", QT_TRANSLATE_NOOP("PlanField", "Take the weights that fit")},
        {"model.output", QT_TRANSLATE_NOOP("PlanField", "Part of the output")},
        {"model.hidden", QT_TRANSLATE_NOOP("PlanField", "Hidden width")},
        {"dataset.name", QT_TRANSLATE_NOOP("PlanField", "Data")},
        {"dataset.file", QT_TRANSLATE_NOOP("PlanField", "Data file")},
        {"dataset.labels", QT_TRANSLATE_NOOP("PlanField", "Labels of the file")},
        {"dataset.leave_out", QT_TRANSLATE_NOOP("PlanField", "Columns left out")},
        {"dataset.target", QT_TRANSLATE_NOOP("PlanField", "Labels are")},
        {"dataset.header", QT_TRANSLATE_NOOP("PlanField", "Names of columns")},
        {"dataset.missing", QT_TRANSLATE_NOOP("PlanField", "Missing values")},
        {"dataset.context", QT_TRANSLATE_NOOP("PlanField", "Characters of a sample")},
        {"dataset.normalise", QT_TRANSLATE_NOOP("PlanField", "Range of the values")},
        {"dataset.validation", QT_TRANSLATE_NOOP("PlanField", "Held out for validation")},
        {"dataset.split_seed", QT_TRANSLATE_NOOP("PlanField", "Seed of the split")},
        {"device", QT_TRANSLATE_NOOP("PlanField", "Device")},
        {"mixed_precision", QT_TRANSLATE_NOOP("PlanField", "Precision")},
        {"modes", QT_TRANSLATE_NOOP("PlanField", "Modes")},
        {"launch.scope", QT_TRANSLATE_NOOP("PlanField", "Runs in")},
        {"launch.processes", QT_TRANSLATE_NOOP("PlanField", "Processes")},
        {"launch.threads", QT_TRANSLATE_NOOP("PlanField", "Threads per worker")},
        {"launch.sync_batch_norm", QT_TRANSLATE_NOOP("PlanField", "Batch norm over all processes")},
        {"launch.group_timeout_seconds", QT_TRANSLATE_NOOP("PlanField", "Ranks wait at most (s)")},
        {"launch.order", QT_TRANSLATE_NOOP("PlanField", "Order of the runs")},
        {"training.batch_size", QT_TRANSLATE_NOOP("PlanField", "Batch size")},
        {"training.epochs", QT_TRANSLATE_NOOP("PlanField", "Epochs")},
        {"training.max_steps", QT_TRANSLATE_NOOP("PlanField", "Steps")},
        {"training.gradient_accumulation_steps", QT_TRANSLATE_NOOP("PlanField", "Micro-batches per step")},
        {"training.drop_last", QT_TRANSLATE_NOOP("PlanField", "Drop a short last batch")},
        {"training.split_batches", QT_TRANSLATE_NOOP("PlanField", "Ranks divide one batch")},
        {"training.even_batches", QT_TRANSLATE_NOOP("PlanField", "Fill the ranks' last batches")},
        {"training.optimizer.name", QT_TRANSLATE_NOOP("PlanField", "Optimizer")},
        {"training.optimizer.implementation", QT_TRANSLATE_NOOP("PlanField", "Implementation")},
        {"training.optimizer.learning_rate", QT_TRANSLATE_NOOP("PlanField", "Learning rate")},
        {"training.optimizer.weight_decay", QT_TRANSLATE_NOOP("PlanField", "Weight decay")},
        {"training.optimizer.momentum", QT_TRANSLATE_NOOP("PlanField", "Momentum")},
        {"training.optimizer.dampening", QT_TRANSLATE_NOOP("PlanField", "Dampening")},
        {"training.optimizer.nesterov", QT_TRANSLATE_NOOP("PlanField", "Nesterov")},
        {"training.optimizer.beta1", QT_TRANSLATE_NOOP("PlanField", "Beta 1")},
        {"training.optimizer.beta2", QT_TRANSLATE_NOOP("PlanField", "Beta 2")},
        {"training.optimizer.eps", QT_TRANSLATE_NOOP("PlanField", "Epsilon")},
        {"training.optimizer.amsgrad", QT_TRANSLATE_NOOP("PlanField", "AMSGrad")},
        {"training.optimizer.maximize", QT_TRANSLATE_NOOP("PlanField", "Maximize")},
        {"training.optimizer.no_decay_on_norms_and_biases",
         QT_TRANSLATE_NOOP("PlanField", "No decay on norms and biases")},
        {"training.scheduler.name", QT_TRANSLATE_NOOP("PlanField", "Schedule")},
        {"training.scheduler.warmup_steps", QT_TRANSLATE_NOOP("PlanField", "Warm-up steps")},
        {"training.scheduler.step_size", QT_TRANSLATE_NOOP("PlanField", "Steps between drops")},
        {"training.scheduler.gamma", QT_TRANSLATE_NOOP("PlanField", "Factor of a drop")},
        {"training.scheduler.start_factor", QT_TRANSLATE_NOOP("PlanField", "Factor at the start")},
        {"training.scheduler.end_factor", QT_TRANSLATE_NOOP("PlanField", "Factor at the end")},
        {"training.scheduler.total_iters", QT_TRANSLATE_NOOP("PlanField", "Steps to the end factor")},
        {"training.scheduler.t_max", QT_TRANSLATE_NOOP("PlanField", "Steps of half a wave")},
        {"training.scheduler.eta_min", QT_TRANSLATE_NOOP("PlanField", "Lowest learning rate")},
        {"training.scheduler.max_lr", QT_TRANSLATE_NOOP("PlanField", "Highest learning rate")},
        {"training.scheduler.total_steps", QT_TRANSLATE_NOOP("PlanField", "Length of the schedule")},
        {"training.scheduler.pct_start", QT_TRANSLATE_NOOP("PlanField", "Share that rises")},
        {"training.scheduler.div_factor", QT_TRANSLATE_NOOP("PlanField", "Highest / first rate")},
        {"training.scheduler.final_div_factor", QT_TRANSLATE_NOOP("PlanField", "First / last rate")},
        {"training.scheduler.anneal_strategy", QT_TRANSLATE_NOOP("PlanField", "Form of the cycle")},
        {"training.scheduler.cycle_momentum", QT_TRANSLATE_NOOP("PlanField", "Cycle the momentum")},
        {"training.scheduler.three_phase", QT_TRANSLATE_NOOP("PlanField", "Three phases")},
        {"training.scheduler.base_momentum", QT_TRANSLATE_NOOP("PlanField", "Lowest momentum")},
        {"training.scheduler.max_momentum", QT_TRANSLATE_NOOP("PlanField", "Highest momentum")},
        {"training.scheduler.num_cycles", QT_TRANSLATE_NOOP("PlanField", "Waves after the warm-up")},
        {"training.loss", QT_TRANSLATE_NOOP("PlanField", "Loss")},
        {"training.loss_factor", QT_TRANSLATE_NOOP("PlanField", "Loss factor")},
        {"training.clip_grad_norm", QT_TRANSLATE_NOOP("PlanField", "Clip gradient norm")},
        {"training.clip_grad_value", QT_TRANSLATE_NOOP("PlanField", "Clip gradient values")},
        {"training.seed", QT_TRANSLATE_NOOP("PlanField", "Seed")},
        {"training.deterministic", QT_TRANSLATE_NOOP("PlanField", "Deterministic algorithms only")},
        {"loss_scale.initial", QT_TRANSLATE_NOOP("PlanField", "Initial scale")},
        {"loss_scale.growth_factor", QT_TRANSLATE_NOOP("PlanField", "Growth factor")},
        {"loss_scale.backoff_factor", QT_TRANSLATE_NOOP("PlanField", "Back-off factor")},
        {"loss_scale.growth_interval", QT_TRANSLATE_NOOP("PlanField", "Growth interval")},
        {"loss_scale.floor", QT_TRANSLATE_NOOP("PlanField", "Floor")},
        {"evaluation.every", QT_TRANSLATE_NOOP("PlanField", "Evaluate every (steps)")},
        {"evaluation.split", QT_TRANSLATE_NOOP("PlanField", "Evaluated data")},
        {"evaluation.metric", QT_TRANSLATE_NOOP("PlanField", "Metric")},
        {"evaluation.precision", QT_TRANSLATE_NOOP("PlanField", "Evaluation precision")},
        {"fp32_islands", QT_TRANSLATE_NOOP("PlanField", "Modules kept in fp32")},
        {"on_nonfinite", QT_TRANSLATE_NOOP("PlanField", "On a non-finite value")},
        {"allow_emulated", QT_TRANSLATE_NOOP("PlanField", "Allow emulated modes")},
        {"cpu_half", QT_TRANSLATE_NOOP("PlanField", "Half kernels on a CPU")},
        {"tf32", QT_TRANSLATE_NOOP("PlanField", "TF32 on a GPU")},
        {"batch_norm_on_skip", QT_TRANSLATE_NOOP("PlanField", "Batch-norm statistics after a skip")},
        {"short_window", QT_TRANSLATE_NOOP("PlanField", "Short last window")},
        {"compat", QT_TRANSLATE_NOOP("PlanField", "Compatibility")},
        {"observe.level", QT_TRANSLATE_NOOP("PlanField", "Level of watching")},
        {"observe.every_steps", QT_TRANSLATE_NOOP("PlanField", "Tensor records every (steps)")},
        {"observe.local_error_every", QT_TRANSLATE_NOOP("PlanField", "Compared with fp32 every (steps, 0 = never)")},
        {"observe.keep_states", QT_TRANSLATE_NOOP("PlanField", "Keep states for replays")},
        {"observe.keep_states_every", QT_TRANSLATE_NOOP("PlanField", "Steps between kept states")},
        {"observe.keep_states_mib", QT_TRANSLATE_NOOP("PlanField", "Largest kept states (MiB)")},
        {"observe.alarms", QT_TRANSLATE_NOOP("PlanField", "Alarms")},
        {"repetitions.control", QT_TRANSLATE_NOOP("PlanField", "Repetitions of the control")},
        {"repetitions.rounding", QT_TRANSLATE_NOOP("PlanField", "Repetitions off by one last bit")},
        {"checkpoint.every", QT_TRANSLATE_NOOP("PlanField", "Save every (steps)")},
        {"checkpoint.at_end", QT_TRANSLATE_NOOP("PlanField", "Save at the end")},
        {"checkpoint.keep", QT_TRANSLATE_NOOP("PlanField", "Checkpoints kept")},
        {"checkpoint.resume_from", QT_TRANSLATE_NOOP("PlanField", "Go on from")},
    };
    return table;
}

const std::map<std::string, const char*>& choices() {
    static const std::map<std::string, const char*> table{
        {"observe.level=0", QT_TRANSLATE_NOOP("PlanField", "0 – largest values alone")},
        {"observe.level=1", QT_TRANSLATE_NOOP("PlanField", "1 – every tensor, every N steps")},
        {"observe.level=2", QT_TRANSLATE_NOOP("PlanField", "2 – every tensor, every step (slow)")},
        {"on_nonfinite=stop", QT_TRANSLATE_NOOP("PlanField", "stop – before any weight moves")},
        {"on_nonfinite=pause", QT_TRANSLATE_NOOP("PlanField", "pause – and wait for you")},
        {"on_nonfinite=skip", QT_TRANSLATE_NOOP("PlanField", "skip – leave this update out")},
        {"on_nonfinite=mark", QT_TRANSLATE_NOOP("PlanField", "mark – go on as Accelerate would")},
        {"batch_norm_on_skip=restore",
         QT_TRANSLATE_NOOP("PlanField", "restore – as before the skipped step")},
        {"batch_norm_on_skip=keep", QT_TRANSLATE_NOOP("PlanField", "keep – as Accelerate does")},
        {"launch.order=turns", QT_TRANSLATE_NOOP("PlanField", "turns – one computes at a time")},
        {"launch.order=one-by-one",
         QT_TRANSLATE_NOOP("PlanField", "one by one – a whole run after the other")},
        {"launch.order=at-once", QT_TRANSLATE_NOOP("PlanField", "at once – times are shared")},
        {"training.optimizer.implementation=exact", QT_TRANSLATE_NOOP("PlanField", "exact – Python's bits")},
        {"training.optimizer.implementation=fused", QT_TRANSLATE_NOOP("PlanField", "fused – faster")},
        {"evaluation.precision=fp32", QT_TRANSLATE_NOOP("PlanField", "fp32 – outside autocast")},
        {"evaluation.precision=autocast",
         QT_TRANSLATE_NOOP("PlanField", "autocast – in the mode of the run")},
        {"evaluation.precision=both", QT_TRANSLATE_NOOP("PlanField", "both")},
        {"compat=none", QT_TRANSLATE_NOOP("PlanField", "none")},
        {"compat=accelerate", QT_TRANSLATE_NOOP("PlanField", "accelerate – repeat it to the bit")},
        {"training.loss=cross_entropy", QT_TRANSLATE_NOOP("PlanField", "cross entropy")},
        {"training.loss=bce_with_logits", QT_TRANSLATE_NOOP("PlanField", "binary cross entropy of logits")},
        {"training.loss=mse", QT_TRANSLATE_NOOP("PlanField", "mean squared error")},
        {"training.loss=l1", QT_TRANSLATE_NOOP("PlanField", "mean absolute error")},
        {"training.loss=huber", QT_TRANSLATE_NOOP("PlanField", "Huber – squared near the label, absolute far away")},
        {"training.loss=naive_nll",
         QT_TRANSLATE_NOOP("PlanField", "naive log likelihood – breaks where a probability reaches 0")},
        {"training.scheduler.name=constant", QT_TRANSLATE_NOOP("PlanField", "constant – the rate stays")},
        {"training.scheduler.name=step", QT_TRANSLATE_NOOP("PlanField", "step – drops every so many steps")},
        {"training.scheduler.name=linear", QT_TRANSLATE_NOOP("PlanField", "linear – from one factor to another")},
        {"training.scheduler.name=cosine", QT_TRANSLATE_NOOP("PlanField", "cosine – down along half a wave")},
        {"training.scheduler.name=one_cycle", QT_TRANSLATE_NOOP("PlanField", "one cycle – up, then far down")},
        {"training.scheduler.name=constant_with_warmup",
         QT_TRANSLATE_NOOP("PlanField", "warm-up, then constant")},
        {"training.scheduler.name=linear_with_warmup",
         QT_TRANSLATE_NOOP("PlanField", "warm-up, then straight down to 0")},
        {"training.scheduler.name=cosine_with_warmup",
         QT_TRANSLATE_NOOP("PlanField", "warm-up, then down along a cosine")},
        {"training.scheduler.anneal_strategy=cos", QT_TRANSLATE_NOOP("PlanField", "cosine")},
        {"training.scheduler.anneal_strategy=linear", QT_TRANSLATE_NOOP("PlanField", "straight")},
        {"evaluation.split=validation", QT_TRANSLATE_NOOP("PlanField", "the data held out")},
        {"evaluation.split=training", QT_TRANSLATE_NOOP("PlanField", "the training data")},
        {"evaluation.metric=accuracy", QT_TRANSLATE_NOOP("PlanField", "accuracy")},
        {"evaluation.metric=loss", QT_TRANSLATE_NOOP("PlanField", "loss")},
        {"evaluation.metric=mae", QT_TRANSLATE_NOOP("PlanField", "mean absolute error")},
        {"evaluation.metric=perplexity", QT_TRANSLATE_NOOP("PlanField", "perplexity")},
        {"tf32=torch", QT_TRANSLATE_NOOP("PlanField", "torch – convolutions, not products")},
        {"tf32=off", QT_TRANSLATE_NOOP("PlanField", "off – fp32 throughout")},
        {"tf32=on", QT_TRANSLATE_NOOP("PlanField", "on – faster, ten bits of mantissa")},
        {"cpu_half=torch", QT_TRANSLATE_NOOP("PlanField", "torch – as LibTorch computes")},
        {"cpu_half=fast", QT_TRANSLATE_NOOP("PlanField", "fast – fp32 inside, rounded after")},
        {"short_window=right_sized", QT_TRANSLATE_NOOP("PlanField", "right-sized – mean over what is there")},
        {"short_window=upstream", QT_TRANSLATE_NOOP("PlanField", "upstream – as Accelerate divides")},
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

QString helpOf(const std::string& path) {
    static const std::map<std::string, const char*> table{
        {"observe.level",
         QT_TRANSLATE_NOOP("PlanField", "0: the largest values of every step. 1: full records of all tensors every so many steps. 2: every step (slow).")},
        {"observe.local_error_every",
         QT_TRANSLATE_NOOP("PlanField", "The same batch and weights once more in fp32, layer by layer: rounding here, apart from drift. 0 = never.")},
        {"observe.alarms",
         QT_TRANSLATE_NOOP("PlanField", "Empty = the default rules. \"off\", or what differs: \"headroom threshold=2 action=pause\".")},
        {"observe.keep_states",
         QT_TRANSLATE_NOOP("PlanField", "Two states in memory, so that a bad step can be done again without starting from the seed.")},
        {"repetitions.control",
         QT_TRANSLATE_NOOP("PlanField", "More runs of no with another batch order; 3 give a band that differences are judged by.")},
        {"repetitions.rounding",
         QT_TRANSLATE_NOOP("PlanField", "Runs of no whose weights begin one last bit off: a thin line, never used for a verdict.")},
        {"checkpoint.every",
         QT_TRANSLATE_NOOP("PlanField", "Steps between two checkpoints on the way; 0 = none on the way.")},
        {"checkpoint.at_end",
         QT_TRANSLATE_NOOP("PlanField", "Keeps the end state: weights to save, and a run to continue from.")},
        {"checkpoint.keep",
         QT_TRANSLATE_NOOP("PlanField",
                           "The oldest go when there are more. The newest and the one before always stay.")},
        {"checkpoint.resume_from",
         QT_TRANSLATE_NOOP("PlanField",
                           "A checkpoint folder or a run, for a single run. Easier: Continue from checkpoint… "
                           "on the page Runs.")},
    };
    const auto found = table.find(path);
    return found == table.end() ? QString() : translated(found->second);
}

QString placeholderOf(const std::string& path) {
    return path == "observe.alarms" ? translated(QT_TRANSLATE_NOOP("PlanField", "the default rules")) : QString();
}

QString choiceLabel(const std::string& path, const std::string& choice) {
    const auto found = choices().find(path + "=" + choice);
    if (found != choices().end()) {
        return translated(found->second);
    }
    if (path == "training.optimizer.name") {  // names, the same in every language
        for (const auto& entry : catalogue::optimizers()) {
            if (entry.id == choice) {
                return QString::fromStdString(entry.title);
            }
        }
    }
    return QString::fromStdString(choice);
}

}  // namespace mantissa::ui
