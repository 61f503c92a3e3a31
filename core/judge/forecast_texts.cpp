// The forecast in sentences with numbers.
#include <cmath>

#include "base/numbers.h"
#include "judge/forecast.h"

namespace mantissa {
namespace {

std::string bits_text(double bits) {
    return readable_number(bits, bits < 1 ? 1 : 2);
}

/// Small shares keep a figure; 0.0 % would say nothing.
std::string share_text(double share) {
    if (share > 0 && share < 5e-4) return "< 0.1 %";
    return readable_percent(share);
}

const char* format_name(Precision mode, TensorRole role) {
    const NumberFormat format = format_of(mode, role);
    return mode == Precision::Fp8 ? to_string(format) : to_string(mode);
}

std::string output_text(const Forecast& forecast, const FormatForecast& one, const TextCatalogue& texts) {
    if (!one.output) return {};
    const OutputForecast& output = *one.output;
    const NumberFormat format = format_of(one.mode, TensorRole::Output);
    TextValues values{{"format", format_name(one.mode, TensorRole::Output)},
                      {"limit", readable_number(limits_of(format).largest, 5)},
                      {"tensor", output.tensor},
                      {"largest", readable_number(output.largest)},
                      {"at", std::to_string(output.largest_step)},
                      {"bits", bits_text(output.headroom_bits)},
                      {"last", std::to_string(forecast.last_step)},
                      {"records", readable_count(forecast.records)},
                      {"until", std::to_string(forecast.planned_steps)}};
    const char* key = output.is_open ? "forecast.output.open" : "forecast.output.stays";
    if (output.step) {
        values["step"] = std::to_string(*output.step);
        values["from"] = std::to_string(output.from_step);
        values["to"] = std::to_string(output.to_step);
        key = output.sureness == Sureness::Seen ? "forecast.output.seen" : "forecast.output.foretold";
        if (output.sureness == Sureness::Seen && output.from_step == output.to_step) key = "forecast.output.at_once";
        if (const auto sure = texts.fill(std::string("forecast.sureness.") + to_string(output.sureness))) values["sureness"] = *sure;
    }
    const auto text = texts.fill(key, values);
    return text ? *text : std::string();
}

std::string gradient_text(const FormatForecast& one, const TextCatalogue& texts) {
    if (!one.has_gradients) return {};
    TextValues values{{"format", format_name(one.mode, TensorRole::Gradient)},
                      {"unscaled", share_text(one.flush_unscaled)},
                      {"scale", readable_scale(one.scale)},
                      {"scaled", share_text(one.flush_scaled)},
                      {"overflow", share_text(one.overflow_scaled)}};
    std::string key = "forecast.gradients.none";
    if (one.flush_unscaled >= 1e-3 || one.overflow_scaled > 0) {
        if (one.needed_log2_scale) values["needed"] = readable_scale(std::ldexp(1.0, *one.needed_log2_scale));
        key = one.mode == Precision::Fp16 ? "forecast.gradients.fp16" : "forecast.gradients.fp8";
        key += one.overflow_scaled > 0 && one.mode == Precision::Fp16 ? "_overflow" : "";
        key += one.needed_log2_scale ? "" : "_never";
    }
    const auto text = texts.fill(key, values);
    return text ? *text : std::string();
}

std::string update_text(const FormatForecast& one, const TextCatalogue& texts) {
    if (!one.updates_lost || *one.updates_lost < 0.01) return {};
    const auto text = texts.fill("forecast.updates", {{"format", format_name(one.mode, TensorRole::Weight)},
                                                      {"share", share_text(*one.updates_lost)},
                                                      {"tensor", one.updates_tensor},
                                                      {"worst", share_text(one.updates_tensor_lost)}});
    return text ? *text : std::string();
}

}  // namespace

std::vector<std::string> forecast_texts(const Forecast& forecast, const TextCatalogue& texts) {
    std::vector<std::string> lines;
    const std::string between = texts.language() == "zh" ? "" : " ";
    for (const FormatForecast& one : forecast.formats) {
        std::string line = std::string(to_string(one.mode)) + (between.empty() ? "：" : ": ");
        std::string said;
        for (const std::string& sentence : {output_text(forecast, one, texts), gradient_text(one, texts), update_text(one, texts)}) {
            if (!sentence.empty()) said += (said.empty() ? "" : between) + sentence;
        }
        // What leaves the format does so in a cast without a scale, which the mode never makes.
        const bool leaves = one.output && one.output->step;
        if (const auto scaled = texts.fill("forecast.fp8_mode"); one.mode == Precision::Fp8 && leaves && scaled) said += between + *scaled;
        if (!said.empty()) lines.push_back(line + said);
    }
    return lines;
}

}  // namespace mantissa
