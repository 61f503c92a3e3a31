#include "ui/replay/birth_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::BirthWords)
};

QString text(const std::string& value) { return QString::fromStdString(value); }

struct Format {
    const char* dtype;
    const char* name;
};
constexpr Format formats[] = {{"float16", "fp16"}, {"bfloat16", "bf16"},        {"float32", "fp32"},
                              {"float64", "fp64"}, {"float8_e4m3fn", "e4m3fn"}, {"float8_e5m2", "e5m2"}};

bool isLeaf(const BirthReport& birth) {
    const std::string& phase = birth.producer.phase;
    return phase == "data" || phase == "parameter" || phase == "buffer";
}

QString leafSentence(const BirthReport& birth) {
    const TensorReading& reading = birth.producer.result;
    const QString what = badText(reading), name = text(birth.tensor), count = numberText(static_cast<double>(reading.elements()));
    const QString bad = numberText(static_cast<double>(reading.nan + reading.pos_inf + reading.neg_inf));
    if (birth.producer.phase == "data") {
        return birth.sample ? Words::tr("The batch brought %1: %2 of %3 values of %4, the first in sample %5").arg(what, bad, count, name).arg(*birth.sample)
                            : Words::tr("The batch brought %1: %2 of %3 values of %4").arg(what, bad, count, name);
    }
    return birth.producer.phase == "buffer" ? Words::tr("The buffer %4 held %1 before the step began: %2 of %3 values").arg(what, bad, count, name)
                                            : Words::tr("The weights %4 held %1 before the step began: %2 of %3 values").arg(what, bad, count, name);
}

/// "gate.mul", "the derivative of gate.mul" …
QString producerText(const BirthReport& birth) {
    const QString place = text(birth.told_place());
    if (birth.producer.phase == "backward") {
        return Words::tr("The derivative of %1").arg(place);
    }
    if (birth.step) {
        return Words::tr("In the update of step %1, %2").arg(*birth.step).arg(place);
    }
    return birth.producer.phase == "update" ? Words::tr("In the update, %1").arg(place) : place;
}

/// "308 × 231 = 71,148 > 65,504" where one product of the largest values explains it.
QString productText(const OpReading& op, double limit) {
    const bool isProduct = (op.kernel.empty() ? op.op : op.kernel) == "mul" && op.operands.size() == 2 && op.scalars.empty();
    if (!isProduct || limit <= 0) {
        return {};
    }
    const double a = op.operands[0].largest, b = op.operands[1].largest;
    // Factors with all their digits: rounded ones would give another product.
    const auto factor = [](double value) { return QString::number(value, 'g', 6); };
    return a * b <= limit ? QString() : QStringLiteral("%1 × %2 = %3 > %4").arg(factor(a), factor(b), numberText(a * b), numberText(limit));
}

QString producedSentence(const BirthReport& birth, double limit) {
    const OpReading& op = birth.producer;
    const QString what = badText(op.result), who = producerText(birth);
    const bool isFromFinite = std::all_of(op.operands.begin(), op.operands.end(), [](const TensorReading& one) { return one.is_finite(); });
    if (!isFromFinite) {
        return Words::tr("%1 turned %2 into %3").arg(who, operandsText(op), what);
    }
    const bool isOverflow = op.result.nan == 0 && limit > 0 && birth.code.find("overflow") != std::string::npos;
    if (const QString product = productText(op, limit); isOverflow && !product.isEmpty()) {
        return Words::tr("%1 made %2 from finite inputs: %3").arg(who, what, product);
    }
    if (isOverflow) {
        return Words::tr("%1 made %2 from finite inputs (largest %3): %4 ends at %5")
            .arg(who, what, operandsText(op), dtypeText(op.result.dtype), numberText(limit));
    }
    const std::int64_t zeros = op.operands.empty() ? 0 : op.operands.front().zero;
    if (birth.code == "log_of_zero" && zeros > 0) {
        return Words::tr("%1 made %2: %3 of its %4 inputs are exactly 0")
            .arg(who, what, numberText(static_cast<double>(zeros)), numberText(static_cast<double>(op.operands.front().elements())));
    }
    return op.operands.empty() ? Words::tr("%1 made %2").arg(who, what)
                               : Words::tr("%1 made %2 from finite inputs (largest %3)").arg(who, what, operandsText(op));
}

}  // namespace

QString birthSentence(const BirthReport& birth, double limit) {
    return isLeaf(birth) ? leafSentence(birth) : producedSentence(birth, limit);
}

QString operandsText(const OpReading& op) {
    QStringList parts;
    for (const TensorReading& operand : op.operands) {
        parts << readingText(operand);
    }
    // Beside two tensors the numbers are the op's own factors (addmm's 1 and 1), which grow nothing.
    for (std::size_t i = 0; op.operands.size() < 2 && i < op.scalars.size(); ++i) {
        parts << numberText(op.scalars[i]);
    }
    return parts.join(QStringLiteral(" · "));
}

QString readingText(const TensorReading& reading) {
    const QString bad = badText(reading);
    return bad.isEmpty() ? numberText(reading.largest) : bad;
}

QString badText(const TensorReading& reading) {
    if (reading.nan > 0) {
        return QStringLiteral("NaN");
    }
    if (reading.pos_inf > 0 && reading.neg_inf > 0) {
        return QStringLiteral("±Inf");
    }
    return reading.pos_inf > 0 ? QStringLiteral("+Inf") : (reading.neg_inf > 0 ? QStringLiteral("−Inf") : QString());
}

QString dtypeText(const std::string& dtype) {
    const auto* found = std::find_if(std::begin(formats), std::end(formats), [&](const Format& one) { return dtype == one.dtype; });
    return found == std::end(formats) ? text(dtype) : QLatin1String(found->name);
}

QString numberText(double value) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? QStringLiteral("NaN") : (value > 0 ? QStringLiteral("+Inf") : QStringLiteral("−Inf"));
    }
    const double size = std::abs(value);
    if (size >= 100 && size < 1e7) {
        return QLocale(QLocale::English).toString(static_cast<qlonglong>(std::llround(value)));
    }
    return QString::number(value, 'g', 3).replace(QStringLiteral("e+0"), QStringLiteral("e")).replace(QStringLiteral("e+"), QStringLiteral("e"))
        .replace(QStringLiteral("e-0"), QStringLiteral("e-"));
}

}  // namespace mantissa::ui
