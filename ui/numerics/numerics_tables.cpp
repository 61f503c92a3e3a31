#include "ui/numerics/numerics_tables.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "judge/op_share.h"
#include "ui/bridge/phase_words.h"
#include "ui/numerics/heat_scale.h"
#include "ui/numerics/lens_colours.h"

namespace mantissa::ui {
namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::NumericsTables)
};

constexpr double fewMoved = 0.5;  // of the weights with a gradient: from here on the row stands out

constexpr int fp8Column = 2;  // of the table of ops, before fp16

QString text(const std::string& value) { return QString::fromStdString(value); }

QString roleText(TensorRole role) { return role == TensorRole::Gradient ? Texts::tr("gradient") : Texts::tr("output"); }

void addTo(OpCounts& sum, const OpDtypeRow& row) {
    (row.dtype.starts_with("float8") ? sum.fp8 : row.dtype == "float16" ? sum.fp16 : row.dtype == "bfloat16" ? sum.bf16 : row.dtype == "float32" ? sum.fp32 : sum.other) += row.calls;
    sum.casts += row.casts;
    sum.castBytes += row.cast_bytes;
}

ValueCell countCell(std::int64_t count, std::optional<std::int64_t> other, bool isBytes) {
    const auto shown = [isBytes](std::int64_t value) {
        return text(isBytes ? readable_bytes(static_cast<std::uint64_t>(value)) : readable_count(value));
    };
    QString words = count == 0 && !other ? QStringLiteral("–") : shown(count);
    if (other && count != *other) {
        words += QStringLiteral("  (%1%2)").arg(count > *other ? QStringLiteral("+") : QStringLiteral("−"), shown(std::abs(count - *other)));
    }
    return numberCell(words, static_cast<double>(other ? count - *other : count));
}

}  // namespace

std::vector<OpCounts> countOps(const std::vector<OpDtypeRow>& rows) {
    std::vector<OpCounts> counts;
    if (rows.empty()) {
        return counts;
    }
    counts.push_back({});
    for (const OpDtypeRow& row : rows) {
        if (row.step != rows.front().step) {
            continue;  // one watched step is compared with one
        }
        const auto found = std::find_if(counts.begin() + 1, counts.end(),
                                        [&](const OpCounts& one) { return one.phase == row.phase && one.op == row.op; });
        const std::size_t at = static_cast<std::size_t>(found - counts.begin());
        if (found == counts.end()) {
            counts.push_back({row.phase, row.op});
        }
        addTo(counts[at], row);
        addTo(counts.front(), row);
    }
    return counts;
}

ValueTable opTable(const std::vector<OpDtypeRow>& rows, const std::vector<OpDtypeRow>* other) {
    ValueTable table{{Texts::tr("op"), Texts::tr("phase"), QStringLiteral("fp16"), QStringLiteral("bf16"), QStringLiteral("fp32"),
                      Texts::tr("other"), Texts::tr("casts"), Texts::tr("bytes cast")},
                     {}};
    std::vector<OpCounts> counts = countOps(rows);
    const std::vector<OpCounts> others = other ? countOps(*other) : std::vector<OpCounts>{};
    for (const OpCounts& one : others) {  // an op that only the other mode runs is a difference too
        const bool isHere = std::any_of(counts.begin(), counts.end(),
                                        [&](const OpCounts& here) { return here.phase == one.phase && here.op == one.op; });
        if (!isHere) {
            counts.push_back({one.phase, one.op});
        }
    }
    // A column that only fp8 fills is there only with it.
    const auto hasFp8 = [](const std::vector<OpCounts>& all) { return !all.empty() && all.front().fp8 > 0; };
    const bool showsFp8 = hasFp8(counts) || hasFp8(others);
    if (showsFp8) {
        table.columns.insert(table.columns.begin() + fp8Column, QStringLiteral("fp8"));
    }
    for (const OpCounts& one : counts) {
        std::optional<OpCounts> against;
        if (other) {
            const auto found = std::find_if(others.begin(), others.end(),
                                            [&](const OpCounts& there) { return there.phase == one.phase && there.op == one.op; });
            against = found == others.end() ? OpCounts{} : *found;
        }
        const auto cell = [&](std::int64_t OpCounts::*field, bool isBytes = false) {
            return countCell(one.*field, against ? std::optional((*against).*field) : std::nullopt, isBytes);
        };
        table.rows.push_back({textCell(one.op.empty() ? Texts::tr("all ops") : text(one.op)), textCell(phaseText(one.phase)),
                              cell(&OpCounts::fp16), cell(&OpCounts::bf16), cell(&OpCounts::fp32), cell(&OpCounts::other),
                              cell(&OpCounts::casts), cell(&OpCounts::castBytes, true)});
        if (showsFp8) {
            auto& cells = table.rows.back();
            cells.insert(cells.begin() + fp8Column, cell(&OpCounts::fp8));
        }
    }
    return table;
}

QString opSentence(const std::vector<OpDtypeRow>& rows, const QString& mode, const std::vector<LinearLayer>& layers) {
    const auto share = op_share(rows, std::nullopt);
    if (!share) {
        return {};
    }
    const QString half = share->multiply_adds > 0
                             ? text(readable_percent(static_cast<double>(share->multiply_adds_half) / static_cast<double>(share->multiply_adds)))
                             : QStringLiteral("–");
    QStringList kept;
    for (const LinearLayer& one : layers) {
        if (!one.is_fp8) {
            kept << QStringLiteral("%1 (%2 → %3)").arg(text(one.module)).arg(one.in).arg(one.out);
        }
    }
    const QString inBf16 =
        kept.isEmpty() ? QString() : QLatin1Char(' ') + Texts::tr("In bf16, because fp8 takes sizes that are multiples of 16: %1.").arg(kept.join(QStringLiteral(", ")));
    return Texts::tr("%1, step %2: %3 of %4 kinds of op gave half-precision results, with %5 of the multiply-adds.")
        .arg(mode)
        .arg(rows.front().step)
        .arg(share->kinds_half)
        .arg(share->kinds)
        .arg(half) + inBf16;
}

