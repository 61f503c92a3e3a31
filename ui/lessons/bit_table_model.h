#pragma once
// A number in five formats, and in fp16 behind a loss scale. Facts by role for the delegate that paints the bits.
#include <QAbstractTableModel>
#include <optional>

#include "lessons/number_bits.h"
#include "ui/lessons/lesson_words.h"

namespace mantissa::ui {

class BitTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Format, Bits, Value, Below, Above, Kind, ColumnCount };
    enum Role { SignRole = Qt::UserRole, ExponentRole, MantissaRole, ChangedRole };
    BitTableModel(const LessonWords& words, QObject* parent = nullptr);

    void setNumber(double typed, double scale);
    void retranslate();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    /// The last row is fp16 behind the scale: its value is what comes back.
    [[nodiscard]] bool isScaled(int row) const { return row == static_cast<int>(all_number_formats.size()); }
    [[nodiscard]] const NumberBits& bits(int row) const;
    [[nodiscard]] QString text(int row, int column) const;

    const LessonWords& m_words;
    NumberInspection m_inspection;
};

}  // namespace mantissa::ui
