#include "run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/version.h"
#include "devices/cpu_facts.h"
#include "devices/nvml.h"
#include "numerics/dtype_names.h"

namespace mantissa {
namespace {

using nlohmann::json;

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::string host_system() {
    utsname name{};
    if (uname(&name) != 0) return "";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

const char* matmul_precision() {
    switch (at::globalContext().float32MatmulPrecision()) {
        case at::Float32MatmulPrecision::HIGHEST:
            return "highest";
        case at::Float32MatmulPrecision::HIGH:
            return "high";
        case at::Float32MatmulPrecision::MEDIUM:
            return "medium";
    }
    return "";
}

// Only those that change numbers or threads.
json numeric_environment() {
    json set = json::object();
    for (const char* name :
         {"ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR", "OMP_NUM_THREADS", "OMP_WAIT_POLICY",
          "MKL_NUM_THREADS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES"}) {
        if (const char* value = std::getenv(name)) set[name] = value;
    }
    return set;
}

json switches(const RunPlan& plan) {
    const at::Context& context = at::globalContext();
    return {{"deterministic", plan.training.deterministic},
            {"float32_matmul_precision", matmul_precision()},
            {"tf32_cublas", context.allowTF32CuBLAS()},
            {"tf32_cudnn", context.allowTF32CuDNN()},
            {"cudnn", context.userEnabledCuDNN()},
            {"cudnn_benchmark", context.benchmarkCuDNN()},
            {"mkldnn", context.userEnabledMkldnn()},
            {"flush_denormal", false},
            {"autocast_cache", at::autocast::is_autocast_cache_enabled()}};
}

template <typename Entries>
json dtypes_of(const Entries& entries) {
    std::set<std::string> names;
    for (const auto& entry : entries) names.insert(dtype_name(entry.value().scalar_type()));
    return names;
}

}  // namespace

json environment_of(const RunPlan& plan) {
    const DeviceFacts cpu = read_cpu_facts();
    return {{"versions",
             {{"mantissa", version},
              {"torch", TORCH_VERSION},
              {"mkl", first_line(at::get_mkl_version())},
              {"onednn", first_line(at::get_mkldnn_version())},
              {"openmp", first_line(at::get_openmp_version())},
              {"compiler", "g++ " __VERSION__}}},
            {"system", host_system()},
            {"cpu",
             {{"name", cpu.name}, {"capability", cpu.capability()}, {"kernels", at::get_cpu_capability()}}},
            {"threads", plan.launch.threads},
            {"switches", switches(plan)},
            {"environment", numeric_environment()}};
}

json environment_of(const RunPlan& plan, RunParts& parts) {
    json environment = environment_of(plan);
    const PrecisionChoice& choice = parts.choice.precision;
    environment["process_id"] = static_cast<std::int64_t>(getpid());
    environment["threads"] = at::get_num_threads();
    environment["device"] = {{"id", parts.choice.device.id},
                             {"name", parts.choice.device.name},
                             {"capability", parts.choice.device.capability()}};
    if (parts.choice.device.kind == DeviceFacts::Kind::Cuda) {
        const std::string& uuid = parts.choice.device.uuid;
        const std::string driver = gpu_figures(open_nvml(), uuid).front().text;
        environment["device"]["uuid"] = uuid.empty() ? json() : json(uuid);
        environment["device"]["driver"] = driver.empty() ? json() : json(driver);
        environment["device"]["host_looks"] = parts.looks_later ? "later" : "once_per_step";
    }
    environment["precision"] = {{"requested", to_string(choice.requested)},
                                {"effective", to_string(choice.effective)},
                                {"support", to_string(choice.support)},
                                {"reason", choice.reason}};
    environment["dtypes"] = {{"parameters", dtypes_of(parts.bare_model().named_parameters())},
                             {"buffers", dtypes_of(parts.bare_model().named_buffers())},
                             {"features", dtype_name(parts.dataset.features.scalar_type())},
                             {"labels", dtype_name(parts.dataset.labels.scalar_type())}};
    environment["samples"] = {{"training", parts.split.training.size(0)},
                              {"validation", parts.split.validation.size(0)}};
    if (const auto findings = parts.bare_model().findings(); !findings.empty()) environment["model_findings"] = findings;
    if (parts.weights)
        environment["weights"] = {{"missing", parts.weights->missing}, {"unexpected", parts.weights->unexpected}, {"mis_shaped", parts.weights->mis_shaped}};
    environment["hashes"] = {{"initial_state", parts.hashes.initial_state},
                             {"data", parts.hashes.data},
                             {"sample_order", parts.hashes.sample_order},
                             {"plan", parts.hashes.plan}};
    return environment;
}

}  // namespace mantissa
