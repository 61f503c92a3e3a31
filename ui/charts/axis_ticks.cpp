#include "ui/charts/axis_ticks.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "ui/charts/plot_column.h"

namespace mantissa::ui {
namespace {

/// Context of the translations of this file.
struct AxisTexts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::AxisTexts)
};

double roundStep(double width, int most) {
    const double rough = width / std::max(most, 1);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (rough <= factor * power * (1 + 1e-9)) {
            return factor * power;
        }
    }
    return 10 * power;
}

/// As a value, without the zeros that only say how exact it is: a tick is exact.
QString tickText(double value, Quantity quantity, ValueView view) {
    static const QRegularExpression zeros(QStringLiteral("\\.(\\d*?)0+(?!\\d)"));
    if (value != 0 && std::abs(value) < 1e-12 && quantity != Quantity::LearningRate) {
        value = 0;  // what is left of adding steps up
    }
    QString text = valueText(value, quantity, view);
    if (text.contains(QLatin1Char('.')) && !text.contains(QLatin1Char('e'))) {
        text.replace(zeros, QStringLiteral(".\\1"));
        text.replace(QRegularExpression(QStringLiteral("\\.(?!\\d)")), QString());
    } else if (text.contains(QLatin1Char('.'))) {
        text.replace(QRegularExpression(QStringLiteral("\\.?0+e")), QStringLiteral("e"));
    }
    return text;
}

template <typename Text>
std::vector<AxisTick> evenTicks(double from, double to, double step, const Text& text) {
    std::vector<AxisTick> ticks;
    if (!(step > 0) || !std::isfinite(to - from)) {
        return ticks;
    }
    const double first = std::ceil(from / step - 1e-9);
    const double last = std::floor(to / step + 1e-9);
    for (double k = first; k <= last && ticks.size() < 64; ++k) {
        ticks.push_back({k * step, text(k * step)});
    }
    return ticks;
}

/// Under three decades: 1, 2, 5 or 1, 3 of each where they fit; else every n-th power.
std::vector<AxisTick> decadeTicks(double from, double to, int most, Quantity quantity, ValueView view) {
    const auto text = [&](double at) { return tickText(std::pow(10.0, at), quantity, view); };
    if (to - from < 3) {
        for (const std::initializer_list<double>& factors : {std::initializer_list<double>{1, 2, 5}, {1, 3}, {1}}) {
            std::vector<AxisTick> ticks;
            for (double decade = std::floor(from); decade <= to; ++decade) {
                for (const double factor : factors) {
                    const double at = decade + std::log10(factor);
                    if (at >= from && at <= to) {
                        ticks.push_back({at, text(at)});
                    }
                }
            }
            if (ticks.size() >= 2 && static_cast<int>(ticks.size()) <= most) {
                return ticks;
            }
        }
        if (to - from < 0.5) {  // too narrow for powers: even steps of the value itself
            const double low = std::pow(10.0, from), high = std::pow(10.0, to);
            std::vector<AxisTick> even = evenTicks(low, high, roundStep(high - low, std::max(most - 1, 1)),
                                                   [&](double value) { return tickText(value, quantity, view); });
            for (AxisTick& tick : even) {
                tick.position = toScale(tick.position, ValueScale::Log10);
            }
            return even;
        }
    }
    return evenTicks(from, to, std::max(1.0, std::ceil((to - from) / most)), text);
}

}  // namespace

QString valueText(double value, Quantity quantity, ValueView view) {
    if (std::isnan(value)) {
        return QStringLiteral("NaN");
    }
    if (std::isinf(value)) {
        return value > 0 ? QStringLiteral("+Inf") : QStringLiteral("−Inf");
    }
    if (view == ValueView::RatioToControl) {
        return QStringLiteral("×") + QString::fromStdString(readable_number(value));
    }
    const QString sign = view == ValueView::DifferenceToControl && value > 0 ? QStringLiteral("+") : QString();
    const bool isNegative = value < 0;
    switch (quantity) {
        case Quantity::MemoryPeak: {
            const QString bytes =
                QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(std::min(std::abs(value), 1e18))));
            return isNegative ? QStringLiteral("−") + bytes : sign + bytes;
        }
        case Quantity::LossScale: return sign + QString::fromStdString(readable_scale(value));
        case Quantity::StepTime: return sign + QString::fromStdString(readable_number(value)) + QStringLiteral(" ms");
        case Quantity::Throughput: return sign + AxisTexts::tr("%1/s").arg(QString::fromStdString(readable_number(value)));
        case Quantity::Headroom: return sign + AxisTexts::tr("%1 bits").arg(QString::number(value, 'f', 1));
        case Quantity::Loss:
        case Quantity::GradientNorm:
        case Quantity::LearningRate: break;
    }
    return sign + QString::fromStdString(readable_number(value));
}

QString quantityName(Quantity quantity) {
    switch (quantity) {
        case Quantity::Loss: return AxisTexts::tr("Loss");
        case Quantity::GradientNorm: return AxisTexts::tr("Gradient norm");
        case Quantity::LossScale: return AxisTexts::tr("Loss scale");
        case Quantity::LearningRate: return AxisTexts::tr("Learning rate");
        case Quantity::MemoryPeak: return AxisTexts::tr("Memory of tensors");
        case Quantity::StepTime: return AxisTexts::tr("Step time");
        case Quantity::Throughput: return AxisTexts::tr("Throughput");
        case Quantity::Headroom: return AxisTexts::tr("Headroom");
    }
    return {};
}

std::vector<AxisTick> axisTicks(double from, double to, int most, ValueScale scale, Quantity quantity, ValueView view) {
    if (!(to > from)) {
        return {};
    }
    most = std::max(most, 1);
    switch (scale) {
        case ValueScale::Log10: return decadeTicks(from, to, most, quantity, view);
        case ValueScale::Log2:
            return evenTicks(from, to, std::max(1.0, std::ceil((to - from) / most)),
                             [&](double at) { return tickText(std::exp2(at), quantity, view); });
        case ValueScale::Linear: break;
    }
    const int divisions = std::max(most - 1, std::min(most, 2));  // n ticks have n - 1 spaces between them
    const auto text = [&](double value) { return tickText(value, quantity, view); };
    std::vector<AxisTick> ticks = evenTicks(from, to, roundStep(to - from, divisions), text);
    // One number alone doesn't tell a scale: rather a few too many, of which the chart drops those without room.
    return ticks.size() < 2 ? evenTicks(from, to, roundStep(to - from, 2 * divisions), text) : ticks;
}

std::vector<AxisTick> xTicks(double from, double to, int most, XKind kind) {
    if (!(to > from)) {
        return {};
    }
    double step = roundStep(to - from, most);
    if (kind != XKind::Time) {
        step = std::max(step, 1.0);  // there is no half step
    }
    const QLocale locale;
    return evenTicks(from, to, step, [&](double value) {
        return kind == XKind::Time ? AxisTexts::tr("%1 s").arg(locale.toString(value, 'g', 6))
                                   : locale.toString(static_cast<qlonglong>(std::llround(value)));
    });
}

}  // namespace mantissa::ui
