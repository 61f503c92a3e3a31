#pragma once
// One file per verb. Each adds its subcommand; when it was chosen, its callback leaves the exit code in
// `result` (design: 0 done, 2 bad plan or usage, 3 unsupported, 4 non-finite, 5 worker lost, 6 input/output,
// 130 interrupted).
namespace CLI {
class App;
}

namespace mantissa::cli {

void add_train(CLI::App& program, int& result);
void add_compare(CLI::App& program, int& result);
void add_probe(CLI::App& program, int& result);
void add_env(CLI::App& program, int& result);
/// Accelerate's launcher for one process.
void add_launch(CLI::App& program, int& result);
void add_config(CLI::App& program, int& result);
void add_test(CLI::App& program, int& result);
void add_estimate_memory(CLI::App& program, int& result);
void add_models(CLI::App& program, int& result);
void add_datasets(CLI::App& program, int& result);
void add_replay(CLI::App& program, int& result);
void add_runs(CLI::App& program, int& result);
void add_report(CLI::App& program, int& result);
void add_export(CLI::App& program, int& result);
void add_lessons(CLI::App& program, int& result);
void add_lesson(CLI::App& program, int& result);
/// worker, supervise, trial, replay-step: what this program starts of itself; hidden.
void add_process_verbs(CLI::App& program, int& result);

}  // namespace mantissa::cli
