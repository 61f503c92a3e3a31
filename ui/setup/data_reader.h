#pragma once
// Reads a data file beside the window's thread. The newest wish wins: an answer to an older one is dropped. Window's thread.
#include <QObject>
#include <QString>
#include <memory>

#include "samples/statistics.h"

namespace mantissa::ui {

struct DataLook {
    DatasetPlan plan;
    Samples samples;
    SampleStatistics statistics;
};

class DataReader : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;
    void read(const DatasetPlan& plan);
    void forget();
    [[nodiscard]] bool isReading() const { return m_isReading; }

  Q_SIGNALS:
    void ready(std::shared_ptr<const mantissa::ui::DataLook> look);
    void failed(const QString& sentence);

  private:
    quint64 m_wish = 0;
    bool m_isReading = false;
};

/// "CSV · 150 samples of 4 features · labels species, 3 classes"
[[nodiscard]] QString dataSummary(const SampleFacts& facts);

}  // namespace mantissa::ui
