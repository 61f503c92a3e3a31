#include "ui/numerics/heat_scale.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa::ui {
namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::HeatScale)
};

constexpr double quietHeadroomBits = 16;
constexpr double quietSqnrDb = 60;
constexpr double quietShare = 1e-4;      // of flushed values: 0.01 %
constexpr double leastNonfinite = 1e-6;  // one element in a million

/// Shares live on a logarithmic axis: between one value in ten thousand and all of them lie four decades.
double logLevel(double share, double quiet) {
    return share <= quiet ? 0 : std::log10(share / quiet) / -std::log10(quiet);
}

using Ramp = std::array<QRgb, 4>;
constexpr Ramp lightRamp{0xffeef1f6, 0xffa9bfdc, 0xff4a74ad, 0xff14264a};
constexpr Ramp darkRamp{0xff2f343c, 0xff45618f, 0xffa08f6a, 0xffffe07a};

}  // namespace

double heatLevel(HeatQuantity quantity, double value) {
    if (std::isnan(value)) {
        return 1;
    }
    double level = 0;
    switch (quantity) {
        case HeatQuantity::Headroom: level = 1 - value / quietHeadroomBits; break;
        case HeatQuantity::Sqnr: level = 1 - value / quietSqnrDb; break;
        case HeatQuantity::FlushShare: level = logLevel(value, quietShare); break;
        case HeatQuantity::NonfiniteShare: level = value > 0 ? 0.35 + 0.65 * logLevel(value, leastNonfinite) : 0; break;
        case HeatQuantity::UnmovedShare: level = value; break;
    }
    return std::clamp(level, 0.0, 1.0);
}

QColor heatColour(double level, const Theme& theme) {
    const Ramp& ramp = theme.isDark() ? darkRamp : lightRamp;
    const double at = std::clamp(level, 0.0, 1.0) * static_cast<double>(ramp.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
    const double part = at - static_cast<double>(below);
    const QColor from = QColor::fromRgb(ramp[below]), to = QColor::fromRgb(ramp[below + 1]);
    const auto mixed = [part](int a, int b) { return static_cast<int>(std::lround(a + part * (b - a))); };
    return {mixed(from.red(), to.red()), mixed(from.green(), to.green()), mixed(from.blue(), to.blue())};
}

std::vector<HeatTick> heatTicks(HeatQuantity quantity) {
    std::vector<double> values;
    switch (quantity) {
        case HeatQuantity::Headroom: values = {16, 8, 4, 0}; break;
        case HeatQuantity::Sqnr: values = {60, 40, 20, 0}; break;
        case HeatQuantity::FlushShare: values = {1e-4, 1e-2, 1}; break;
        case HeatQuantity::NonfiniteShare: values = {0, 1e-3, 1}; break;
        case HeatQuantity::UnmovedShare: values = {0, 0.5, 1}; break;
    }
    std::vector<HeatTick> ticks;
    for (const double value : values) {
        ticks.push_back({heatLevel(quantity, value), heatText(quantity, value)});
    }
    return ticks;
}

QString quantityName(HeatQuantity quantity) {
    switch (quantity) {
        case HeatQuantity::Headroom: return Texts::tr("Headroom");
        case HeatQuantity::FlushShare: return Texts::tr("Flushed to 0");
        case HeatQuantity::Sqnr: return Texts::tr("SQNR");
        case HeatQuantity::NonfiniteShare: return Texts::tr("Not finite");
        case HeatQuantity::UnmovedShare: return Texts::tr("Weights not moved");
    }
    return {};
}

QString shareText(double share) {
    const double percent = 100 * share;
    if (!(percent > 0)) {
        return QStringLiteral("0 %");
    }
    if (percent >= 99.95 && percent < 100) {
        return QStringLiteral("> 99.9 %");
    }
    const int decimals = percent >= 100 ? 0 : percent >= 1 ? 1 : percent >= 0.01 ? 2 : 4;
    return percent < 1e-4 ? QStringLiteral("< 0.0001 %") : QString::number(percent, 'f', decimals) + QStringLiteral(" %");
}

QString decibelText(double decibels) {
    if (std::isinf(decibels)) {
        return decibels > 0 ? Texts::tr("exact") : Texts::tr("overflows");
    }
    return Texts::tr("%1 dB").arg(decibels, 0, 'f', std::abs(decibels) < 10 ? 1 : 0);
}

QString heatText(HeatQuantity quantity, double value) {
    switch (quantity) {
        case HeatQuantity::Headroom:
            return Texts::tr("%1 bits").arg(value, 0, 'f', value == std::round(value) ? 0 : 1);
        case HeatQuantity::Sqnr: return decibelText(value);
        case HeatQuantity::FlushShare:
        case HeatQuantity::NonfiniteShare:
        case HeatQuantity::UnmovedShare: return shareText(value);
    }
    return {};
}

}  // namespace mantissa::ui
