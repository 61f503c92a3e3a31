#include "ui/setup/data_reader.h"

#include <QCoreApplication>
#include <QLocale>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>

#include "formats/array_reader.h"

namespace mantissa::ui {

void DataReader::read(const DatasetPlan& plan) {
    m_isReading = true;
    const quint64 wish = ++m_wish;
    QThreadPool::globalInstance()->start([self = QPointer<DataReader>(this), plan, wish] {
        auto samples = read_samples(plan);
        std::shared_ptr<const DataLook> look;
        QString sentence;
        if (samples) {
            SampleStatistics statistics = describe_samples(*samples);
            look = std::make_shared<const DataLook>(DataLook{plan, std::move(*samples), std::move(statistics)});
        } else {
            sentence = QString::fromStdString(describe(samples.error()));
        }
        QMetaObject::invokeMethod(
            qApp,
            [self, look, sentence, wish] {
                if (self == nullptr || self->m_wish != wish) {
                    return;
                }
                self->m_isReading = false;
                if (look != nullptr) {
                    Q_EMIT self->ready(look);
                } else {
                    Q_EMIT self->failed(sentence);
                }
            },
            Qt::QueuedConnection);
    });
}

void DataReader::forget() {
    ++m_wish;
    m_isReading = false;
}

QString dataSummary(const SampleFacts& facts) {
    const QLocale locale;
    QStringList parts{QString::fromStdString(facts.format)};
    const QString count = locale.toString(facts.samples);
    if (facts.are_tokens) {
        parts << QCoreApplication::translate("DataSummary", "%1 samples of %2 characters").arg(count).arg(facts.width());
    } else if (facts.shape.size() > 1) {
        parts << QCoreApplication::translate("DataSummary", "%1 samples of %2").arg(count, QString::fromStdString(shape_text(facts.shape)));
    } else {
        parts << QCoreApplication::translate("DataSummary", "%1 samples, %2 features").arg(count).arg(facts.width());
    }
    const QString name = QString::fromStdString(facts.target_name);
    const auto classes = static_cast<qlonglong>(facts.classes.size());
    switch (facts.target) {
        case SampleTarget::Classes: parts << QCoreApplication::translate("DataSummary", "labels %1, %2 classes").arg(name).arg(classes); break;
        case SampleTarget::Values: parts << QCoreApplication::translate("DataSummary", "values of %1").arg(name); break;
        case SampleTarget::NextToken: parts << QCoreApplication::translate("DataSummary", "the next of %1 different characters").arg(classes); break;
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace mantissa::ui
