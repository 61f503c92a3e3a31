#include "ui/shell/status_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QTimer>

#include "ui/bridge/retranslation.h"

namespace mantissa::ui {

StatusStrip::StatusStrip(QWidget* parent)
    : QFrame(parent),
      m_dot(new QLabel(QStringLiteral("●"), this)),
      m_workers(new QLabel(this)),
      m_device(new QLabel(this)),
      m_engine(new QLabel(this)),
      m_right(new QLabel(this)) {
    setObjectName(QStringLiteral("StatusStrip"));
    setFixedHeight(24);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 0, 14, 0);
    row->setSpacing(18);
    row->addWidget(m_dot);
    row->setSpacing(6);
    row->addWidget(m_workers);
    row->addSpacing(12);
    row->addWidget(m_device);
    row->addSpacing(12);
    row->addWidget(m_engine);
    row->addSpacing(12);
    row->addWidget(m_right, 1);
    m_right->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_right->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long path must not widen the window
    m_device->setObjectName(QStringLiteral("statusDevice"));
    m_engine->setObjectName(QStringLiteral("statusEngine"));
    m_right->setObjectName(QStringLiteral("statusMessage"));
    auto* texts = new Retranslation(this);
    texts->bind([this] { retranslate(); });
}

void StatusStrip::retranslate() {
    m_workers->setText(tr("%n worker(s)", nullptr, m_workerCount));
    m_dot->setProperty("busy", m_workerCount > 0);
    m_dot->style()->unpolish(m_dot);
    m_dot->style()->polish(m_dot);
    if (m_engineMissing) {
        m_engine->setText(tr("Engine missing: recordings can be read, training cannot start"));
    } else if (m_torchVersion.isEmpty()) {
        m_engine->setText(QString());
    } else {
        m_engine->setText(m_deterministic ? tr("LibTorch %1 · deterministic").arg(m_torchVersion)
                                          : tr("LibTorch %1 · not deterministic").arg(m_torchVersion));
    }
}

void StatusStrip::setWorkers(int workers) {
    if (workers != m_workerCount) {
        m_workerCount = workers;
        retranslate();
    }
}

void StatusStrip::setDevice(const QString& line, const QString& toolTip) {
    m_device->setText(line);
    m_device->setToolTip(toolTip);
}

void StatusStrip::setEngine(const QString& torchVersion, bool deterministic, bool stillMissing) {
    m_torchVersion = torchVersion;
    m_deterministic = deterministic;
    m_engineMissing = stillMissing;
    retranslate();
}

void StatusStrip::showMessage(const QString& text) {
    m_message = text;
    m_right->setToolTip(text);
    elide();
    QTimer::singleShot(8000, this, [this, text] {
        if (m_message == text) {
            m_message.clear();
            m_right->setToolTip({});
            elide();
        }
    });
}

/// In the middle: a sentence keeps its beginning, a path its end.
void StatusStrip::elide() {
    m_right->setText(m_right->fontMetrics().elidedText(m_message, Qt::ElideMiddle, qMax(0, m_right->width())));
}

void StatusStrip::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    elide();
}

}  // namespace mantissa::ui
