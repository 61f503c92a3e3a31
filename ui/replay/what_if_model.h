#pragma once
// The what-if grid as a table: change, this step, later steps. Facts and their words; colours are the view's (replay_colours.h). Lines that
// are already there only change when a report is rewritten, so that a chosen row stays chosen while the grid fills in.
#include <QAbstractTableModel>
#include <vector>

#include "record/replay_report.h"
#include "ui/replay/variant_words.h"

namespace mantissa::ui {

/// Roles of both tables of the page.
enum ReplayRole { ToneRole = Qt::UserRole + 1, BestRole, BirthRole, CarriedRole };

class WhatIfModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Change, ThisStep, Later, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    void setReport(const ReplayReport* report);
    void retranslate();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    [[nodiscard]] CellText cell(const QModelIndex& index) const;

    std::vector<VariantReport> m_variants;
    Precision m_mode = Precision::No;
    std::int64_t m_step = 0;
    bool m_isOver = false;
    std::string m_best;
};

}  // namespace mantissa::ui
