<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
<context>
    <name>mantissa::ui::OverruledLine</name>
    <message numerus="yes">
        <source>%n setting(s) overrule another</source>
        <translation>
            <numerusform>%n setting overrules another</numerusform>
            <numerusform>%n settings overrule others</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::EvidencePanel</name>
    <message numerus="yes">
        <source>%n more non-finite tensor(s) downstream, counted in the replay</source>
        <translation>
            <numerusform>%n more non-finite tensor downstream, counted in the replay</numerusform>
            <numerusform>%n more non-finite tensors downstream, counted in the replay</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more non-finite tensor(s) downstream at the incident; a replay counts all</source>
        <translation>
            <numerusform>%n more non-finite tensor downstream at the incident; a replay counts all</numerusform>
            <numerusform>%n more non-finite tensors downstream at the incident; a replay counts all</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WhatIfModel</name>
    <message numerus="yes">
        <source>%n step(s) on</source>
        <translation>
            <numerusform>%n step on</numerusform>
            <numerusform>%n steps on</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayView</name>
    <message numerus="yes">
        <source>%n replay(s)</source>
        <translation>
            <numerusform>%n replay</numerusform>
            <numerusform>%n replays</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::VariantWords</name>
    <message numerus="yes">
        <source>half the learning rate, from %n step(s) earlier</source>
        <translation>
            <numerusform>half the learning rate, from %n step earlier</numerusform>
            <numerusform>half the learning rate, from %n steps earlier</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It went bad again %n step(s) later.</source>
        <translation>
            <numerusform>It went bad again %n step later.</numerusform>
            <numerusform>It went bad again %n steps later.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Finite for %n further step(s).</source>
        <translation>
            <numerusform>Finite for %n further step.</numerusform>
            <numerusform>Finite for %n further steps.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunsPage</name>
    <message numerus="yes">
        <source>You can undo it for 20 seconds. %n run(s) belong to it.</source>
        <translation>
            <numerusform>You can undo it for 20 seconds. %n run belongs to it.</numerusform>
            <numerusform>You can undo it for 20 seconds. %n runs belong to it.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::Sections</name>
    <message numerus="yes">
        <source>%1 every %n step(s)</source>
        <translation>
            <numerusform>%1 every step</numerusform>
            <numerusform>%1 every %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%n thread</numerusform>
            <numerusform>%n threads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>every %n step(s) and at the end</source>
        <translation>
            <numerusform>every step and at the end</numerusform>
            <numerusform>every %n steps and at the end</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>every %n step(s)</source>
        <translation>
            <numerusform>every step</numerusform>
            <numerusform>every %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>tensors every %n step(s)</source>
        <translation>
            <numerusform>tensors every step</numerusform>
            <numerusform>tensors every %n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n repetition(s)</source>
        <translation>
            <numerusform>%n repetition</numerusform>
            <numerusform>%n repetitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StatusStrip</name>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n worker</numerusform>
            <numerusform>%n workers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::PlanFiles</name>
    <message numerus="yes">
        <source>Accelerate's configuration read: %n setting(s) from %1</source>
        <translation>
            <numerusform>Accelerate's configuration read: %n setting from %1</numerusform>
            <numerusform>Accelerate's configuration read: %n settings from %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunDetails</name>
    <message numerus="yes">
        <source>%n checkpoint(s), %1</source>
        <translation>
            <numerusform>%n checkpoint, %1</numerusform>
            <numerusform>%n checkpoints, %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunKeeper</name>
    <message numerus="yes">
        <source>%n tensor(s), %1, of %2 after step %3.</source>
        <translation>
            <numerusform>%n tensor, %1, of %2 after step %3.</numerusform>
            <numerusform>%n tensors, %1, of %2 after step %3.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunChart</name>
    <message numerus="yes">
        <source>lowest to highest of %n repetition(s) of no</source>
        <translation>
            <numerusform>%n repetition of no</numerusform>
            <numerusform>lowest to highest of %n repetitions of no</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n repetition(s)</source>
        <translation>
            <numerusform>%n repetition</numerusform>
            <numerusform>%n repetitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StepTableModel</name>
    <message numerus="yes">
        <source>lowest of %n repetition(s)</source>
        <translation>
            <numerusform>lowest of %n repetition</numerusform>
            <numerusform>lowest of %n repetitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>highest of %n repetition(s)</source>
        <translation>
            <numerusform>highest of %n repetition</numerusform>
            <numerusform>highest of %n repetitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::DataDialog</name>
    <message numerus="yes">
        <source>%n sample(s) left out for missing values</source>
        <translation>
            <numerusform>%n sample left out for missing values</numerusform>
            <numerusform>%n samples left out for missing values</numerusform>
        </translation>
    </message>
</context>
</TS>
