#pragma once
// A chart as a file: PNG and SVG of what is shown, CSV of all raw values of its runs (never decimated, never zoomed, never smoothed).
#include <QString>

#include "base/result.h"

class QIODevice;

namespace mantissa::ui {

class RunChart;

Result<void> exportPng(RunChart& chart, const QString& file, double scale = 2.0);
Result<void> exportSvg(RunChart& chart, const QString& file, const QString& title);
Result<void> exportCsv(const RunChart& chart, const QString& file);
/// step, then per run: value, applied step, seconds, what became of the step. Numbers in the C locale; nan inf -inf; empty = not
/// measured, or no such step in that run.
void writeCsv(const RunChart& chart, QIODevice& device);

}  // namespace mantissa::ui
