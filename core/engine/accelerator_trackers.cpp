#include "engine/accelerator.h"
#include "engine/tracker_set.h"
#include "plan/plan_names.h"
#include "record/meta_keys.h"

namespace mantissa {
namespace {

// What a program of one's own is, for a run folder. Nobody asked the device whether the mode is native; speed isn't judged then.
std::map<std::string, std::string> facts_of(const AcceleratorCore& core) {
    const std::string mode = to_string(core.precision);
    const bool is_half = core.precision != Precision::No;
    std::map<std::string, std::string> facts{
        {meta::mode, mode}, {meta::requested, mode}, {meta::effective, mode},
        {meta::support, is_half ? "emulated" : "native"},
        {meta::support_reason, is_half ? "A program's own run doesn't probe the device: its speed is not judged."
                                       : "fp32 is native everywhere."},
        {meta::device, core.device.str()},
        {meta::on_nonfinite, to_string(core.options.on_nonfinite)},
        {meta::torch_version, TORCH_VERSION},
        {meta::planned_steps, "0"}};
    return facts;
}

}  // namespace

void Accelerator::init_trackers(const std::string& project, const TrackerConfig& config) {
    if (m_core->trackers) {
        m_core->trackers->start({project, config, {}, facts_of(*m_core)});
    }
}

void Accelerator::log(const TrackedValues& values, std::optional<std::int64_t> step) {
    if (m_core->trackers) {
        m_core->trackers->log(values, step);
    }
}

Tracker& Accelerator::get_tracker(const std::string& name) {
    if (!m_core->trackers) {
        m_core->trackers = std::make_shared<TrackerSet>(m_core->options);  // empty: refuses with a sentence
    }
    return m_core->trackers->get(name);
}

std::unique_ptr<ProfileScope> Accelerator::profile(const std::filesystem::path& file, const ProfileOptions& options) const {
    return std::make_unique<ProfileScope>(file, options);
}

void Accelerator::end_training() {
    if (m_core->trackers) {
        m_core->trackers->finish();
    }
}

}  // namespace mantissa