ValueTable updateTable(const RunFacts& run) {
    ValueTable table{{Texts::tr("parameter"), Texts::tr("step"), Texts::tr("not moved"), Texts::tr("rms of the update"),
                      Texts::tr("rms of the weights"), Texts::tr("update / weight")},
                     {}};
    std::vector<const TensorStatRow*> rows;
    for (const auto& [name, row] : run.updates) {
        rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TensorStatRow* a, const TensorStatRow* b) { return a->unmoved.value_or(-1) > b->unmoved.value_or(-1); });
    for (const TensorStatRow* row : rows) {
        const auto weight = run.weights.find(row->tensor);
        const double rms = weight == run.weights.end() ? std::numeric_limits<double>::quiet_NaN() : weight->second.rms;
        const auto number = [](double value) {
            return std::isfinite(value) ? numberCell(text(readable_number(value)), value) : numberCell(QStringLiteral("–"), -1);
        };
        table.rows.push_back({textCell(text(row->tensor)), numberCell(QString::number(row->step), static_cast<double>(row->step)),
                              row->unmoved ? numberCell(shareText(*row->unmoved), *row->unmoved, *row->unmoved > fewMoved)
                                           : numberCell(QStringLiteral("–"), -1),
                              number(row->rms), number(rms), number(row->rms / rms)});
    }
    return table;
}

ValueTable localErrorTable(const RunFacts& run) {
    ValueTable table{{Texts::tr("tensor"), Texts::tr("what"), Texts::tr("step"), Texts::tr("dtype"), Texts::tr("SQNR"),
                      Texts::tr("relative error")},
                     {}};
    std::vector<LocalErrorRow> rows = run.localErrors;
    std::stable_sort(rows.begin(), rows.end(), [](const LocalErrorRow& a, const LocalErrorRow& b) { return a.sqnr_db < b.sqnr_db; });
    for (const LocalErrorRow& row : rows) {
        table.rows.push_back({textCell(text(row.tensor)), textCell(roleText(row.role)),
                              numberCell(QString::number(row.step), static_cast<double>(row.step)), textCell(text(row.dtype)),
                              numberCell(decibelText(row.sqnr_db), std::isnan(row.sqnr_db) ? -1e9 : row.sqnr_db, row.sqnr_db < 20),
                              numberCell(text(readable_number(row.relative_error)), std::isnan(row.relative_error) ? 1e9 : row.relative_error)});
    }
    return table;
}

ValueTable heatTable(const TensorHeat& heat, HeatQuantity quantity, NumberFormat format) {
    ValueTable table{{Texts::tr("tensor"), Texts::tr("step"), quantityName(quantity), Texts::tr("not finite"), Texts::tr("loss scale")}, {}};
    for (std::size_t column = heat.columns().size(); column-- > 0;) {  // the last step first
        for (std::size_t row = 0; row < heat.tensors().size(); ++row) {
            const HeatCell* cell = heat.cell(row, column);
            if (!cell) {
                continue;
            }
            const auto value = heatValue(*cell, quantity, format);
            table.rows.push_back({textCell(text(heat.tensors()[row])), numberCell(QString::number(cell->step), static_cast<double>(cell->step)),
                                  value ? numberCell(heatText(quantity, *value), *value) : numberCell(QStringLiteral("–"), 1e300),
                                  numberCell(shareText(cell->nonfinite), cell->nonfinite, cell->nonfinite > 0),
                                  numberCell(text(readable_scale(cell->lossScale)), cell->lossScale)});
        }
    }
    return table;
}

ValueTable histogramTable(const ExponentShares& shares, NumberFormat format, int log2Scale) {
    ValueTable table{{Texts::tr("magnitude from"), Texts::tr("share"), Texts::tr("with the loss scale"),
                      Texts::tr("in %1").arg(QString::fromLatin1(to_string(format)))},
                     {}};
    for (int field = shares.first; field <= shares.last; ++field) {
        const double share = shares.share[static_cast<std::size_t>(field)];
        if (share > 0) {
            const int exponent = exponentOf(field), moved = exponent + log2Scale;
            const Zone zone = zoneOf(moved, format);
            table.rows.push_back({numberCell(powerText(exponent), exponent), numberCell(shareText(share), share),
                                  numberCell(powerText(moved), moved),
                                  {zoneName(zone), static_cast<double>(zone), zone == Zone::Overflow || zone == Zone::Flush}});
        }
    }
    return table;
}

ValueTable curveTable(const std::array<LensCurve, 4>& curves) {
    ValueTable table{{Texts::tr("loss scale")}, {}};
    for (const NumberFormat format : lensFormats) {
        table.columns.push_back(Texts::tr("lost in %1").arg(QString::fromLatin1(to_string(format))));
    }
    for (std::size_t point = 0; point < curves.front().points.size(); ++point) {
        const int scale = curves.front().points[point].log2_scale;
        std::vector<ValueCell> row{numberCell(powerText(scale), scale)};
        for (const LensCurve& curve : curves) {
            row.push_back(numberCell(shareText(curve.points[point].reading.lost()), curve.points[point].reading.lost()));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace mantissa::ui
