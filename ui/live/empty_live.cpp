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
    sentence->setFixedWidth(460);
    sentence->setProperty("muted", true);
    auto* heading = new QLabel(tr("See what a precision costs, and what it breaks"), this);
    heading->setAlignment(Qt::AlignCenter);
    QFont large = heading->font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setBold(true);
    heading->setFont(large);
    auto* sample = new QPushButton(tr("&Open the sample comparison"), this);
    sample->setObjectName(QStringLiteral("openSample"));
    sample->setProperty("primary", true);
    sample->setMinimumHeight(40);
    auto* setUp = new QPushButton(tr("Set &up a comparison"), this);
    setUp->setObjectName(QStringLiteral("openSetUp"));
    setUp->setMinimumHeight(40);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(sample);
    buttons->addWidget(setUp);
    buttons->addStretch(1);
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addWidget(sentence);
    middle->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addStretch(1);
    layout->addWidget(heading);
    layout->addSpacing(8);
    layout->addLayout(middle);
    layout->addSpacing(16);
    layout->addLayout(buttons);
    layout->addStretch(2);
    connect(sample, &QPushButton::clicked, this, &EmptyLive::sampleRequested);
    connect(setUp, &QPushButton::clicked, this, &EmptyLive::setUpRequested);
}

}  // namespace mantissa::ui
