#pragma once
// The first samples of a data file: images as pictures, text as text, with their labels. Nothing for tables, whose columns tell more.
#include <QWidget>
#include <memory>

#include "ui/setup/data_reader.h"

namespace mantissa::ui {

class SampleStrip : public QWidget {
    Q_OBJECT
  public:
    explicit SampleStrip(QWidget* parent = nullptr);
    void setLook(std::shared_ptr<const DataLook> look);
    [[nodiscard]] QSize sizeHint() const override;
    /// The picture of one sample; null where the samples are no images.
    [[nodiscard]] static QImage picture(const DataLook& look, std::int64_t sample);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    [[nodiscard]] bool isShown() const;
    std::shared_ptr<const DataLook> m_look;
};

}  // namespace mantissa::ui
