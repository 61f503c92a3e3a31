#include "ui/charts/chart_export.h"

#include <QCoreApplication>
#include <QImage>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <cmath>

#include "base/numbers.h"
#include "ui/charts/run_chart.h"

namespace mantissa::ui {
namespace {

struct ExportTexts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::ExportTexts)
};

Error cannotWrite(const QString& file, const QString& reason) {
    return {ErrorCode::InputOutput, ExportTexts::tr("%1 can't be written: %2").arg(file, reason).toStdString(),
            ExportTexts::tr("Choose another folder, or free some space.").toStdString()};
}

// Words of the file format, not of the window: not translated.
const char* csvWord(StepFate fate) {
    switch (fate) {
        case StepFate::Applied: return "applied";
        case StepFate::SkipProbing: return "skipped_probing";
        case StepFate::SkipFault: return "skipped_fault";
        case StepFate::Nonfinite: return "nonfinite";
    }
    return "";
}

const char* csvName(Quantity quantity) {
    switch (quantity) {
        case Quantity::Loss: return "loss";
        case Quantity::GradientNorm: return "grad_norm";
        case Quantity::LossScale: return "loss_scale";
        case Quantity::LearningRate: return "learning_rate";
        case Quantity::MemoryPeak: return "memory_peak_bytes";
        case Quantity::StepTime: return "step_ms";
        case Quantity::Throughput: return "samples_per_second";
        case Quantity::Headroom: return "headroom_bits";
    }
    return "";
}

void appendRun(std::string& line, const RunSeries& series, std::int64_t step, Quantity quantity) {
    const std::optional<std::size_t> at = series.indexOfStep(step);
    if (!at) {
        line += ",,,,";
        return;
    }
    const double value = series.column(quantity)[*at];
    const bool canBeNan = quantity == Quantity::Loss || quantity == Quantity::GradientNorm;
    line += ',';
    line += std::isnan(value) && !canBeNan ? std::string() : to_text(value);
    line += ',' + to_text(series.x(XKind::AppliedStep)[*at]);
    line += ',' + to_text(series.x(XKind::Time)[*at]);
    line += ',';
    line += csvWord(series.fate(*at));
}

}  // namespace

void writeCsv(const RunChart& chart, QIODevice& device) {
    std::string line = "step";
    std::int64_t steps = 0;
    const Quantity quantity = chart.options().quantity;
    for (const ChartRun& run : chart.runs()) {
        const std::string mode = (run.isBefore ? "before_" : "") + std::string(to_string(run.mode));
        line += ',' + mode + '_' + csvName(quantity) + ',' + mode + "_applied_step," + mode + "_seconds," + mode + "_step";
        steps = std::max(steps, run.series->isEmpty() ? 0 : run.series->steps().back() + 1);
    }
    const std::vector<const RunSeries*>& repetitions = chart.repetitions();
    for (const char* end : {"lowest_", "highest_"}) {
        line += repetitions.empty() ? std::string() : std::string(",repetitions_") + end + csvName(quantity);
    }
    line += '\n';
    for (std::int64_t step = 0; step < steps; ++step) {
        line += std::to_string(step);
        for (const ChartRun& run : chart.runs()) {
            appendRun(line, *run.series, step, quantity);
        }
        if (!repetitions.empty()) {
            const auto spread = spreadAt(repetitions, step, quantity);
            line += spread ? ',' + to_text(spread->low) + ',' + to_text(spread->high) : std::string(",,");
        }
        line += '\n';
        if (line.size() > 1 << 16) {
            device.write(line.data(), static_cast<qint64>(line.size()));
            line.clear();
        }
    }
    device.write(line.data(), static_cast<qint64>(line.size()));
}

Result<void> exportCsv(const RunChart& chart, const QString& file) {
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) {
        return cannotWrite(file, out.errorString());
    }
    writeCsv(chart, out);
    return out.commit() ? Result<void>() : cannotWrite(file, out.errorString());
}

Result<void> exportPng(RunChart& chart, const QString& file, double scale) {
    QImage image((QSizeF(chart.viewport()->size()) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    chart.paintOn(painter, QRectF(QPointF(0, 0), QSizeF(image.size())));
    painter.end();
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || !image.save(&out, "PNG") || !out.commit()) {
        return cannotWrite(file, out.errorString());
    }
    return {};
}

Result<void> exportSvg(RunChart& chart, const QString& file, const QString& title) {
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) {
        return cannotWrite(file, out.errorString());
    }
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    generator.setSize(chart.viewport()->size());
    generator.setViewBox(QRect(QPoint(0, 0), chart.viewport()->size()));
    generator.setTitle(title);
    QPainter painter(&generator);
    chart.paintOn(painter, QRectF(QPointF(0, 0), QSizeF(chart.viewport()->size())));
    painter.end();
    return out.commit() ? Result<void>() : cannotWrite(file, out.errorString());
}

}  // namespace mantissa::ui
