#include "ui/live/empty_live.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace mantissa::ui {

EmptyLive::EmptyLive(QWidget* parent) : QWidget(parent) {
    auto* sentence = new QLabel(tr("Nothing is running. A comparison trains the same model in several precisions and shows "
                                   "here, step by step, where they differ."),
                                this);
    sentence->setWordWrap(true);
    sentence->setAlignment(Qt::AlignCenter);
    sentence->setMaximumWidth(560);
    auto* sample = new QPushButton(tr("&Open the sample comparison"), this);
    sample->setObjectName(QStringLiteral("openSample"));
    sample->setProperty("primary", true);
    auto* setUp = new QPushButton(tr("Set &up a comparison"), this);
    setUp->setObjectName(QStringLiteral("openSetUp"));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(sample);
    buttons->addWidget(setUp);
    buttons->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addStretch(1);
    layout->addWidget(sentence, 0, Qt::AlignHCenter);
    layout->addSpacing(14);
    layout->addLayout(buttons);
    layout->addStretch(2);
    connect(sample, &QPushButton::clicked, this, &EmptyLive::sampleRequested);
    connect(setUp, &QPushButton::clicked, this, &EmptyLive::setUpRequested);
}

}  // namespace mantissa::ui
