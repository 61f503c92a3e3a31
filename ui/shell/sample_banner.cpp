#include "ui/shell/sample_banner.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/bridge/retranslation.h"

namespace mantissa::ui {

SampleBanner::SampleBanner(QWidget* parent)
    : QWidget(parent),
      m_text(new QLabel(this)),
      m_try(new QPushButton(this)),
      m_close(new QPushButton(this)) {
    setObjectName(QStringLiteral("sampleBanner"));
    auto* card = new QFrame(this);
    card->setProperty("card", true);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(12, 8, 12, 0);
    outer->addWidget(card);
    m_text->setWordWrap(true);
    m_try->setProperty("primary", true);
    m_try->setProperty("tall", true);
    m_try->setObjectName(QStringLiteral("tryHere"));
    auto* row = new QHBoxLayout(card);
    row->setContentsMargins(14, 8, 10, 8);
    row->setSpacing(10);
    row->addWidget(m_text, 1);
    row->addWidget(m_close);
    row->addWidget(m_try);
    connect(m_try, &QPushButton::clicked, this, &SampleBanner::tryHere);
    connect(m_close, &QPushButton::clicked, this, &SampleBanner::dismissed);
    m_texts = new Retranslation(this);
    m_texts->bind([this] {
        m_text->setText(m_reason.isEmpty()
                            ? tr("This is a recorded comparison, to look at. The button runs the same one on "
                                 "this machine.")
                            : tr("This is a recorded comparison, to look at. %1").arg(m_reason));
        m_try->setText(tr("Compare on this machine"));
        m_close->setText(tr("Set up my own"));
    });
}

void SampleBanner::setReady(bool ready, const QString& reason) {
    m_try->setEnabled(ready);
    m_reason = reason;
    m_texts->runAll();
}

}  // namespace mantissa::ui
