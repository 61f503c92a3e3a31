#include "ui/setup/sample_strip.h"

#include <QImage>
#include <QPainter>
#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int side = 64, gap = 8, textLines = 3;

bool areImages(const SampleFacts& facts) { return facts.shape.size() == 3 && (facts.shape[0] == 1 || facts.shape[0] == 3); }

}  // namespace

SampleStrip::SampleStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("sampleStrip"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    hide();
}

void SampleStrip::setLook(std::shared_ptr<const DataLook> look) {
    m_look = std::move(look);
    setVisible(isShown());
    updateGeometry();
    update();
}

bool SampleStrip::isShown() const { return m_look != nullptr && (m_look->samples.facts.are_tokens || areImages(m_look->samples.facts)); }

QSize SampleStrip::sizeHint() const {
    const int line = fontMetrics().height();
    return isShown() && m_look->samples.facts.are_tokens ? QSize(400, textLines * line + gap) : QSize(400, side + line + 4);
}

QImage SampleStrip::picture(const DataLook& look, std::int64_t sample) {
    const SampleFacts& facts = look.samples.facts;
    if (!areImages(facts)) {
        return {};
    }
    const auto height = static_cast<int>(facts.shape[1]), width = static_cast<int>(facts.shape[2]);
    const float* values = look.samples.features.data() + sample * facts.width();
    const double low = look.statistics.all.smallest, span = look.statistics.all.largest - low;
    const auto level = [&](std::int64_t channel, int y, int x) {
        const double value = values[(channel * height + y) * width + x];
        return span > 0 ? std::clamp(static_cast<int>((value - low) / span * 255 + 0.5), 0, 255) : 0;
    };
    QImage image(width, height, QImage::Format_RGB32);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const int red = level(0, y, x);
            image.setPixel(x, y, facts.shape[0] == 3 ? qRgb(red, level(1, y, x), level(2, y, x)) : qRgb(red, red, red));
        }
    }
    return image;
}

void SampleStrip::paintEvent(QPaintEvent*) {
    if (!isShown()) {
        return;
    }
    QPainter painter(this);
    const SampleFacts& facts = m_look->samples.facts;
    const int line = fontMetrics().height();
    if (facts.are_tokens) {
        for (int row = 0; row < std::min<std::int64_t>(textLines, facts.samples); ++row) {
            QString text;
            for (std::int64_t i = 0; i < std::min<std::int64_t>(facts.width(), 200); ++i) {
                text += QString::fromStdString(facts.classes[static_cast<std::size_t>(m_look->samples.features.data()[row * facts.width() + i])]);
            }
            text.replace(QLatin1Char('\n'), QChar(0x21B5));
            painter.setPen(palette().color(QPalette::Text));
            painter.drawText(QRect(0, row * line, width(), line), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(text, Qt::ElideRight, width()));
        }
        return;
    }
    const auto count = std::min<std::int64_t>(facts.samples, std::max(1, (width() + gap) / (side + gap)));
    for (std::int64_t sample = 0; sample < count; ++sample) {
        const int left = static_cast<int>(sample) * (side + gap);
        painter.drawImage(QRect(left, 0, side, side), picture(*m_look, sample));
        const auto at = static_cast<std::size_t>(sample);
        const QString label = facts.target == SampleTarget::Values ? QString::number(m_look->samples.values[at], 'g', 4)
                                                                   : QString::fromStdString(facts.classes[static_cast<std::size_t>(m_look->samples.labels[at])]);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRect(left - gap / 2, side + 2, side + gap, line), Qt::AlignHCenter | Qt::AlignTop, fontMetrics().elidedText(label, Qt::ElideRight, side + gap));
    }
}

}  // namespace mantissa::ui
