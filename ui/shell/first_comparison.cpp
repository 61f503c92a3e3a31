#include "ui/shell/first_comparison.h"

#include "ui/setup/setup_page.h"
#include "ui/shell/live_host.h"
#include "ui/shell/sample_banner.h"
#include "ui/shell/startup.h"

namespace mantissa::ui {

FirstComparison::FirstComparison(SampleBanner& banner, LiveHost& live, SetupPage& setup, QObject* parent)
    : QObject(parent), m_banner(banner), m_live(live), m_setup(setup) {
    connect(&live, &LiveHost::sampleRequested, this, &FirstComparison::showSample);
    connect(&banner, &SampleBanner::tryHere, this, &FirstComparison::trySample);
    connect(&banner, &SampleBanner::dismissed, this, [this] {
        m_banner.hide();
        Q_EMIT pageWanted(QStringLiteral("setup"));
    });
}

void FirstComparison::showSample() {
    if (const auto sample = sampleFolder()) {
        m_live.openSample(*sample);
        Q_EMIT pageWanted(QStringLiteral("live"));
    } else {
        Q_EMIT message(tr("This installation has no recorded sample."));
    }
}

/// The button promises the comparison that is on the screen; what Set up held before comes back with undo.
void FirstComparison::trySample() {
    const QString preset = samplePreset();
    m_setup.choosePreset(preset);
    if (m_setup.editor().plan().name == preset.toStdString()) {
        startWhenReady();
    }
}

void FirstComparison::startWhenReady() {
    m_isPending = m_setup.probe().state() != MachineProbe::State::Known;
    if (!m_isPending) {
        m_setup.startComparison();
    } else if (m_setup.probe().state() == MachineProbe::State::NoEngine && sampleFolder()) {
        showSample();  // something to look at while the engine is built
        refresh();
    } else if (!m_live.isVisible()) {
        Q_EMIT pageWanted(QStringLiteral("setup"));
    }
}

void FirstComparison::refresh() {
    const bool isMissing = m_setup.probe().state() == MachineProbe::State::NoEngine;
    const QString waits = m_isPending ? tr("The engine is still being built; your comparison starts by itself.")
                                      : tr("The engine is still being built; the button waits for it.");
    m_banner.setReady(!isMissing, isMissing ? waits : QString());
    if (m_isPending && m_setup.probe().state() == MachineProbe::State::Known) {
        m_isPending = false;
        m_setup.startComparison();
    }
}

}  // namespace mantissa::ui
