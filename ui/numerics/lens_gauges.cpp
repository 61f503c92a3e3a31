#include "ui/numerics/lens_gauges.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/numerics/heat_scale.h"
#include "ui/numerics/lens_colours.h"

namespace mantissa::ui {

/// Left to right: becomes 0, subnormal, normal, overflow; what is not 0 is never thinner than two pixels.
class LensGauges::Bar : public QWidget {
  public:
    Bar(Theme& theme, NumberFormat format, QWidget* parent) : QWidget(parent), m_theme(theme), m_format(format) {
        setFixedHeight(10);
        setMinimumWidth(36);
    }
    void setReading(const std::optional<LensReading>& reading) {
        m_reading = reading;
        update();
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const ThemeColours& colours = m_theme.colours();
        painter.fillRect(rect(), colours.grid);
        if (!m_reading) {
            return;
        }
        const double whole = width();
        const auto pixels = [whole](double share) { return share > 0 ? std::max(2.0, share * whole) : 0.0; };
        const double flush = pixels(m_reading->flush), subnormal = pixels(m_reading->subnormal), overflow = pixels(m_reading->overflow);
        const double normal = std::max(0.0, whole - flush - subnormal - overflow);
        const QRectF area(rect());
        painter.fillRect(QRectF(flush + subnormal, 0, normal, area.height()), formatColour(m_format, m_theme));
        painter.fillRect(QRectF(flush, 0, subnormal, area.height()), colours.warning);
        painter.fillRect(QRectF(0, 0, flush, area.height()), QBrush(colours.text, Qt::BDiagPattern));
        painter.fillRect(QRectF(whole - overflow, 0, overflow, area.height()), colours.nonfinite);
    }

  private:
    Theme& m_theme;
    NumberFormat m_format;
    std::optional<LensReading> m_reading;
};

LensGauges::LensGauges(Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    const auto label = [this](Qt::Alignment alignment) {
        auto* made = new QLabel(this);
        made->setAlignment(alignment | Qt::AlignVCenter);
        return made;
    };
    for (int column = 0; column < 6; ++column) {
        m_titles[static_cast<std::size_t>(column)] = label(column < 2 ? Qt::AlignLeft : Qt::AlignRight);
        m_titles[static_cast<std::size_t>(column)]->setProperty("muted", true);
        grid->addWidget(m_titles[static_cast<std::size_t>(column)], 0, column);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Row& row = m_rows[i];
        row = {label(Qt::AlignLeft),  new Bar(theme, lensFormats[i], this), label(Qt::AlignRight), label(Qt::AlignRight),
               label(Qt::AlignRight), label(Qt::AlignRight)};
        row.name->setText(QString::fromLatin1(to_string(lensFormats[i])));
        const int at = static_cast<int>(i) + 1;
        grid->addWidget(row.name, at, 0);
        grid->addWidget(row.bar, at, 1);
        int column = 2;
        for (auto [value, name] : {std::pair{row.flush, "flush"}, {row.subnormal, "subnormal"}, {row.overflow, "overflow"}, {row.sqnr, "sqnr"}}) {
            value->setObjectName(QStringLiteral("%1.%2").arg(row.name->text(), QLatin1String(name)));
            value->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
            value->setFocusPolicy(Qt::ClickFocus);
            value->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("99.99 %")));
            grid->addWidget(value, at, column++);
        }
    }
    connect(&theme, &Theme::changed, this, &LensGauges::refresh);
    retranslate();
}

void LensGauges::setReadings(const std::optional<std::array<LensReading, 4>>& readings) {
    m_readings = readings;
    refresh();
}

void LensGauges::setFormat(NumberFormat format) {
    m_format = format;
    refresh();
}

void LensGauges::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
}

void LensGauges::retranslate() {
    const QString titles[] = {tr("format"), QString(), tr("becomes 0"), tr("subnormal"), tr("overflow"), tr("SQNR")};
    for (std::size_t i = 0; i < m_titles.size(); ++i) {
        m_titles[i]->setText(titles[i]);
    }
    m_titles[5]->setToolTip(tr("Signal to quantisation noise: how much louder the values are than their rounding errors. It hides values "
                               "that become 0, so read both."));
    const int widest = fontMetrics().horizontalAdvance(decibelText(-std::numeric_limits<double>::infinity())) + 2;
    for (Row& row : m_rows) {  // it is a word or a number
        row.sqnr->setMinimumWidth(std::max(row.overflow->minimumWidth(), widest));
    }
    refresh();
}

void LensGauges::refresh() {
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Row& row = m_rows[i];
        const bool isChosen = lensFormats[i] == m_format;
        QFont font = row.name->font();
        font.setBold(isChosen);
        row.name->setFont(font);
        row.bar->setReading(m_readings ? std::optional((*m_readings)[i]) : std::nullopt);
        const QString none = QStringLiteral("–");
        const LensReading reading = m_readings ? (*m_readings)[i] : LensReading{};
        row.flush->setText(m_readings ? shareText(reading.flush) : none);
        row.subnormal->setText(m_readings ? shareText(reading.subnormal) : none);
        row.sqnr->setText(m_readings ? decibelText(reading.sqnr_db) : none);
        const QString overflow = m_readings ? shareText(reading.overflow) : none;
        row.overflow->setText(reading.overflow > 0 ? QStringLiteral("<b style=\"color:%1\">%2</b>").arg(m_theme.colours().error.name(), overflow)
                                                   : overflow);
        row.overflow->setTextFormat(reading.overflow > 0 ? Qt::RichText : Qt::PlainText);
        const QString name = row.name->text();
        row.flush->setAccessibleName(tr("%1, becomes 0").arg(name));
        row.subnormal->setAccessibleName(tr("%1, subnormal").arg(name));
        row.overflow->setAccessibleName(tr("%1, overflow").arg(name));
        row.sqnr->setAccessibleName(tr("%1, SQNR").arg(name));
    }
}

}  // namespace mantissa::ui
