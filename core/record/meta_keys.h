#pragma once
// Keys of the table meta(key, value) in run.db. The run writes them (RunRecorder::meta, all values are text); summaries, the
// run list and judge read them. A key that isn't there means "not known yet"; a key written twice keeps its last value.
// Written before step 0: all but the last group.

namespace mantissa::meta {

// Precision (rule 6): three fields and a reason.
inline constexpr const char* mode = "mode";            // as planned: "no" "fp16" "bf16" "fp8"
inline constexpr const char* requested = "requested";  // as the engine was asked
inline constexpr const char* effective = "effective";  // as the engine found it
inline constexpr const char* support = "support";      // "native" "emulated" "unsupported"
inline constexpr const char* support_reason = "support_reason";  // a sentence

inline constexpr const char* device = "device";            // "cpu" "cuda:0"
inline constexpr const char* device_name = "device_name";  // "AMD EPYC, 2 cores"

inline constexpr const char* name = "name";        // RunPlan::name
inline constexpr const char* model = "model";      // catalogue id or file name
inline constexpr const char* dataset = "dataset";  // catalogue id or file name
inline constexpr const char* comparison_id = "comparison_id";  // absent for a single run

inline constexpr const char* started_ns = "started_ns";        // wall clock, decimal
inline constexpr const char* rank = "rank";    // of the process that records; absent: it trained alone
inline constexpr const char* ranks = "ranks";  // how many trained together
inline constexpr const char* planned_steps = "planned_steps";  // decimal
inline constexpr const char* batch_size = "batch_size";
inline constexpr const char* training_samples = "training_samples";
inline constexpr const char* validation_samples = "validation_samples";  // 0 = no validation data
inline constexpr const char* metric = "metric";  // "accuracy" "loss" ...: the evaluations.metric that counts
inline constexpr const char* optimizer = "optimizer";
inline constexpr const char* on_nonfinite = "on_nonfinite";

inline constexpr const char* program_version = "program_version";
inline constexpr const char* torch_version = "torch_version";
inline constexpr const char* host_name = "host_name";
inline constexpr const char* process_id = "process_id";

// Of a run that goes on from a checkpoint (record/resume_record.h); absent in a run that began at step 0.
inline constexpr const char* resumed_checkpoint = "resumed_checkpoint";  // its folder
inline constexpr const char* resumed_run = "resumed_run";                // the run that wrote it
inline constexpr const char* resumed_step = "resumed_step";              // the first step of this run
inline constexpr const char* resumed_applied = "resumed_applied";        // updates applied before it
inline constexpr const char* resumed_mode = "resumed_mode";              // saved under; `mode` is what goes on
inline constexpr const char* resumed_scale = "resumed_scale";  // "none" "taken_up" "starts_anew" "dropped"
inline constexpr const char* resumed_saved_scale = "resumed_saved_scale";  // loss scale of the checkpoint; absent without one

// Of a run that another one led to (launch/run_parent.h); absent in others.
inline constexpr const char* parent_run = "parent_run";          // its folder
inline constexpr const char* parent_purpose = "parent_purpose";  // "control" "fix" "what_if"
inline constexpr const char* parent_step = "parent_step";        // where the change begins
inline constexpr const char* parent_change = "parent_change";    // "island gate.mul"

// Rewritten with every checkpoint.
inline constexpr const char* checkpoint = "checkpoint";              // the last one's folder
inline constexpr const char* checkpoint_error = "checkpoint_error";  // why the last attempt to save failed; "" when it did not
inline constexpr const char* checkpoint_ns = "checkpoint_ns";        // wall clock of the last attempt to save

// States in memory that a faulty step is done again from; rewritten when they change.
inline constexpr const char* kept_states = "kept_states";              // how many
inline constexpr const char* kept_states_bytes = "kept_states_bytes";  // all together
inline constexpr const char* kept_states_reason = "kept_states_reason";  // a sentence: why there are none; "" when there are

// Names that blobs of numbers go by.
inline constexpr const char* parameters = "parameters";  // JSON list, in the order of ExtremesRow's values

// Of a run in fp8, after its first step: JSON list, record/linear_layers.h.
inline constexpr const char* linear_layers = "linear_layers";

// What looking at tensors costs (levels 0 to 2); rewritten about once a second. Its share of a step is watch_ns / watch_steps over the
// median of step_ns.
inline constexpr const char* watch_level = "watch_level";  // "0" "1" "2": as planned, or as switched while it ran
inline constexpr const char* watch_steps = "watch_steps";  // looked at in this run
inline constexpr const char* watch_ns = "watch_ns";        // in all of them, records included
inline constexpr const char* watch_record_steps = "watch_record_steps";  // those with tensor records
inline constexpr const char* watch_record_ns = "watch_record_ns";        // of watch_ns, what the records took
// JSON list of {step, every}: after this step records are made every so many steps, because the recording had grown enough.
inline constexpr const char* watch_thinned = "watch_thinned";

// Written at the end.
inline constexpr const char* final_scale = "final_scale";  // loss scale after the last attempt (steps.loss_scale is before it)

}  // namespace mantissa::meta
