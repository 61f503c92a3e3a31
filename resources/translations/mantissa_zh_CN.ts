<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Dialogs</name>
    <message>
        <source>Open a run or comparison folder</source>
        <translation>打开运行或对照的文件夹</translation>
    </message>
    <message>
        <source>About Mantissa</source>
        <translation>关于 Mantissa</translation>
    </message>
    <message>
        <source>A workbench for mixed-precision training: compare no, fp16 and bf16 on this machine, and see which mode to take, and why. GPL-3.0-or-later.</source>
        <translation>混合精度训练工作台：在本机对照 no、fp16 与 bf16，看清该选哪种模式以及原因。GPL-3.0-or-later。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayPage</name>
    <message>
        <source>Copied as text.</source>
        <translation>已复制为文本。</translation>
    </message>
    <message>
        <source>Free the kept states</source>
        <translation>释放保留的状态</translation>
    </message>
    <message>
        <source>Delete the kept states of this step and free %1?</source>
        <translation>删除这一步保留的状态，释放 %1？</translation>
    </message>
    <message>
        <source>A replay then runs forward from the seed, which takes longer, and a run can't go on from here. What was found stays.</source>
        <translation>之后重放须从种子向前运行，耗时更长，也无法从这里继续运行。已得到的结论保留。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>The states could not be deleted: %1.</source>
        <translation>无法删除状态：%1。</translation>
    </message>
    <message>
        <source>%1 freed.</source>
        <translation>已释放 %1。</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>返回 (Alt+Left)</translation>
    </message>
    <message>
        <source>What if</source>
        <translation>假设</translation>
    </message>
    <message>
        <source>same step, same batch</source>
        <translation>同一步，同一批次</translation>
    </message>
    <message>
        <source>What if: a change per row</source>
        <translation>假设：每行一种改动</translation>
    </message>
    <message>
        <source>A replay does this step again as it was, then with one change at a time: in no, with loss scale 1, in bf16, with the producer in fp32, with the batch before, with half the learning rate from earlier. Each also goes 20 steps on: only a change that holds counts.</source>
        <translation>重放先原样重做这一步，再每次只改一处：用 no、损失缩放 1、bf16、出错算子用 fp32、换成前一批次、从更早处起学习率减半。每种改动都再走 20 步：只有一直有效的才算。</translation>
    </message>
    <message>
        <source>Free…</source>
        <translation>释放…</translation>
    </message>
    <message>
        <source>Deletes the kept states of this step.</source>
        <translation>删除这一步保留的状态。</translation>
    </message>
    <message>
        <source>after %1 steps: %2</source>
        <translation>%1 步之后：%2</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::EvidencePanel</name>
    <message>
        <source>How it got here</source>
        <translation>如何走到这一步</translation>
    </message>
    <message>
        <source>In this step</source>
        <translation>在这一步里</translation>
    </message>
    <message>
        <source>table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>The same values as a table</source>
        <translation>同样的数值，以表格显示</translation>
    </message>
    <message>
        <source>Largest value, a row per step</source>
        <translation>最大值，每步一行</translation>
    </message>
    <message>
        <source>Operations of this step around the first bad value</source>
        <translation>这一步里首个异常值前后的算子</translation>
    </message>
    <message>
        <source>largest value of %1</source>
        <translation>%1 的最大值</translation>
    </message>
    <message>
        <source>Chart: how it got here. %1</source>
        <translation>图：如何走到这一步。%1</translation>
    </message>
    <message numerus="yes">
        <source>%n more non-finite tensor(s) downstream, counted in the replay</source>
        <translation>
            <numerusform>下游另有 %n 个非有限张量（重放中统计）</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more non-finite tensor(s) downstream at the incident; a replay counts all</source>
        <translation>
            <numerusform>下游另有 %n 个非有限张量（出错时的记录；重放统计全部）</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WhatIfDialog</name>
    <message>
        <source>What if…</source>
        <translation>假设…</translation>
    </message>
    <message>
        <source>Step %1 again, same weights and same batch, with this changed. The run's folder keeps its recording.</source>
        <translation>以相同的权重和批次重做第 %1 步，只改以下内容。运行文件夹中的记录不变。</translation>
    </message>
    <message>
        <source>&amp;Precision</source>
        <translation>精度(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Learning rate</source>
        <translation>学习率(&amp;L)</translation>
    </message>
    <message>
        <source>Loss &amp;scale</source>
        <translation>损失缩放(&amp;S)</translation>
    </message>
    <message>
        <source>Kept in &amp;fp32</source>
        <translation>保持 fp32(&amp;F)</translation>
    </message>
    <message>
        <source>module, module.operation or aten::operation</source>
        <translation>模块、模块.算子 或 aten::算子</translation>
    </message>
    <message>
        <source>for example %1</source>
        <translation>例如 %1</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>试一试</translation>
    </message>
    <message>
        <source>Change something first.</source>
        <translation>请先改动一项。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayHeadline</name>
    <message>
        <source>Run the control now</source>
        <translation>立即运行对照组</translation>
    </message>
    <message>
        <source>What if…</source>
        <translation>假设…</translation>
    </message>
    <message>
        <source>The same step with a change of your own: mode, learning rate, loss scale, parts in fp32.</source>
        <translation>自定改动重做这一步：模式、学习率、损失缩放、保持 fp32 的部分。</translation>
    </message>
    <message>
        <source>Save bundle…</source>
        <translation>保存打包文件…</translation>
    </message>
    <message>
        <source>Everything about this step as one .zip file, which `mantissa replay FILE.zip` takes on another machine.</source>
        <translation>把这一步的全部内容存为一个 .zip 文件，可在另一台机器上用 `mantissa replay FILE.zip` 打开。</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>复制为文本</translation>
    </message>
    <message>
        <source>Progress of the replay</source>
        <translation>重放进度</translation>
    </message>
    <message>
        <source>Reading the step…</source>
        <translation>正在读取这一步…</translation>
    </message>
    <message>
        <source>Replay this step</source>
        <translation>重放这一步</translation>
    </message>
    <message>
        <source>Replay again</source>
        <translation>再次重放</translation>
    </message>
    <message>
        <source>doing the step again…</source>
        <translation>正在重做这一步…</translation>
    </message>
    <message>
        <source>%1 of %2 changes tried</source>
        <translation>已尝试 %1 / %2 种改动</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Trains this plan once more in mode no, as a run of its own. If no goes bad too, precision isn't the cause.</source>
        <translation>以 no 模式再训练一次同一计划，作为单独的运行。若 no 也出错，原因就不在精度。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::GrownChart</name>
    <message>
        <source>Left and right arrow keys go from step to step. The menu beside the title shows the same values as a table.</source>
        <translation>左右方向键逐步移动。标题旁的按钮可将同样的数值显示为表格。</translation>
    </message>
    <message>
        <source>The steps before were not recorded here. A replay reads them on its way.</source>
        <translation>这里没有记录之前的步。重放时会读取它们。</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 · one bit left</source>
        <translation>%1 · 仅剩一位</translation>
    </message>
    <message>
        <source>step %1: %2</source>
        <translation>第 %1 步：%2</translation>
    </message>
    <message>
        <source>step %1: %2, %3 bits left</source>
        <translation>第 %1 步：%2，剩 %3 位</translation>
    </message>
    <message>
        <source>Chart: largest value of %1. %2</source>
        <translation>图：%1 的最大值。%2</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::GrownModel</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>largest value</source>
        <translation>最大值</translation>
    </message>
    <message>
        <source>bits left</source>
        <translation>剩余位数</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::GrownValues</name>
    <message>
        <source>gradient of %1</source>
        <translation>%1 的梯度</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StepOpsModel</name>
    <message>
        <source>%1, backward</source>
        <translation>%1，反向</translation>
    </message>
    <message>
        <source>born here</source>
        <translation>产生于此</translation>
    </message>
    <message>
        <source>carried on</source>
        <translation>被传下去</translation>
    </message>
    <message>
        <source>%1 %2: largest %3, smallest non-zero %4</source>
        <translation>%1 %2：最大 %3，最小非零 %4</translation>
    </message>
    <message>
        <source>%1 negative, %2 zero, %3 positive, %4 −Inf, %5 +Inf, %6 NaN</source>
        <translation>%1 个负，%2 个零，%3 个正，%4 个 −Inf，%5 个 +Inf，%6 个 NaN</translation>
    </message>
    <message>
        <source>where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>op</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>in, largest</source>
        <translation>输入最大值</translation>
    </message>
    <message>
        <source>out</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>dtype</source>
        <translation>类型</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WhatIfModel</name>
    <message>
        <source>%1 ◀ best</source>
        <translation>%1 ◀ 最佳</translation>
    </message>
    <message>
        <source>change</source>
        <translation>改动</translation>
    </message>
    <message>
        <source>this step</source>
        <translation>这一步</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) on</source>
        <translation>
            <numerusform>之后 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>later steps</source>
        <translation>之后的步</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayView</name>
    <message>
        <source>What if: step %2 of %1</source>
        <translation>假设：%1 的第 %2 步</translation>
    </message>
    <message>
        <source>Why did %1 stop?</source>
        <translation>%1 为何停止？</translation>
    </message>
    <message>
        <source>What went wrong in %1?</source>
        <translation>%1 出了什么问题？</translation>
    </message>
    <message>
        <source>%1 · %2 · batch %3 · learning rate %4 · seed %5</source>
        <translation>%1 · %2 · 批大小 %3 · 学习率 %4 · 种子 %5</translation>
    </message>
    <message>
        <source>reproduced: same bits ✓</source>
        <translation>已重现：逐位相同 ✓</translation>
    </message>
    <message>
        <source>Every step up to this one came out bit for bit as it was recorded.</source>
        <translation>到这一步为止，每一步都与记录逐位相同。</translation>
    </message>
    <message>
        <source>reproduced: same pattern ✓</source>
        <translation>已重现：现象相同 ✓</translation>
    </message>
    <message>
        <source>The bits differ, the bad step and its place are the same. %1</source>
        <translation>位不同，但出错的步和位置相同。%1</translation>
    </message>
    <message>
        <source>not reproduced ✗</source>
        <translation>未能重现 ✗</translation>
    </message>
    <message>
        <source>control finite ✓</source>
        <translation>对照组有限 ✓</translation>
    </message>
    <message>
        <source>The run in mode no is finite at this step.</source>
        <translation>no 模式的运行在这一步有限。</translation>
    </message>
    <message>
        <source>control not finite ✗</source>
        <translation>对照组非有限 ✗</translation>
    </message>
    <message>
        <source>The run in mode no is bad at this step too: precision isn't the cause.</source>
        <translation>no 模式的运行在这一步同样出错：原因不在精度。</translation>
    </message>
    <message>
        <source>no control run</source>
        <translation>没有对照组</translation>
    </message>
    <message>
        <source>No run in mode no of this plan says whether precision is the cause.</source>
        <translation>没有同一计划的 no 模式运行，无法判断原因是否在精度。</translation>
    </message>
    <message>
        <source>control not there yet</source>
        <translation>对照组尚未到达</translation>
    </message>
    <message>
        <source>The run in mode no hasn't come to this step.</source>
        <translation>no 模式的运行还没到这一步。</translation>
    </message>
    <message>
        <source>Step %1 of %2 again, with changes</source>
        <translation>带改动重做 %2 的第 %1 步</translation>
    </message>
    <message>
        <source>%1 met a non-finite value at step %2; where it was born isn't known yet</source>
        <translation>%1 在第 %2 步遇到非有限值；尚不知道它产生于何处</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>%2 的第 %1 步</translation>
    </message>
    <message>
        <source>Replay this step: it is done again in fresh processes, op by op, and then with one change at a time.</source>
        <translation>请重放这一步：在全新的进程里逐个算子重做，再每次只改一处重做。</translation>
    </message>
    <message>
        <source>Whether precision is the cause is open while there is no run in mode no. Run the control first; it is the cheapest experiment.</source>
        <translation>没有 no 模式的运行，就无法断定原因是否在精度。请先运行对照组，这是代价最小的实验。</translation>
    </message>
    <message>
        <source>The same step and batch again, with one change at a time…</source>
        <translation>同一步、同一批次，每次只改一处重做…</translation>
    </message>
    <message>
        <source>None of the changes that were tried keeps it finite. Look at the data and the formula at that place, or try one of your own.</source>
        <translation>已尝试的改动都不能使它保持有限。请检查该处的数据和公式，或自定一种改动。</translation>
    </message>
    <message>
        <source>It stays finite with %1.</source>
        <translation>%1 可使它保持有限。</translation>
    </message>
    <message>
        <source>Not reproduced: step %1 came out otherwise here.</source>
        <translation>未能重现：第 %1 步在这里结果不同。</translation>
    </message>
    <message>
        <source>Not reproduced: %1.</source>
        <translation>未能重现：%1。</translation>
    </message>
    <message>
        <source>This step can't be looked at: %1.</source>
        <translation>无法查看这一步：%1。</translation>
    </message>
    <message>
        <source>If the folder was moved, open it at its new place (Ctrl+Shift+O).</source>
        <translation>若文件夹已移动，请从新位置打开（Ctrl+Shift+O）。</translation>
    </message>
    <message>
        <source>The incident file is damaged: %1. A replay finds the place anew.</source>
        <translation>事件文件已损坏：%1。重放可重新找到出错位置。</translation>
    </message>
    <message>
        <source>The last replay's file is damaged: %1. Replay the step again.</source>
        <translation>上次重放的文件已损坏：%1。请再次重放这一步。</translation>
    </message>
    <message>
        <source>The last replay failed: %1</source>
        <translation>上次重放失败：%1</translation>
    </message>
    <message>
        <source>The last replay was stopped before it had tried a change. Replay the step again.</source>
        <translation>上次重放在尝试任何改动之前就停止了。请再次重放这一步。</translation>
    </message>
    <message>
        <source>The last replay was stopped: %1 of %2 changes were tried. Replay again to try them all.</source>
        <translation>上次重放中途停止：%2 处改动中已尝试 %1 处。再次重放即可全部尝试。</translation>
    </message>
    <message>
        <source>The kept states were deleted: a replay runs forward from the seed.</source>
        <translation>保留的状态已删除：重放会从种子开始向前运行。</translation>
    </message>
    <message>
        <source>No state is kept: %1</source>
        <translation>没有保留状态：%1</translation>
    </message>
    <message>
        <source> and </source>
        <translation> 和 </translation>
    </message>
    <message>
        <source>Kept states: after %1 steps · %2</source>
        <translation>保留的状态：第 %1 步之后 · %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message numerus="yes">
        <source>%n replay(s)</source>
        <translation>
            <numerusform>%n 次重放</numerusform>
        </translation>
    </message>
    <message>
        <source>Apply best and continue from step %1</source>
        <translation>应用最佳改动，从第 %1 步继续</translation>
    </message>
    <message>
        <source>Apply best and start again from step 0</source>
        <translation>应用最佳改动，从第 0 步重新开始</translation>
    </message>
    <message>
        <source> ← best</source>
        <translation> ← 最佳</translation>
    </message>
    <message>
        <source>  born here</source>
        <translation>  产生于此</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::VariantWords</name>
    <message>
        <source>It waits for its turn.</source>
        <translation>正在等待。</translation>
    </message>
    <message>
        <source>running…</source>
        <translation>进行中…</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>略去</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Loss %1.</source>
        <translation>损失 %1。</translation>
    </message>
    <message>
        <source>%1 as it was</source>
        <translation>%1，原样</translation>
    </message>
    <message>
        <source>%1, loss scale 1</source>
        <translation>%1，损失缩放 1</translation>
    </message>
    <message>
        <source>%1, %2 in fp32</source>
        <translation>%1，%2 用 fp32</translation>
    </message>
    <message>
        <source>%1, the batch before</source>
        <translation>%1，换成前一批次</translation>
    </message>
    <message numerus="yes">
        <source>half the learning rate, from %n step(s) earlier</source>
        <translation>
            <numerusform>从 %n 步前起学习率减半</numerusform>
        </translation>
    </message>
    <message>
        <source>half the learning rate</source>
        <translation>学习率减半</translation>
    </message>
    <message>
        <source>your own: %1</source>
        <translation>自定：%1</translation>
    </message>
    <message>
        <source>✓ finite</source>
        <translation>✓ 有限</translation>
    </message>
    <message>
        <source>✗ skipped</source>
        <translation>✗ 被跳过</translation>
    </message>
    <message>
        <source>Loss and outputs are finite; the scaled gradients are not, so the update was left out.</source>
        <translation>损失和输出有限，缩放后的梯度不是，因此本次更新被略去。</translation>
    </message>
    <message>
        <source>✗ same %1</source>
        <translation>✗ 同样 %1</translation>
    </message>
    <message>
        <source>Born in %1, as in the run.</source>
        <translation>产生于 %1，与运行时相同。</translation>
    </message>
    <message>
        <source>Born in %1.</source>
        <translation>产生于 %1。</translation>
    </message>
    <message>
        <source>Not tried: the step itself isn't finite.</source>
        <translation>未尝试：这一步本身就不是有限值。</translation>
    </message>
    <message>
        <source>✗ bad at +%1</source>
        <translation>✗ +%1 步出错</translation>
    </message>
    <message numerus="yes">
        <source>It went bad again %n step(s) later.</source>
        <translation>
            <numerusform>%n 步后再次出错。</numerusform>
        </translation>
    </message>
    <message>
        <source>Mean loss of the last five: %1.</source>
        <translation>最后五步的平均损失：%1。</translation>
    </message>
    <message>
        <source>✓ held</source>
        <translation>✓ 有效</translation>
    </message>
    <message numerus="yes">
        <source>Finite for %n further step(s).</source>
        <translation>
            <numerusform>之后 %n 步都有限。</numerusform>
        </translation>
    </message>
    <message>
        <source>not tried</source>
        <translation>未尝试</translation>
    </message>
    <message>
        <source>The replay was stopped before its turn. Replay again to try it.</source>
        <translation>轮到它之前重放已停止。请再次重放以尝试。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::BirthWords</name>
    <message>
        <source>The batch brought %1: %2 of %3 values of %4, the first in sample %5</source>
        <translation>批次数据带来 %1：%4 的 %3 个值中有 %2 个，首个在样本 %5</translation>
    </message>
    <message>
        <source>The batch brought %1: %2 of %3 values of %4</source>
        <translation>批次数据带来 %1：%4 的 %3 个值中有 %2 个</translation>
    </message>
    <message>
        <source>The buffer %4 held %1 before the step began: %2 of %3 values</source>
        <translation>本步开始前缓冲区 %4 已含 %1：%3 个值中有 %2 个</translation>
    </message>
    <message>
        <source>The weights %4 held %1 before the step began: %2 of %3 values</source>
        <translation>本步开始前权重 %4 已含 %1：%3 个值中有 %2 个</translation>
    </message>
    <message>
        <source>The derivative of %1</source>
        <translation>%1 的导数</translation>
    </message>
    <message>
        <source>In the update of step %1, %2</source>
        <translation>第 %1 步参数更新中的 %2</translation>
    </message>
    <message>
        <source>born at step %1</source>
        <translation>产生于第 %1 步</translation>
    </message>
    <message>
        <source>In the update, %1</source>
        <translation>参数更新中的 %1</translation>
    </message>
    <message>
        <source>%1 turned %2 into %3</source>
        <translation>%1 把 %2 变成了 %3</translation>
    </message>
    <message>
        <source>%1 made %2 from finite inputs: %3</source>
        <translation>%1 的输入均为有限值，结果却是 %2：%3</translation>
    </message>
    <message>
        <source>%1 made %2 from finite inputs (largest %3): %4 ends at %5</source>
        <translation>%1 的输入均为有限值（最大 %3），结果却是 %2：%4 的上限为 %5</translation>
    </message>
    <message>
        <source>%1 made %2: %3 of its %4 inputs are exactly 0</source>
        <translation>%1 得到 %2：%4 个输入中有 %3 个恰好为 0</translation>
    </message>
    <message>
        <source>%1 made %2</source>
        <translation>%1 得到 %2</translation>
    </message>
    <message>
        <source>%1 made %2 from finite inputs (largest %3)</source>
        <translation>%1 的输入均为有限值（最大 %3），结果却是 %2</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayDesk</name>
    <message>
        <source>No run here has met a bad step.</source>
        <translation>这里没有运行遇到过异常步。</translation>
    </message>
    <message>
        <source>Steps %1 to %2.</source>
        <translation>第 %1 步到第 %2 步。</translation>
    </message>
    <message>
        <source>Preparing the run…</source>
        <translation>正在准备运行…</translation>
    </message>
    <message>
        <source>Apply and continue</source>
        <translation>应用并继续</translation>
    </message>
    <message>
        <source>Start a new run with one change: %1?</source>
        <translation>以一处改动启动新的运行：%1？</translation>
    </message>
    <message>
        <source>It is recorded as a child of this run, which stays as it is.</source>
        <translation>它会记录为本次运行的后续，原来的运行保持不变。</translation>
    </message>
    <message>
        <source>Start the run</source>
        <translation>启动运行</translation>
    </message>
    <message>
        <source>Starting the control…</source>
        <translation>正在启动对照组…</translation>
    </message>
    <message>
        <source>Save bundle</source>
        <translation>保存打包文件</translation>
    </message>
    <message>
        <source>Archives (*.zip)</source>
        <translation>归档文件 (*.zip)</translation>
    </message>
    <message>
        <source>Bundle saved: %1 (%2)</source>
        <translation>已保存打包文件：%1（%2）</translation>
    </message>
    <message>
        <source>The control is running: %1. What it says of this step is shown here.</source>
        <translation>对照组正在运行：%1。它在这一步的结果会显示在这里。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ReplayFollower</name>
    <message>
        <source>The replay %1.</source>
        <translation>重放进程 %1。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::BadStep</name>
    <message>
        <source>Why did %1 stop?</source>
        <translation>%1 为何停止？</translation>
    </message>
    <message>
        <source>What went wrong in %1?</source>
        <translation>%1 出了什么问题？</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LiveCharts</name>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>Headroom, worst tensor</source>
        <translation>余量（最差张量）</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Memory of tensors</source>
        <translation>张量内存</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>单步时间</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>peak, measured</source>
        <translation>峰值，实测</translation>
    </message>
    <message>
        <source>unscaled, before clipping</source>
        <translation>去缩放后、裁剪前</translation>
    </message>
    <message>
        <source>No value yet.</source>
        <translation>尚无数值。</translation>
    </message>
    <message>
        <source>throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>单步时间</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>%1 · now %2</source>
        <translation>%1 · 现为 %2</translation>
    </message>
    <message>
        <source>%1, by fp16's end</source>
        <translation>%1（按 fp16 上限）</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::FirstComparison</name>
    <message>
        <source>This installation has no recorded sample.</source>
        <translation>此安装不含已录制的示例。</translation>
    </message>
    <message>
        <source>The engine is still being built; your comparison starts by itself.</source>
        <translation>引擎仍在编译，完成后会自动开始所选的对照。</translation>
    </message>
    <message>
        <source>The engine is still being built; the button waits for it.</source>
        <translation>引擎仍在编译，按钮会等它完成。</translation>
    </message>
</context>
<context>
    <name>MachineLine</name>
    <message>
        <source>%1 emulated</source>
        <translation>%1 为模拟</translation>
    </message>
</context>
<context>
    <name>PlanField</name>
    <message>
        <source>Weights to start from</source>
        <translation>起始权重</translation>
    </message>
    <message>
        <source>Take the weights that fit</source>
        <translation>采用匹配的权重</translation>
    </message>
    <message>
        <source>Part of the output</source>
        <translation>输出的哪一部分</translation>
    </message>
    <message>
        <source>Labels of the file</source>
        <translation>文件中的标签</translation>
    </message>
    <message>
        <source>Columns left out</source>
        <translation>不用的列</translation>
    </message>
    <message>
        <source>Labels are</source>
        <translation>标签的含义</translation>
    </message>
    <message>
        <source>Names of columns</source>
        <translation>列名</translation>
    </message>
    <message>
        <source>Missing values</source>
        <translation>缺失值</translation>
    </message>
    <message>
        <source>Characters of a sample</source>
        <translation>每个样本的字符数</translation>
    </message>
    <message>
        <source>Range of the values</source>
        <translation>数值范围</translation>
    </message>
    <message>
        <source>Processes</source>
        <translation>进程数</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Hidden width</source>
        <translation>隐藏层宽度</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>数据文件</translation>
    </message>
    <message>
        <source>Held out for validation</source>
        <translation>留作验证的比例</translation>
    </message>
    <message>
        <source>Seed of the split</source>
        <translation>划分的随机种子</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Modes</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>Runs in</source>
        <translation>运行于</translation>
    </message>
    <message>
        <source>Threads per worker</source>
        <translation>每个工作进程的线程数</translation>
    </message>
    <message>
        <source>Batch norm over all processes</source>
        <translation>批归一化跨所有进程统计</translation>
    </message>
    <message>
        <source>Ranks wait at most (s)</source>
        <translation>各进程最长等待（秒）</translation>
    </message>
    <message>
        <source>Drop a short last batch</source>
        <translation>丢弃末尾不足的批次</translation>
    </message>
    <message>
        <source>Ranks divide one batch</source>
        <translation>各进程分摊一个批次</translation>
    </message>
    <message>
        <source>Fill the ranks&apos; last batches</source>
        <translation>补齐各进程的末尾批次</translation>
    </message>
    <message>
        <source>Order of the runs</source>
        <translation>各次运行的次序</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Micro-batches per step</source>
        <translation>每步的微批次数</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Implementation</source>
        <translation>实现</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Momentum</source>
        <translation>动量</translation>
    </message>
    <message>
        <source>Dampening</source>
        <translation>动量阻尼</translation>
    </message>
    <message>
        <source>Nesterov</source>
        <translation>Nesterov 动量</translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation>Beta 1</translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation>Beta 2</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>AMSGrad</source>
        <translation>AMSGrad</translation>
    </message>
    <message>
        <source>Maximize</source>
        <translation>求最大值</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>学习率调度</translation>
    </message>
    <message>
        <source>Steps between drops</source>
        <translation>两次下降之间的步数</translation>
    </message>
    <message>
        <source>Factor of a drop</source>
        <translation>每次下降的系数</translation>
    </message>
    <message>
        <source>Factor at the start</source>
        <translation>起始系数</translation>
    </message>
    <message>
        <source>Factor at the end</source>
        <translation>结束系数</translation>
    </message>
    <message>
        <source>Steps to the end factor</source>
        <translation>到达结束系数的步数</translation>
    </message>
    <message>
        <source>Steps of half a wave</source>
        <translation>半个周期的步数</translation>
    </message>
    <message>
        <source>Lowest learning rate</source>
        <translation>最低学习率</translation>
    </message>
    <message>
        <source>Highest learning rate</source>
        <translation>最高学习率</translation>
    </message>
    <message>
        <source>Length of the schedule</source>
        <translation>学习率计划的长度</translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation>预热步数</translation>
    </message>
    <message>
        <source>Waves after the warm-up</source>
        <translation>预热之后的余弦周期数</translation>
    </message>
    <message>
        <source>No decay on norms and biases</source>
        <translation>归一化层与偏置不做权重衰减</translation>
    </message>
    <message>
        <source>Share that rises</source>
        <translation>上升段的比例</translation>
    </message>
    <message>
        <source>Highest / first rate</source>
        <translation>最高／起始学习率</translation>
    </message>
    <message>
        <source>First / last rate</source>
        <translation>起始／结束学习率</translation>
    </message>
    <message>
        <source>Form of the cycle</source>
        <translation>周期的形状</translation>
    </message>
    <message>
        <source>Cycle the momentum</source>
        <translation>动量随周期变化</translation>
    </message>
    <message>
        <source>Three phases</source>
        <translation>分三个阶段</translation>
    </message>
    <message>
        <source>Lowest momentum</source>
        <translation>最低动量</translation>
    </message>
    <message>
        <source>Highest momentum</source>
        <translation>最高动量</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Loss factor</source>
        <translation>损失系数</translation>
    </message>
    <message>
        <source>Clip gradient norm</source>
        <translation>梯度范数裁剪</translation>
    </message>
    <message>
        <source>Clip gradient values</source>
        <translation>梯度值裁剪</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Deterministic algorithms only</source>
        <translation>只用确定性算法</translation>
    </message>
    <message>
        <source>Initial scale</source>
        <translation>初始缩放</translation>
    </message>
    <message>
        <source>Growth factor</source>
        <translation>增长系数</translation>
    </message>
    <message>
        <source>Back-off factor</source>
        <translation>回退系数</translation>
    </message>
    <message>
        <source>Growth interval</source>
        <translation>增长间隔</translation>
    </message>
    <message>
        <source>Floor</source>
        <translation>下限</translation>
    </message>
    <message>
        <source>Evaluate every (steps)</source>
        <translation>评估间隔（步）</translation>
    </message>
    <message>
        <source>Evaluated data</source>
        <translation>评估所用数据</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Evaluation precision</source>
        <translation>评估精度</translation>
    </message>
    <message>
        <source>Modules kept in fp32</source>
        <translation>保持 fp32 的模块</translation>
    </message>
    <message>
        <source>On a non-finite value</source>
        <translation>遇到非有限值时</translation>
    </message>
    <message>
        <source>Allow emulated modes</source>
        <translation>允许模拟的模式</translation>
    </message>
    <message>
        <source>TF32 on a GPU</source>
        <translation>GPU 上的 TF32</translation>
    </message>
    <message>
        <source>torch – convolutions, not products</source>
        <translation>torch – 卷积用，矩阵乘不用</translation>
    </message>
    <message>
        <source>off – fp32 throughout</source>
        <translation>关 – 全程 fp32</translation>
    </message>
    <message>
        <source>on – faster, ten bits of mantissa</source>
        <translation>开 – 更快，尾数 10 位</translation>
    </message>
    <message>
        <source>Half kernels on a CPU</source>
        <translation>CPU 上的半精度内核</translation>
    </message>
    <message>
        <source>Batch-norm statistics after a skip</source>
        <translation>跳过后的 BatchNorm 统计量</translation>
    </message>
    <message>
        <source>Short last window</source>
        <translation>不足的最后一个窗口</translation>
    </message>
    <message>
        <source>Compatibility</source>
        <translation>兼容方式</translation>
    </message>
    <message>
        <source>stop – before any weight moves</source>
        <translation>stop – 在权重变化之前停止</translation>
    </message>
    <message>
        <source>pause – and wait for you</source>
        <translation>pause – 暂停等待处理</translation>
    </message>
    <message>
        <source>skip – leave this update out</source>
        <translation>skip – 略过这次更新</translation>
    </message>
    <message>
        <source>mark – go on as Accelerate would</source>
        <translation>mark – 标记后照 Accelerate 的方式继续</translation>
    </message>
    <message>
        <source>restore – as before the skipped step</source>
        <translation>restore – 恢复到跳过之前</translation>
    </message>
    <message>
        <source>keep – as Accelerate does</source>
        <translation>keep – 与 Accelerate 相同</translation>
    </message>
    <message>
        <source>turns – one computes at a time</source>
        <translation>turns – 轮流，每次只有一个在计算</translation>
    </message>
    <message>
        <source>one by one – a whole run after the other</source>
        <translation>one-by-one – 逐个完整运行</translation>
    </message>
    <message>
        <source>at once – times are shared</source>
        <translation>at-once – 同时运行，用时互相影响</translation>
    </message>
    <message>
        <source>exact – Python&apos;s bits</source>
        <translation>exact – 与 Python 逐位一致</translation>
    </message>
    <message>
        <source>fused – faster</source>
        <translation>fused – 更快</translation>
    </message>
    <message>
        <source>fp32 – outside autocast</source>
        <translation>fp32 – 在 autocast 之外</translation>
    </message>
    <message>
        <source>autocast – in the mode of the run</source>
        <translation>autocast – 用该次运行的模式</translation>
    </message>
    <message>
        <source>both</source>
        <translation>两者</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>accelerate – repeat it to the bit</source>
        <translation>accelerate – 逐位复现</translation>
    </message>
    <message>
        <source>right-sized – mean over what is there</source>
        <translation>right_sized – 按实际数量取平均</translation>
    </message>
    <message>
        <source>upstream – as Accelerate divides</source>
        <translation>upstream – 按 Accelerate 的方式相除</translation>
    </message>
    <message>
        <source>Save every (steps)</source>
        <translation>保存间隔（步）</translation>
    </message>
    <message>
        <source>Save at the end</source>
        <translation>结束时保存</translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation>保留的检查点数</translation>
    </message>
    <message>
        <source>Go on from</source>
        <translation>继续自</translation>
    </message>
    <message>
        <source>cross entropy</source>
        <translation>交叉熵</translation>
    </message>
    <message>
        <source>mean squared error</source>
        <translation>均方误差</translation>
    </message>
    <message>
        <source>naive log likelihood – breaks where a probability reaches 0</source>
        <translation>朴素对数似然 – 概率为 0 时出错</translation>
    </message>
    <message>
        <source>constant – the rate stays</source>
        <translation>恒定 – 学习率不变</translation>
    </message>
    <message>
        <source>step – drops every so many steps</source>
        <translation>阶梯 – 每隔若干步下降</translation>
    </message>
    <message>
        <source>linear – from one factor to another</source>
        <translation>线性 – 从一个倍率到另一个</translation>
    </message>
    <message>
        <source>cosine – down along half a wave</source>
        <translation>余弦 – 沿半个波下降</translation>
    </message>
    <message>
        <source>one cycle – up, then far down</source>
        <translation>单周期 – 先升后大幅下降</translation>
    </message>
    <message>
        <source>warm-up, then constant</source>
        <translation>预热，然后恒定</translation>
    </message>
    <message>
        <source>warm-up, then straight down to 0</source>
        <translation>预热，然后直线降到 0</translation>
    </message>
    <message>
        <source>warm-up, then down along a cosine</source>
        <translation>预热，然后沿余弦下降</translation>
    </message>
    <message>
        <source>cosine</source>
        <translation>余弦</translation>
    </message>
    <message>
        <source>straight</source>
        <translation>直线</translation>
    </message>
    <message>
        <source>the data held out</source>
        <translation>留出的数据</translation>
    </message>
    <message>
        <source>the training data</source>
        <translation>训练数据</translation>
    </message>
    <message>
        <source>accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>mean absolute error</source>
        <translation>平均绝对误差</translation>
    </message>
    <message>
        <source>perplexity</source>
        <translation>困惑度</translation>
    </message>
    <message>
        <source>torch – as LibTorch computes</source>
        <translation>torch – 按 LibTorch 的算法</translation>
    </message>
    <message>
        <source>fast – fp32 inside, rounded after</source>
        <translation>fast – 内部用 fp32，算完再舍入</translation>
    </message>
    <message>
        <source>Steps between two checkpoints on the way; 0 = none on the way.</source>
        <translation>途中两个检查点之间的步数；0 表示途中不保存。</translation>
    </message>
    <message>
        <source>Keeps the end state: weights to save, and a run to continue from.</source>
        <translation>保留结束时的状态：可保存权重，也可从中继续运行。</translation>
    </message>
    <message>
        <source>The oldest go when there are more. The newest and the one before always stay.</source>
        <translation>超出数量时删除最旧的；最新的和它的前一个始终保留。</translation>
    </message>
    <message>
        <source>A checkpoint folder or a run, for a single run. Easier: Continue from checkpoint… on the page Runs.</source>
        <translation>检查点文件夹或某次运行，仅用于单次运行。更方便的做法：在“运行”页选择“从检查点继续…”。</translation>
    </message>
    <message>
        <source>Level of watching</source>
        <translation>观测级别</translation>
    </message>
    <message>
        <source>Tensor records every (steps)</source>
        <translation>张量记录间隔（步）</translation>
    </message>
    <message>
        <source>Keep states for replays</source>
        <translation>保留状态以便重放</translation>
    </message>
    <message>
        <source>Steps between kept states</source>
        <translation>保留状态的间隔（步）</translation>
    </message>
    <message>
        <source>Largest kept states (MiB)</source>
        <translation>保留状态的上限（MiB）</translation>
    </message>
    <message>
        <source>Alarms</source>
        <translation>告警</translation>
    </message>
    <message>
        <source>Repetitions of the control</source>
        <translation>对照组的重复次数</translation>
    </message>
    <message>
        <source>Repetitions off by one last bit</source>
        <translation>末位扰动的重复次数</translation>
    </message>
    <message>
        <source>0: the largest values of every step. 1: full records of all tensors every so many steps. 2: every step (slow).</source>
        <translation>0：每步只记最大值。1：每隔若干步完整记录所有张量。2：每步都记（较慢）。</translation>
    </message>
    <message>
        <source>The same batch and weights once more in fp32, layer by layer: rounding here, apart from drift. 0 = never.</source>
        <translation>用相同的批次和权重以 fp32 逐层再算一遍：把此处的舍入与累积的偏移分开。0 = 不做。</translation>
    </message>
    <message>
        <source>Empty = the default rules. "off", or what differs: "headroom threshold=2 action=pause".</source>
        <translation>留空 = 默认规则。可写 “off”，或写出不同之处：“headroom threshold=2 action=pause”。</translation>
    </message>
    <message>
        <source>Two states in memory, so that a bad step can be done again without starting from the seed.</source>
        <translation>在内存中保留两个状态，出错的步可直接重做，不必从种子开始。</translation>
    </message>
    <message>
        <source>More runs of no with another batch order; 3 give a band that differences are judged by.</source>
        <translation>以另一批次顺序多跑几次 no；3 次即可得到判断差异所用的范围。</translation>
    </message>
    <message>
        <source>Runs of no whose weights begin one last bit off: a thin line, never used for a verdict.</source>
        <translation>初始权重末位不同的 no：只画成细线，不参与判断。</translation>
    </message>
    <message>
        <source>Compared with fp32 every (steps, 0 = never)</source>
        <translation>每隔多少步与 fp32 比较（0 = 从不）</translation>
    </message>
    <message>
        <source>0 – largest values alone</source>
        <translation>0 – 仅最大值</translation>
    </message>
    <message>
        <source>1 – every tensor, every N steps</source>
        <translation>1 – 每 N 步记录每个张量</translation>
    </message>
    <message>
        <source>2 – every tensor, every step (slow)</source>
        <translation>2 – 每一步记录每个张量（慢）</translation>
    </message>
    <message>
        <source>the default rules</source>
        <translation>默认规则</translation>
    </message>
    <message>
        <source>Model file</source>
        <translation>模型文件</translation>
    </message>
    <message>
        <source>binary cross entropy of logits</source>
        <translation>logits 的二元交叉熵</translation>
    </message>
    <message>
        <source>mean absolute error</source>
        <translation>平均绝对误差</translation>
    </message>
    <message>
        <source>Huber – squared near the label, absolute far away</source>
        <translation>Huber – 靠近标签取平方，远处取绝对值</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ActionCatalog</name>
    <message>
        <source>Lessons</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>Numerics</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Open plan…</source>
        <translation>打开计划…</translation>
    </message>
    <message>
        <source>Save plan…</source>
        <translation>保存计划…</translation>
    </message>
    <message>
        <source>Open a run or comparison folder…</source>
        <translation>打开运行或对照的文件夹…</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Undo the last edit of the plan</source>
        <translation>撤销对计划的上一次修改</translation>
    </message>
    <message>
        <source>Redo the edit of the plan</source>
        <translation>重做对计划的修改</translation>
    </message>
    <message>
        <source>Start the comparison</source>
        <translation>开始对照</translation>
    </message>
    <message>
        <source>Pause or go on</source>
        <translation>暂停或继续</translation>
    </message>
    <message>
        <source>One step</source>
        <translation>单步</translation>
    </message>
    <message>
        <source>Stop the runs</source>
        <translation>停止运行</translation>
    </message>
    <message>
        <source>Try this model again on one batch</source>
        <translation>用一个批次再试一次此模型</translation>
    </message>
    <message>
        <source>Ask this machine again what it can do</source>
        <translation>重新查询本机的能力</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行记录</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Read the runs folder again</source>
        <translation>重新读取运行文件夹</translation>
    </message>
    <message>
        <source>Colours of the system</source>
        <translation>跟随系统配色</translation>
    </message>
    <message>
        <source>Light colours</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark colours</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Language: English / 中文</source>
        <translation>语言：English / 中文</translation>
    </message>
    <message>
        <source>About Mantissa</source>
        <translation>关于 Mantissa</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Open Accelerate's configuration…</source>
        <translation>打开 Accelerate 配置…</translation>
    </message>
    <message>
        <source>Continue from checkpoint…</source>
        <translation>从检查点继续…</translation>
    </message>
    <message>
        <source>Save a checkpoint now</source>
        <translation>立即保存检查点</translation>
    </message>
    <message>
        <source>Save weights…</source>
        <translation>保存权重…</translation>
    </message>
    <message>
        <source>Look at the first bad step</source>
        <translation>查看首个异常步</translation>
    </message>
    <message>
        <source>Back to the page before</source>
        <translation>返回上一页</translation>
    </message>
    <message>
        <source>End the runs at once, unsaved</source>
        <translation>立即结束运行，不保存</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::AxisTexts</name>
    <message>
        <source>%1/s</source>
        <translation>%1/秒</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Memory of tensors</source>
        <translation>张量内存</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步用时</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 bits</source>
        <translation>%1 位</translation>
    </message>
    <message>
        <source>Headroom</source>
        <translation>余量</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ChartCard</name>
    <message>
        <source>Table, export and zoom of this chart</source>
        <translation>此图表的表格、导出与缩放</translation>
    </message>
    <message>
        <source>Menu of the chart %1</source>
        <translation>图表“%1”的菜单</translation>
    </message>
    <message>
        <source>Chart: %1</source>
        <translation>图表：%1</translation>
    </message>
    <message>
        <source>Arrow keys move the cursor, plus and minus zoom, N jumps to the next step that was not applied. The menu of the chart shows the same values as a table.</source>
        <translation>方向键移动光标，加减号缩放，N 跳到下一个未被应用的步。图表菜单可用表格显示相同的数值。</translation>
    </message>
    <message>
        <source>Table of the steps: %1</source>
        <translation>各步的表格：%1</translation>
    </message>
    <message>
        <source>Show as &amp;table</source>
        <translation>显示为表格(&amp;T)</translation>
    </message>
    <message>
        <source>Save picture as &amp;PNG…</source>
        <translation>图片存为 PNG(&amp;P)…</translation>
    </message>
    <message>
        <source>PNG pictures (*.png)</source>
        <translation>PNG 图片 (*.png)</translation>
    </message>
    <message>
        <source>Save picture as &amp;SVG…</source>
        <translation>图片存为 SVG(&amp;S)…</translation>
    </message>
    <message>
        <source>SVG pictures (*.svg)</source>
        <translation>SVG 图片 (*.svg)</translation>
    </message>
    <message>
        <source>Save all values as &amp;CSV…</source>
        <translation>全部数值存为 CSV(&amp;C)…</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>逗号分隔值 (*.csv)</translation>
    </message>
    <message>
        <source>Save %1</source>
        <translation>保存 %1</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Type a command</source>
        <translation>输入命令</translation>
    </message>
    <message>
        <source>Matching commands</source>
        <translation>匹配的命令</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::EmptyLive</name>
    <message>
        <source>Nothing is running. A comparison trains the same model in several precisions and shows here, step by step, where they differ.</source>
        <translation>当前没有运行。对照会用几种精度训练同一个模型，并在此逐步显示它们的差别。</translation>
    </message>
    <message>
        <source>&amp;Open the sample comparison</source>
        <translation>打开示例对照(&amp;O)</translation>
    </message>
    <message>
        <source>Set &amp;up a comparison</source>
        <translation>设置一次对照(&amp;U)</translation>
    </message>
    <message>
        <source>See what a precision costs, and what it breaks</source>
        <translation>看清一种精度的代价，以及它会弄坏什么</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ExportTexts</name>
    <message>
        <source>%1 can&apos;t be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>Choose another folder, or free some space.</source>
        <translation>请换一个文件夹，或腾出一些空间。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::FieldEdit</name>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::HeadlineBar</name>
    <message>
        <source>&amp;Why?</source>
        <translation>为什么？(&amp;W)</translation>
    </message>
    <message>
        <source>Headline</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Shows the reasons and the verdicts behind the headline.</source>
        <translation>显示标题背后的理由与判断。</translation>
    </message>
    <message>
        <source>low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>medium</source>
        <translation>中</translation>
    </message>
    <message>
        <source>high</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Confidence: %1.</source>
        <translation>可信度：%1。</translation>
    </message>
    <message>
        <source>What would change it: %1.</source>
        <translation>什么会改变结论：%1。</translation>
    </message>
    <message>
        <source>Opens the step: what happened, what keeps it finite, and how it got there.</source>
        <translation>打开这一步：发生了什么、怎样才能保持有限、又是如何走到这里的。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::JobStarter</name>
    <message>
        <source>A run is still going in this window&apos;s worker thread.</source>
        <translation>此窗口的工作线程中还有一次运行尚未结束。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LengthRow</name>
    <message>
        <source>How long?</source>
        <translation>多久？</translation>
    </message>
    <message>
        <source>about %1 s</source>
        <translation>约 %1 秒</translation>
    </message>
    <message>
        <source>about %1 min</source>
        <translation>约 %1 分钟</translation>
    </message>
    <message>
        <source>about %1 h</source>
        <translation>约 %1 小时</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 步</translation>
    </message>
    <message>
        <source>full plan: %1 steps</source>
        <translation>完整计划：%1 步</translation>
    </message>
    <message>
        <source>the whole plan is that short</source>
        <translation>整个计划就是这么短</translation>
    </message>
    <message>
        <source>a short comparison first, the full plan when it looks right</source>
        <translation>先做一次短对照，看起来没问题再跑完整计划</translation>
    </message>
    <message>
        <source>the plan itself is shorter than the usual comparison</source>
        <translation>计划本身比通常的对照更短</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LivePage</name>
    <message>
        <source>Verdicts</source>
        <translation>判断</translation>
    </message>
    <message>
        <source>verdicts</source>
        <translation>判断</translation>
    </message>
    <message>
        <source>No verdict yet: verdicts are given when the runs have ended.</source>
        <translation>还没有判断：各次运行结束后给出。</translation>
    </message>
    <message>
        <source>verdicts (%1)</source>
        <translation>判断（%1）</translation>
    </message>
    <message>
        <source>Alarms</source>
        <translation>警报</translation>
    </message>
    <message>
        <source>alarms</source>
        <translation>警报</translation>
    </message>
    <message>
        <source>alarms (%1)</source>
        <translation>警报（%1）</translation>
    </message>
    <message>
        <source>No alarm has fired.</source>
        <translation>没有触发任何警报。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LiveWords</name>
    <message>
        <source>Trying %1 on one batch of this model…</source>
        <translation>正在用此模型的一个批次试运行 %1…</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>%1 · batch %2 · %3 %4 · seed %5</source>
        <translation>%1 · 批大小 %2 · %3 %4 · 种子 %5</translation>
    </message>
    <message>
        <source>no worker</source>
        <translation>没有工作进程</translation>
    </message>
    <message>
        <source>1 worker</source>
        <translation>1 个工作进程</translation>
    </message>
    <message>
        <source>%1 workers</source>
        <translation>%1 个工作进程</translation>
    </message>
    <message>
        <source>%1 emulated</source>
        <translation>%1 为模拟</translation>
    </message>
    <message>
        <source>fairness is known once all runs have started</source>
        <translation>各次运行都开始后才能判断是否公平</translation>
    </message>
    <message>
        <source>✗ not a fair comparison: %1</source>
        <translation>✗ 对照不公平：%1</translation>
    </message>
    <message>
        <source>fair ✓ same weights, batches and settings; times are shared</source>
        <translation>公平 ✓ 权重、批次与设置相同；用时互相影响</translation>
    </message>
    <message>
        <source>fair ✓ same weights, batches and settings</source>
        <translation>公平 ✓ 权重、批次与设置相同</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LossPanel</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>The first steps appear here.</source>
        <translation>最初几步会显示在这里。</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>Step (every attempt)</source>
        <translation>步（每次尝试）</translation>
    </message>
    <message>
        <source>Applied step (without skips)</source>
        <translation>已应用的步（不含跳过）</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Over %1 steps (the raw line stays)</source>
        <translation>按 %1 步平滑（保留原始曲线）</translation>
    </message>
    <message>
        <source>absolute</source>
        <translation>绝对值</translation>
    </message>
    <message>
        <source>Δ to no</source>
        <translation>与 no 之差</translation>
    </message>
    <message>
        <source>ratio</source>
        <translation>比值</translation>
    </message>
    <message>
        <source>The loss itself</source>
        <translation>损失本身</translation>
    </message>
    <message>
        <source>Difference to the loss of the control at the same step</source>
        <translation>与对照组同一步损失之差</translation>
    </message>
    <message>
        <source>Loss divided by the loss of the control at the same step</source>
        <translation>与对照组同一步损失之比</translation>
    </message>
    <message>
        <source>→ 1</source>
        <translation>→ 1</translation>
    </message>
    <message>
        <source>■ Stop</source>
        <translation>■ 停止</translation>
    </message>
    <message>
        <source>One step</source>
        <translation>单步</translation>
    </message>
    <message>
        <source>Stop all runs</source>
        <translation>停止所有运行</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>Scale of the loss axis</source>
        <translation>损失轴的刻度</translation>
    </message>
    <message>
        <source>x: step</source>
        <translation>x：步</translation>
    </message>
    <message>
        <source>x: applied step</source>
        <translation>x：已应用的步</translation>
    </message>
    <message>
        <source>x: time</source>
        <translation>x：时间</translation>
    </message>
    <message>
        <source>Unit of the x axis</source>
        <translation>x 轴的单位</translation>
    </message>
    <message>
        <source>smoothing off</source>
        <translation>不平滑</translation>
    </message>
    <message>
        <source>smoothing %1</source>
        <translation>平滑 %1</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>▶ Go on</source>
        <translation>▶ 继续</translation>
    </message>
    <message>
        <source>❚❚ Pause</source>
        <translation>❚❚ 暂停</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause all runs</source>
        <translation>暂停所有运行</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Continue…</source>
        <translation>继续…</translation>
    </message>
    <message>
        <source>Save a checkpoint of all runs now</source>
        <translation>立即为所有运行保存检查点</translation>
    </message>
    <message>
        <source>Continue from checkpoint…</source>
        <translation>从检查点继续…</translation>
    </message>
    <message>
        <source>A run of its own that goes on from a saved checkpoint, also in another precision</source>
        <translation>从已保存的检查点继续的一次新运行，也可以换用另一种精度</translation>
    </message>
    <message>
        <source>✕ End now</source>
        <translation>✕ 立即结束</translation>
    </message>
    <message>
        <source>End all runs at once</source>
        <translation>立即结束所有运行</translation>
    </message>
    <message>
        <source>They finish their step and save. This kills them instead; what is recorded stays.</source>
        <translation>它们会完成当前步并保存。此按钮则直接终止它们；已记录的内容会保留。</translation>
    </message>
    <message>
        <source>The runs finish their step, save a checkpoint and end.</source>
        <translation>各运行完成当前步、保存检查点后结束。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::MachineProbe</name>
    <message>
        <source>%1 cannot be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>the probe ended with code %1 and said nothing</source>
        <translation>探测以代码 %1 结束，没有任何输出</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::DropTarget</name>
    <message>
        <source>%1 is no folder of a run, no plan, no configuration of Accelerate, no TorchScript model and no data file</source>
        <translation>%1 不是运行文件夹、计划、Accelerate 配置、TorchScript 模型，也不是数据文件</translation>
    </message>
    <message>
        <source>%1 may be a bundle of a step: mantissa runs unpack makes a run of it, which can be opened</source>
        <translation>%1 可能是某一步的打包文件：mantissa runs unpack 会把它变成可以打开的运行</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::MainWindow</name>
    <message>
        <source>Numerics</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行记录</translation>
    </message>
    <message>
        <source>New comparison</source>
        <translation>新的对照</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ModeFacts</name>
    <message>
        <source>native</source>
        <translation>原生</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>unsupported</source>
        <translation>不支持</translation>
    </message>
    <message>
        <source>control</source>
        <translation>对照组</translation>
    </message>
    <message>
        <source>✗ refused</source>
        <translation>✗ 被拒绝</translation>
    </message>
    <message>
        <source>trial ✓</source>
        <translation>试运行 ✓</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>trying…</source>
        <translation>试运行中…</translation>
    </message>
    <message>
        <source>paused at %1</source>
        <translation>暂停于第 %1 步</translation>
    </message>
    <message>
        <source>✓ %1</source>
        <translation>✓ %1</translation>
    </message>
    <message>
        <source>■ stopped at %1</source>
        <translation>■ 停在第 %1 步</translation>
    </message>
    <message>
        <source>■ interrupted at %1</source>
        <translation>■ 中断于第 %1 步</translation>
    </message>
    <message>
        <source>✗ failed at %1</source>
        <translation>✗ 第 %1 步失败</translation>
    </message>
    <message>
        <source>✗ lost at %1</source>
        <translation>✗ 第 %1 步丢失</translation>
    </message>
    <message>
        <source>✗ can&apos;t be read</source>
        <translation>✗ 无法读取</translation>
    </message>
    <message>
        <source>no progress for %1 s</source>
        <translation>已 %1 秒没有进展</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ModeStrips</name>
    <message>
        <source>Progress of %1</source>
        <translation>%1 的进度</translation>
    </message>
    <message>
        <source>fp32 ✓</source>
        <translation>fp32 ✓</translation>
    </message>
    <message>
        <source>on ✓</source>
        <translation>已生效 ✓</translation>
    </message>
    <message>
        <source>not on ✗</source>
        <translation>未生效 ✗</translation>
    </message>
    <message>
        <source>Four checks of %1</source>
        <translation>%1 的四项检查</translation>
    </message>
    <message>
        <source>Is %1 really on? Opens the four checks.</source>
        <translation>%1 真的生效了吗？打开四项检查。</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>损失 %1</translation>
    </message>
    <message>
        <source>validation %1</source>
        <translation>验证 %1</translation>
    </message>
    <message>
        <source>Median of a step. Emulated here: this says nothing about the mode&apos;s speed.</source>
        <translation>每步用时的中位数。此处为模拟：不能说明该模式的速度。</translation>
    </message>
    <message>
        <source>Median of the last 200 steps, without data and evaluation.</source>
        <translation>最近 200 步的中位数，不含取数据与评估。</translation>
    </message>
    <message>
        <source>Largest memory of tensors within a step, measured.</source>
        <translation>一步之内张量内存的最大值，实测。</translation>
    </message>
    <message>
        <source>Actions of %1</source>
        <translation>%1 的操作</translation>
    </message>
    <message>
        <source>Save weights…</source>
        <translation>保存权重…</translation>
    </message>
    <message>
        <source>Continue from checkpoint…</source>
        <translation>从检查点继续…</translation>
    </message>
    <message>
        <source>Open run folder</source>
        <translation>打开运行文件夹</translation>
    </message>
    <message>
        <source>Look at the bad step…</source>
        <translation>查看异常步…</translation>
    </message>
    <message>
        <source>Look at step %1…</source>
        <translation>查看第 %1 步…</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ModesRow</name>
    <message>
        <source>Compare</source>
        <translation>对照</translation>
    </message>
    <message>
        <source>asking this machine…</source>
        <translation>正在查询本机…</translation>
    </message>
    <message>
        <source>“no” is the control of every comparison</source>
        <translation>“no” 是每次对照的对照组</translation>
    </message>
    <message>
        <source>control</source>
        <translation>对照组</translation>
    </message>
    <message>
        <source>The control is part of every comparison.</source>
        <translation>对照组是每次对照的一部分。</translation>
    </message>
    <message>
        <source>native</source>
        <translation>原生</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>fp8 needs a GPU of compute capability 8.9 or more</source>
        <translation>fp8 需要计算能力 8.9 或更高的 GPU</translation>
    </message>
    <message>
        <source>%1 has fp8 units. Linear layers run in fp8, the rest in bf16.</source>
        <translation>%1 具备 fp8 单元。线性层以 fp8 运行，其余以 bf16 运行。</translation>
    </message>
    <message>
        <source>fp8 needs compute capability 8.9 or more; %1 has %2</source>
        <translation>fp8 需要计算能力 8.9 或更高；%1 为 %2</translation>
    </message>
    <message>
        <source>A CPU has no fp8 units: fp8 is emulated, because “Allow emulated modes” is on. Its numbers count, its speed says nothing.</source>
        <translation>CPU 没有 fp8 单元：因为打开了“允许模拟的模式”，fp8 以模拟方式运行。数值可信，速度没有参考意义。</translation>
    </message>
    <message>
        <source>fp8 needs a GPU of compute capability 8.9 or more; to emulate it here, turn on “Allow emulated modes” below</source>
        <translation>fp8 需要计算能力 8.9 或更高的 GPU；如要在此模拟，请打开下方的“允许模拟的模式”</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::OverruledLine</name>
    <message>
        <source>default</source>
        <translation>默认值</translation>
    </message>
    <message>
        <source>configuration file %1</source>
        <translation>配置文件 %1</translation>
    </message>
    <message>
        <source>environment %1</source>
        <translation>环境变量 %1</translation>
    </message>
    <message>
        <source>checkpoint %1</source>
        <translation>检查点 %1</translation>
    </message>
    <message>
        <source>plan %1</source>
        <translation>计划 %1</translation>
    </message>
    <message>
        <source>preset %1</source>
        <translation>预设 %1</translation>
    </message>
    <message>
        <source>flag %1</source>
        <translation>参数 %1</translation>
    </message>
    <message>
        <source>this window</source>
        <translation>此窗口</translation>
    </message>
    <message>
        <source>Show all overruled settings</source>
        <translation>显示所有被覆盖的设置</translation>
    </message>
    <message>
        <source>%1 %2 (%3) over %4 (%5)</source>
        <translation>%1 取 %2（%3），而非 %4（%5）</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) overrule another</source>
        <translation>
            <numerusform>%n 项设置覆盖了其他来源</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::PlanEditor</name>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Short comparison</source>
        <translation>短对照</translation>
    </message>
    <message>
        <source>Full plan</source>
        <translation>完整计划</translation>
    </message>
    <message>
        <source>built-in default</source>
        <translation>内置默认值</translation>
    </message>
    <message>
        <source>default: %1</source>
        <translation>默认：%1</translation>
    </message>
    <message>
        <source>Accelerate&apos;s configuration file %1</source>
        <translation>Accelerate 的配置文件 %1</translation>
    </message>
    <message>
        <source>environment variable %1</source>
        <translation>环境变量 %1</translation>
    </message>
    <message>
        <source>checkpoint %1</source>
        <translation>检查点 %1</translation>
    </message>
    <message>
        <source>plan %1</source>
        <translation>计划 %1</translation>
    </message>
    <message>
        <source>preset %1</source>
        <translation>预设 %1</translation>
    </message>
    <message>
        <source>flag %1</source>
        <translation>参数 %1</translation>
    </message>
    <message>
        <source>edited in this window</source>
        <translation>在此窗口中修改</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunChart</name>
    <message>
        <source>steps %1–%2 · %3 · %4 not finite</source>
        <translation>第 %1–%2 步 · %3 · %4 个非有限</translation>
    </message>
    <message>
        <source>gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>Inf</source>
        <translation>Inf</translation>
    </message>
    <message>
        <source>step %1 · %2 · %3</source>
        <translation>第 %1 步 · %2 · %3</translation>
    </message>
    <message>
        <source>no skips · %1 not finite</source>
        <translation>没有跳过 · %1 个非有限</translation>
    </message>
    <message>
        <source>1 skip: probing ✓ · 0 faults</source>
        <translation>跳过 1 步：试探 ✓ · 0 个故障</translation>
    </message>
    <message>
        <source>%1 skips: probing ✓ · 0 faults</source>
        <translation>跳过 %1 步：试探 ✓ · 0 个故障</translation>
    </message>
    <message>
        <source>%1 · %2 not finite</source>
        <translation>%1 · %2 个非有限</translation>
    </message>
    <message>
        <source>skips: %1 probing · %2 fault · %3 not finite</source>
        <translation>跳过：试探 %1 · 故障 %2 · 非有限 %3</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>applied step %1</source>
        <translation>已应用的第 %1 步</translation>
    </message>
    <message>
        <source>skipped, probing</source>
        <translation>跳过（试探）</translation>
    </message>
    <message>
        <source>skipped, fault</source>
        <translation>跳过（故障）</translation>
    </message>
    <message>
        <source>gradients not finite</source>
        <translation>梯度非有限</translation>
    </message>
    <message>
        <source>loss not finite</source>
        <translation>损失非有限</translation>
    </message>
    <message numerus="yes">
        <source>lowest to highest of %n repetition(s) of no</source>
        <translation>
            <numerusform>no 的 %n 次重复：最低至最高</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n repetition(s)</source>
        <translation>
            <numerusform>%n 次重复</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunController</name>
    <message>
        <source>No program works on this run any more, so there is nothing to control.</source>
        <translation>已没有程序在处理这次运行，因此无可控制。</translation>
    </message>
    <message>
        <source>The run is being asked who controls it…</source>
        <translation>正在询问由谁控制该运行……</translation>
    </message>
    <message>
        <source>Another window (process %1) controls this run; this one watches, and takes over when that one is closed.</source>
        <translation>另一个窗口（进程 %1）正在控制该运行；本窗口只观看，那个窗口关闭后由本窗口接管。</translation>
    </message>
    <message>
        <source>The run trains in this window, which would end with it: stop it, or close the window.</source>
        <translation>该运行在本窗口内训练，强制结束会连同窗口一起结束：请停止它，或关闭窗口。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunDetails</name>
    <message>
        <source>step %1 of %2</source>
        <translation>第 %1 / %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>损失 %1</translation>
    </message>
    <message>
        <source>nothing saved</source>
        <translation>未保存</translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s), %1</source>
        <translation>
            <numerusform>%n 个检查点，%1</numerusform>
        </translation>
    </message>
    <message>
        <source>Save weights…</source>
        <translation>保存权重…</translation>
    </message>
    <message>
        <source>Save the weights of %1</source>
        <translation>保存 %1 的权重</translation>
    </message>
    <message>
        <source>Continue…</source>
        <translation>继续…</translation>
    </message>
    <message>
        <source>Continue %1 from a checkpoint</source>
        <translation>从检查点继续 %1</translation>
    </message>
    <message>
        <source>Look at step %1…</source>
        <translation>查看第 %1 步…</translation>
    </message>
    <message>
        <source>Look at step %1 of %2</source>
        <translation>查看 %2 的第 %1 步</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunsModel</name>
    <message>
        <source>repeating %1 of %2</source>
        <translation>重复第 %1 次，共 %2 次</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Modes</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Final loss</source>
        <translation>最终损失</translation>
    </message>
    <message>
        <source>Decision</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>queued</source>
        <translation>排队</translation>
    </message>
    <message>
        <source>trial</source>
        <translation>试运行</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>stopped: not finite</source>
        <translation>已停止：出现非有限值</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>已丢失</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>无法读取</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunsPage</name>
    <message>
        <source>No runs yet below %1.
Start a comparison on the page Set up.</source>
        <translation>%1 下还没有运行记录。
请在“设置”页开始一次对照。</translation>
    </message>
    <message>
        <source>Filter: name, mode, state, data, decision</source>
        <translation>筛选：名称、模式、状态、数据、结论</translation>
    </message>
    <message>
        <source>Filter the runs</source>
        <translation>筛选运行记录</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行记录</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Write report</source>
        <translation>生成报告</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>%1 was deleted.</source>
        <translation>已删除 %1。</translation>
    </message>
    <message>
        <source>It is still running: stop it first.</source>
        <translation>仍在运行：请先停止。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete %1 with its recording?</source>
        <translation>删除 %1 及其记录？</translation>
    </message>
    <message numerus="yes">
        <source>You can undo it for 20 seconds. %n run(s) belong to it.</source>
        <translation>
            <numerusform>20 秒内可以撤销。共包含 %n 次运行。</numerusform>
        </translation>
    </message>
    <message>
        <source>Writing the report…</source>
        <translation>正在生成报告…</translation>
    </message>
    <message>
        <source>Report: %1</source>
        <translation>报告：%1</translation>
    </message>
    <message>
        <source>Save weights of %1…</source>
        <translation>保存 %1 的权重…</translation>
    </message>
    <message>
        <source>Continue %1 from checkpoint…</source>
        <translation>从检查点继续 %1…</translation>
    </message>
    <message>
        <source>Look at step %1 of %2…</source>
        <translation>查看 %2 的第 %1 步…</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::SampleBanner</name>
    <message>
        <source>This is a recorded comparison, to look at. %1</source>
        <translation>这是一次已录制的对照，供浏览。%1</translation>
    </message>
    <message>
        <source>This is a recorded comparison, to look at. The button runs the same one on this machine.</source>
        <translation>这是一次已录制的对照，供浏览。按下按钮即可在本机运行同样的对照。</translation>
    </message>
    <message>
        <source>Compare on this machine</source>
        <translation>在本机对照</translation>
    </message>
    <message>
        <source>Set up my own</source>
        <translation>自行设置</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::Sections</name>
    <message>
        <source>Data file, range of the values</source>
        <translation>数据文件与数值范围</translation>
    </message>
    <message>
        <source>in turns</source>
        <translation>轮流</translation>
    </message>
    <message>
        <source>one by one</source>
        <translation>依次</translation>
    </message>
    <message>
        <source>all at once</source>
        <translation>同时</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>%1 · lr %2 · batch %3 · seed %4</source>
        <translation>%1 · 学习率 %2 · 批大小 %3 · 种子 %4</translation>
    </message>
    <message>
        <source>%1 · warm-up %2 of %3 steps</source>
        <translation>%1 · 预热 %2 步，共 %3 步</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>fixed at %1</source>
        <translation>固定为 %1</translation>
    </message>
    <message>
        <source>When a loss isn&apos;t finite</source>
        <translation>当损失非有限时</translation>
    </message>
    <message>
        <source>stop before any weight moves</source>
        <translation>在权重变化之前停止</translation>
    </message>
    <message>
        <source>pause and wait</source>
        <translation>暂停等待</translation>
    </message>
    <message>
        <source>skip the update</source>
        <translation>跳过这次更新</translation>
    </message>
    <message>
        <source>mark it and go on</source>
        <translation>标记后继续</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>%1 at the end</source>
        <translation>结束时评估 %1</translation>
    </message>
    <message numerus="yes">
        <source>%1 every %n step(s)</source>
        <translation>
            <numerusform>每 %n 步评估 %1</numerusform>
        </translation>
    </message>
    <message>
        <source>fp32 islands</source>
        <translation>fp32 孤岛</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Data split, process, compatibility</source>
        <translation>数据划分、进程、兼容</translation>
    </message>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%n 个线程</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 · ×%2 per %3 · ×%4</source>
        <translation>%1 · 每 %3 步 ×%2 · ×%4</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>at the end</source>
        <translation>结束时</translation>
    </message>
    <message numerus="yes">
        <source>every %n step(s) and at the end</source>
        <translation>
            <numerusform>每 %n 步及结束时</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>every %n step(s)</source>
        <translation>
            <numerusform>每 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>A checkpoint holds weights, optimizer, schedule, loss scale, random states and the place in the data. A run continues from it as if it had never stopped, also in another precision.</source>
        <translation>检查点包含权重、优化器、学习率计划、损失缩放、随机状态和数据中的位置。运行可以从中继续，如同从未停止，也可以换用另一种精度。</translation>
    </message>
    <message>
        <source>Watching and repetitions</source>
        <translation>观测与重复</translation>
    </message>
    <message>
        <source>no tensor records</source>
        <translation>不记录张量</translation>
    </message>
    <message numerus="yes">
        <source>tensors every %n step(s)</source>
        <translation>
            <numerusform>每 %n 步记录张量</numerusform>
        </translation>
    </message>
    <message>
        <source>tensors every step</source>
        <translation>每步记录张量</translation>
    </message>
    <message numerus="yes">
        <source>%n repetition(s)</source>
        <translation>
            <numerusform>重复 %n 次</numerusform>
        </translation>
    </message>
    <message>
        <source>Tensor records feed the headroom chart and the page Numerics. Repetitions are more runs of the control: only with their spread can a difference between two modes be told from chance.</source>
        <translation>张量记录用于余量图和“数值”页。重复是多跑几次对照组：只有知道其波动，才能分辨两种模式的差异是否出于偶然。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::SetupPage</name>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Undo the last edit (Ctrl+Z)</source>
        <translation>撤销上一次修改 (Ctrl+Z)</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Redo (Ctrl+Shift+Z)</source>
        <translation>重做 (Ctrl+Shift+Z)</translation>
    </message>
    <message>
        <source>Open plan…</source>
        <translation>打开计划…</translation>
    </message>
    <message>
        <source>Save plan…</source>
        <translation>保存计划…</translation>
    </message>
    <message>
        <source>Only one mode</source>
        <translation>只运行一种模式</translation>
    </message>
    <message>
        <source>The engine (libmantissa-engine.so) isn&apos;t beside this program: install Mantissa whole to train.</source>
        <translation>本程序旁没有引擎（libmantissa-engine.so）：请完整安装 Mantissa 后再训练。</translation>
    </message>
    <message>
        <source>A comparison needs a fresh process for each mode: choose it under “Where?”, or run only one mode.</source>
        <translation>对照需要每种模式各用一个新进程：请在“何处？”中选择，或只运行一种模式。</translation>
    </message>
    <message>
        <source>%1 can&apos;t run this model here: take it out of the comparison.</source>
        <translation>%1 无法在此运行该模型：请把它移出对照。</translation>
    </message>
    <message>
        <source>Compare %1</source>
        <translation>对照 %1</translation>
    </message>
    <message>
        <source>Run %1</source>
        <translation>运行 %1</translation>
    </message>
    <message>
        <source>needs the engine, which is missing</source>
        <translation>需要引擎，但未找到</translation>
    </message>
    <message>
        <source>this machine could not be asked</source>
        <translation>无法查询本机</translation>
    </message>
    <message>
        <source>%1 · batch %2 · %3 %4 · seed %5</source>
        <translation>%1 · 批大小 %2 · %3 %4 · 种子 %5</translation>
    </message>
    <message>
        <source>Preset %1</source>
        <translation>预设 %1</translation>
    </message>
    <message>
        <source>Use a fresh process</source>
        <translation>改用新进程</translation>
    </message>
    <message>
        <source>This window has trained in another precision and keeps it; %1 needs a fresh process.</source>
        <translation>此窗口已用另一种精度训练过，并保持该精度；%1 需要一个新进程。</translation>
    </message>
    <message>
        <source>Accelerate…</source>
        <translation>Accelerate…</translation>
    </message>
    <message>
        <source>Open Accelerate's configuration…</source>
        <translation>打开 Accelerate 配置…</translation>
    </message>
    <message>
        <source>Open Accelerate's configuration file as a source of settings</source>
        <translation>打开 Accelerate 的配置文件，作为设置的一个来源</translation>
    </message>
    <message>
        <source>A launcher starts this run: copy its lines.</source>
        <translation>该运行由启动器启动：请复制它的命令。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StatusStrip</name>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n 个工作进程</numerusform>
        </translation>
    </message>
    <message>
        <source>Engine missing: recordings can be read, training cannot start</source>
        <translation>缺少引擎：可以查看记录，不能训练</translation>
    </message>
    <message>
        <source>LibTorch %1 · deterministic</source>
        <translation>LibTorch %1 · 确定性</translation>
    </message>
    <message>
        <source>LibTorch %1 · not deterministic</source>
        <translation>LibTorch %1 · 非确定性</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StepRange</name>
    <message>
        <source>Zoom in (+)</source>
        <translation>放大 (+)</translation>
    </message>
    <message>
        <source>Zoom out (−)</source>
        <translation>缩小 (−)</translation>
    </message>
    <message>
        <source>Show all steps (0)</source>
        <translation>显示所有步 (0)</translation>
    </message>
    <message>
        <source>Previous zoom (Backspace)</source>
        <translation>上一个缩放 (Backspace)</translation>
    </message>
    <message>
        <source>Follow the newest steps (F)</source>
        <translation>跟随最新的步 (F)</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::StepTableModel</name>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>%1 · step</source>
        <translation>%1 · 步</translation>
    </message>
    <message>
        <source>applied</source>
        <translation>已应用</translation>
    </message>
    <message>
        <source>skipped, probing</source>
        <translation>跳过（试探）</translation>
    </message>
    <message>
        <source>skipped, fault</source>
        <translation>跳过（故障）</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
    <message numerus="yes">
        <source>lowest of %n repetition(s)</source>
        <translation>
            <numerusform>%n 次重复中最低</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>highest of %n repetition(s)</source>
        <translation>
            <numerusform>%n 次重复中最高</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::TopBar</name>
    <message>
        <source>%1 commands</source>
        <translation>%1 命令</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Language: English / 中文</source>
        <translation>语言：English / 中文</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>Menu (F10)</source>
        <translation>菜单 (F10)</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::TrialCard</name>
    <message>
        <source>Trial of this model, one batch</source>
        <translation>用一个批次试运行此模型</translation>
    </message>
    <message>
        <source>forward and backward in every mode, in a throw-away process</source>
        <translation>每种模式各做一次前向与反向，在一次性进程中</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>可运行</translation>
    </message>
    <message>
        <source>step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>内存峰值</translation>
    </message>
    <message>
        <source>in half precision</source>
        <translation>半精度部分</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>余量</translation>
    </message>
    <message>
        <source>Powers of two between the largest output of any module and the end of the format</source>
        <translation>任一模块的最大输出与格式上限之间相差的二次幂位数</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>trying…</source>
        <translation>试运行中…</translation>
    </message>
    <message>
        <source>refuses</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 of %2 kinds of op, %3 % of multiply-adds</source>
        <translation>%2 类算子中的 %1 类，乘加运算的 %3 %</translation>
    </message>
    <message>
        <source>overflows</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>%1 bits</source>
        <translation>%1 位</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WhatRow</name>
    <message>
        <source>Data file…</source>
        <translation>数据文件…</translation>
    </message>
    <message>
        <source>IDX, npy, npz, safetensors, a CSV table or a text, told by its content</source>
        <translation>IDX、npy、npz、safetensors、CSV 表格或文本，按内容判断</translation>
    </message>
    <message>
        <source>Look into %1…</source>
        <translation>查看 %1…</translation>
    </message>
    <message>
        <source>Choose a data file</source>
        <translation>选择数据文件</translation>
    </message>
    <message>
        <source>Data (*.csv *.tsv *.txt *.npy *.npz *.safetensors *.gz *ubyte *.idx);;All files (*)</source>
        <translation>数据 (*.csv *.tsv *.txt *.npy *.npz *.safetensors *.gz *ubyte *.idx);;所有文件 (*)</translation>
    </message>
    <message>
        <source>reading %1…</source>
        <translation>正在读取 %1…</translation>
    </message>
    <message>
        <source>What?</source>
        <translation>什么？</translation>
    </message>
    <message>
        <source>The model %1 can&apos;t take this data.</source>
        <translation>模型 %1 不能使用此数据。</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>%1 training and %2 validation samples</source>
        <translation>%1 个训练样本，%2 个验证样本</translation>
    </message>
    <message>
        <source>%1 training samples, none held out</source>
        <translation>%1 个训练样本，未留验证集</translation>
    </message>
    <message>
        <source>%1 features, %2 classes</source>
        <translation>%1 个特征，%2 个类别</translation>
    </message>
    <message>
        <source>Model file…</source>
        <translation>模型文件…</translation>
    </message>
    <message>
        <source>%1  –  layer list</source>
        <translation>%1  –  层列表</translation>
    </message>
    <message>
        <source>A layer list, or a model that torch.jit.script or torch.jit.trace saved</source>
        <translation>层列表，或由 torch.jit.script 或 torch.jit.trace 保存的模型</translation>
    </message>
    <message>
        <source>Choose a model file</source>
        <translation>选择模型文件</translation>
    </message>
    <message>
        <source>Models (*.json *.pt *.ts *.pth);;All files (*)</source>
        <translation>模型 (*.json *.pt *.ts *.pth);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Trust this file?</source>
        <translation>信任这个文件吗？</translation>
    </message>
    <message>
        <source>%1 is a program that runs with your rights.</source>
        <translation>%1 是一个程序，会以您的权限运行。</translation>
    </message>
    <message>
        <source>Use it only if you know where it comes from. You are asked once for each content. It is loaded in worker processes, not in this window.</source>
        <translation>只有知道它的来源时才使用。每份内容只询问一次。它只在工作进程中加载，不在本窗口中加载。</translation>
    </message>
    <message>
        <source>Trust and use</source>
        <translation>信任并使用</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WhereRow</name>
    <message>
        <source>Where?</source>
        <translation>何处？</translation>
    </message>
    <message>
        <source>auto  –  the first GPU, else the CPU</source>
        <translation>auto  –  第一块 GPU，否则 CPU</translation>
    </message>
    <message>
        <source>no GPU here</source>
        <translation>此处没有 GPU</translation>
    </message>
    <message>
        <source>fresh process</source>
        <translation>新进程</translation>
    </message>
    <message>
        <source>this window&apos;s worker thread</source>
        <translation>此窗口的工作线程</translation>
    </message>
    <message>
        <source>%1 local ranks  –  they train together</source>
        <translation>本机 %1 个 rank  –  共同训练</translation>
    </message>
    <message>
        <source>Where it runs</source>
        <translation>运行位置</translation>
    </message>
    <message>
        <source>%1 processes train each mode together, a batch each; one mode after the other</source>
        <translation>每种模式由 %1 个进程共同训练，各取一个批次；各模式依次进行</translation>
    </message>
    <message>
        <source>%1 local ranks</source>
        <translation>本机 %1 个 rank</translation>
    </message>
    <message>
        <source>in this window, one run at a time; a comparison needs a fresh process for each mode</source>
        <translation>在此窗口中，每次一个运行；对照需要每种模式各用一个新进程</translation>
    </message>
    <message>
        <source>each mode in a process of its own; they take turns, so times are fair</source>
        <translation>每种模式各用一个进程，轮流计算，用时公平</translation>
    </message>
    <message>
        <source>each mode in a process of its own, one after the other</source>
        <translation>每种模式各用一个进程，依次进行</translation>
    </message>
    <message>
        <source>each mode in a process of its own, at once: times are shared</source>
        <translation>每种模式各用一个进程，同时进行：用时互相影响</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Runs in</source>
        <translation>运行于</translation>
    </message>
    <message>
        <source>worker thread</source>
        <translation>工作线程</translation>
    </message>
    <message>
        <source>%1 isn&apos;t there: %2</source>
        <translation>没有 %1：%2</translation>
    </message>
    <message>
        <source>This machine could not be asked: %1</source>
        <translation>无法查询本机：%1</translation>
    </message>
    <message>
        <source>join a launcher  –  torchrun, srun or mpirun start the processes</source>
        <translation>加入启动器  –  由 torchrun、srun 或 mpirun 启动各进程</translation>
    </message>
    <message>
        <source>a launcher starts the processes, on this machine or on many; its lines are below</source>
        <translation>由启动器在本机或多台机器上启动进程；命令见下方</translation>
    </message>
    <message>
        <source>a launcher's processes</source>
        <translation>启动器的进程</translation>
    </message>
</context>
<context>
    <name>ChartRun</name>
    <message>
        <source>%1 before</source>
        <translation>%1（之前）</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::CheckpointModel</name>
    <message>
        <source>%1 updates applied, epoch %2
%3</source>
        <translation>已应用 %1 次更新，第 %2 轮
%3</translation>
    </message>
    <message>
        <source>After step</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>保存时间</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ChecksPanel</name>
    <message>
        <source>passed</source>
        <translation>通过</translation>
    </message>
    <message>
        <source>note</source>
        <translation>注意</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>未通过</translation>
    </message>
    <message>
        <source>open</source>
        <translation>待定</translation>
    </message>
    <message>
        <source>not needed</source>
        <translation>不需要</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>复制为文本</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copied ✓</source>
        <translation>已复制 ✓</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ConfigLine</name>
    <message>
        <source>Show all of Accelerate's configuration</source>
        <translation>显示 Accelerate 配置的全部内容</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1 %2 (overruled)</source>
        <translation>%1 %2（被覆盖）</translation>
    </message>
    <message>
        <source>Accelerate's configuration %1: %2</source>
        <translation>Accelerate 配置 %1：%2</translation>
    </message>
    <message>
        <source>sets nothing that a run here uses</source>
        <translation>没有设置本机运行会用到的内容</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::ContinueDialog</name>
    <message>
        <source>Continue from checkpoint</source>
        <translation>从检查点继续</translation>
    </message>
    <message>
        <source>Continue &lt;b&gt;%1&lt;/b&gt; from one of its checkpoints, as a new run. The old one stays as it is.</source>
        <translation>从 &lt;b&gt;%1&lt;/b&gt; 的某个检查点继续，作为一次新的运行。原来的运行保持不变。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Go on in</source>
        <translation>继续时的模式</translation>
    </message>
    <message>
        <source>native</source>
        <translation>原生</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>unsupported</source>
        <translation>不支持</translation>
    </message>
    <message>
        <source>&amp;Further steps</source>
        <translation>再训练步数(&amp;F)</translation>
    </message>
    <message>
        <source>Continue from step %1</source>
        <translation>从第 %1 步继续</translation>
    </message>
    <message>
        <source>up to step %1</source>
        <translation>到第 %1 步为止</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::PlanFiles</name>
    <message>
        <source>Open %1</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>Accelerate's configuration</source>
        <translation>Accelerate 配置</translation>
    </message>
    <message numerus="yes">
        <source>Accelerate's configuration read: %n setting(s) from %1</source>
        <translation>
            <numerusform>已读取 Accelerate 配置：来自 %1 的 %n 项设置</numerusform>
        </translation>
    </message>
    <message>
        <source>Open plan</source>
        <translation>打开计划</translation>
    </message>
    <message>
        <source>Plans (*.json);;All files (*)</source>
        <translation>计划 (*.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Open Accelerate's configuration</source>
        <translation>打开 Accelerate 配置</translation>
    </message>
    <message>
        <source>Configurations (*.yaml *.yml *.json);;All files (*)</source>
        <translation>配置 (*.yaml *.yml *.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Save plan</source>
        <translation>保存计划</translation>
    </message>
    <message>
        <source>Plan saved: %1</source>
        <translation>计划已保存：%1</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::RunKeeper</name>
    <message>
        <source>Saving a checkpoint…</source>
        <translation>正在保存检查点…</translation>
    </message>
    <message>
        <source>Which run?</source>
        <translation>哪一次运行？</translation>
    </message>
    <message>
        <source>Save weights</source>
        <translation>保存权重</translation>
    </message>
    <message>
        <source>Weights (*.safetensors);;All files (*)</source>
        <translation>权重 (*.safetensors);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Saving a checkpoint, then its weights…</source>
        <translation>正在保存检查点，然后保存其中的权重…</translation>
    </message>
    <message>
        <source>The weights were not saved</source>
        <translation>权重没有保存</translation>
    </message>
    <message numerus="yes">
        <source>%n tensor(s), %1, of %2 after step %3.</source>
        <translation>
            <numerusform>%n 个张量，%1，来自 %2 的第 %3 步之后。</numerusform>
        </translation>
    </message>
    <message>
        <source>Weights saved</source>
        <translation>权重已保存</translation>
    </message>
    <message>
        <source>Opens in Python: %1</source>
        <translation>在 Python 中打开：%1</translation>
    </message>
    <message>
        <source>Weights saved: %1</source>
        <translation>权重已保存：%1</translation>
    </message>
    <message>
        <source>Nothing saved</source>
        <translation>没有保存的内容</translation>
    </message>
    <message>
        <source>%1 has saved no checkpoint, and weights and a continuation come from one.</source>
        <translation>%1 没有保存过检查点，而权重和继续运行都来自检查点。</translation>
    </message>
    <message>
        <source>It is still going: save one now with “Checkpoint”, or wait for its end.</source>
        <translation>它还在运行：现在用“检查点”保存一个，或等它结束。</translation>
    </message>
    <message>
        <source>A run saves its end state unless “Save at the end” is off (Set up, Checkpoints). This one ended before it could, or was recorded by an older version: run it again.</source>
        <translation>除非关闭了“结束时保存”（设置页，检查点），运行会保存结束时的状态。这一次在保存之前就结束了，或由较早的版本记录：请重新运行。</translation>
    </message>
    <message>
        <source>%1 after step %2</source>
        <translation>%1 第 %2 步之后</translation>
    </message>
    <message>
        <source>Checkpoint saved: %1, %2</source>
        <translation>检查点已保存：%1，%2</translation>
    </message>
    <message>
        <source>Checkpoints saved: %1</source>
        <translation>检查点已保存：%1</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::HeatMap</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>%1 in %2: %3</source>
        <translation>%2 中的%1：%3</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1: not measured</source>
        <translation>%1：未测量</translation>
    </message>
    <message>
        <source>at loss scale 2^%1</source>
        <translation>损失缩放 2^%1</translation>
    </message>
    <message>
        <source>%1 of it NaN or Inf</source>
        <translation>其中 %1 为 NaN 或 Inf</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>good</source>
        <translation>好</translation>
    </message>
    <message>
        <source>bad</source>
        <translation>差</translation>
    </message>
    <message>
        <source>NaN or Inf in it</source>
        <translation>含 NaN 或 Inf</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::HeatScale</name>
    <message>
        <source>Headroom</source>
        <translation>余量</translation>
    </message>
    <message>
        <source>Flushed to 0</source>
        <translation>变为 0 的比例</translation>
    </message>
    <message>
        <source>SQNR</source>
        <translation>信噪比 SQNR</translation>
    </message>
    <message>
        <source>Not finite</source>
        <translation>非有限值</translation>
    </message>
    <message>
        <source>Weights not moved</source>
        <translation>未变动的权重</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>无损</translation>
    </message>
    <message>
        <source>overflows</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>%1 dB</source>
        <translation>%1 dB</translation>
    </message>
    <message>
        <source>%1 bits</source>
        <translation>%1 位</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::HistogramView</name>
    <message>
        <source>becomes 0</source>
        <translation>变为 0</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>normal</source>
        <translation>正规</translation>
    </message>
    <message>
        <source>overflow</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>%1 to %2: %3 of the values, %4 in %5</source>
        <translation>%1 至 %2：占数值的 %3，在 %5 中%4</translation>
    </message>
    <message>
        <source>%1 to %2: %3 of the values; with loss scale %4 at %5, %6 in %7</source>
        <translation>%1 至 %2：占数值的 %3；损失缩放 %4 后位于 %5，在 %7 中%6</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LensGauges</name>
    <message>
        <source>format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>becomes 0</source>
        <translation>变为 0</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>overflow</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>SQNR</source>
        <translation>SQNR</translation>
    </message>
    <message>
        <source>Signal to quantisation noise: how much louder the values are than their rounding errors. It hides values that become 0, so read both.</source>
        <translation>信号与量化噪声之比：数值比其舍入误差响多少。它会掩盖变为 0 的数值，所以两者都要看。</translation>
    </message>
    <message>
        <source>%1, becomes 0</source>
        <translation>%1，变为 0</translation>
    </message>
    <message>
        <source>%1, subnormal</source>
        <translation>%1，次正规</translation>
    </message>
    <message>
        <source>%1, overflow</source>
        <translation>%1，溢出</translation>
    </message>
    <message>
        <source>%1, SQNR</source>
        <translation>%1，SQNR</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LossCurve</name>
    <message>
        <source>scaler %1</source>
        <translation>缩放器 %1</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::NumericsPage</name>
    <message>
        <source>Mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>What the heat map shows</source>
        <translation>热图显示的量</translation>
    </message>
    <message>
        <source>Seen &amp;in</source>
        <translation>格式(&amp;I)</translation>
    </message>
    <message>
        <source>Bits between the largest value and the largest one of the format: 0 is the brink</source>
        <translation>最大值距该格式上限还有多少位：0 表示已到边缘</translation>
    </message>
    <message>
        <source>Share of the values that are not 0 here and become 0 in the format</source>
        <translation>此处非零、在该格式中变为 0 的数值所占比例</translation>
    </message>
    <message>
        <source>How much louder the values are than the rounding errors of the format, predicted</source>
        <translation>数值比该格式的舍入误差响多少（预测值）</translation>
    </message>
    <message>
        <source>Share of NaN, +Inf and −Inf</source>
        <translation>NaN、+Inf 与 −Inf 所占比例</translation>
    </message>
    <message>
        <source>Share of the weights with a gradient that an update leaves as they were</source>
        <translation>有梯度但更新后保持原样的权重所占比例</translation>
    </message>
    <message>
        <source>Tensors over steps</source>
        <translation>各张量随步数的变化</translation>
    </message>
    <message>
        <source>Ops and dtypes</source>
        <translation>算子与数据类型</translation>
    </message>
    <message>
        <source>Weights that don't move</source>
        <translation>不动的权重</translation>
    </message>
    <message>
        <source>Local error</source>
        <translation>局部误差</translation>
    </message>
    <message>
        <source>Forecast</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Difference &amp;to</source>
        <translation>相比(&amp;T)</translation>
    </message>
    <message>
        <source>Calls of every op by the dtype of its results</source>
        <translation>各算子按结果数据类型统计的调用次数</translation>
    </message>
    <message>
        <source>Weights that an update leaves as they were</source>
        <translation>更新后保持原样的权重</translation>
    </message>
    <message>
        <source>Rounding error of every layer against fp32 on the same batch</source>
        <translation>同一批数据上各层相对 fp32 的舍入误差</translation>
    </message>
    <message>
        <source>Choose a tensor and a step in the heat map to see where its values lie.</source>
        <translation>请在热图中选择一个张量和一步，查看其数值的分布。</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>不比较</translation>
    </message>
    <message>
        <source>What fp16, bf16 and fp8 would meet, told from the run in mode no</source>
        <translation>根据 no 模式的运行，预测 fp16、bf16 与 fp8 会遇到什么</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::NumericsTables</name>
    <message>
        <source>gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>op</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>casts</source>
        <translation>类型转换</translation>
    </message>
    <message>
        <source>bytes cast</source>
        <translation>转换字节</translation>
    </message>
    <message>
        <source>all ops</source>
        <translation>全部算子</translation>
    </message>
    <message>
        <source>%1, step %2: %3 of %4 kinds of op gave half-precision results, with %5 of the multiply-adds.</source>
        <translation>%1 第 %2 步：%4 类算子中有 %3 类给出半精度结果，占乘加运算的 %5。</translation>
    </message>
    <message>
        <source>In bf16, because fp8 takes sizes that are multiples of 16: %1.</source>
        <translation>停留在 bf16（fp8 要求大小是 16 的倍数）：%1。</translation>
    </message>
    <message>
        <source>parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>not moved</source>
        <translation>未变动</translation>
    </message>
    <message>
        <source>rms of the update</source>
        <translation>更新的均方根</translation>
    </message>
    <message>
        <source>rms of the weights</source>
        <translation>权重的均方根</translation>
    </message>
    <message>
        <source>update / weight</source>
        <translation>更新 / 权重</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>what</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>dtype</source>
        <translation>数据类型</translation>
    </message>
    <message>
        <source>SQNR</source>
        <translation>SQNR</translation>
    </message>
    <message>
        <source>relative error</source>
        <translation>相对误差</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限值</translation>
    </message>
    <message>
        <source>loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>magnitude from</source>
        <translation>数量级自</translation>
    </message>
    <message>
        <source>share</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>with the loss scale</source>
        <translation>经损失缩放</translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>在 %1 中</translation>
    </message>
    <message>
        <source>lost in %1</source>
        <translation>%1 中丢失</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::NumericsWords</name>
    <message>
        <source>Outputs</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>step %1 · largest %4 · %2 · %3 values</source>
        <translation>第 %1 步 · 最大 %4 · %2 · %3 个数值</translation>
    </message>
    <message>
        <source>Nothing is open. Start a comparison on Set up, or open one on Runs: its tensors are shown here.</source>
        <translation>尚未打开任何运行。请在“设置”中开始一次对照，或在“运行”中打开一个：其张量会显示在这里。</translation>
    </message>
    <message>
        <source>The first run is still being prepared. Its tensors are shown as soon as it has made a step.</source>
        <translation>第一个运行仍在准备中，走完一步后即显示其张量。</translation>
    </message>
    <message>
        <source>%1 hasn't made a step yet. Its tensors are shown as soon as it has.</source>
        <translation>%1 还没有走完一步，走完后即显示其张量。</translation>
    </message>
    <message>
        <source>%1 recorded no %2 so far. Choose another kind of tensor above.</source>
        <translation>%1 目前没有记录%2。请在上方选择另一类张量。</translation>
    </message>
    <message>
        <source>%1 is watched at level 0: only the largest value of each parameter is kept. Switch to level 1 above to record every tensor from now on.</source>
        <translation>%1 的观察级别为 0：只保留每个参数的最大值。请在上方切换到级别 1，从现在起记录每个张量。</translation>
    </message>
    <message>
        <source>%1 has recorded no tensor yet. Switch to level 1 above to record every tensor from now on.</source>
        <translation>%1 还没有记录任何张量。请在上方切换到级别 1，从现在起记录每个张量。</translation>
    </message>
    <message>
        <source>%1 holds no tensor records, although its plan asks for level %2: an earlier version of the program recorded it, or it ended before its first step. Run the comparison again to see its tensors.</source>
        <translation>%1 没有张量记录，尽管其计划要求级别 %2：它由较早版本的程序记录，或在第一步之前就已结束。请重新运行对照以查看张量。</translation>
    </message>
    <message>
        <source>%1 was recorded at level 0, so there are no tensors to look at. Set observe.level to 1 on Set up and run it again.</source>
        <translation>%1 以级别 0 记录，因此没有可看的张量。请在“设置”中把 observe.level 设为 1 后重新运行。</translation>
    </message>
    <message>
        <source>%1 hasn't recorded the ops of a step. They are counted in its first step: start the run, or run it again with this version.</source>
        <translation>%1 没有记录某一步的算子。算子在第一步中统计：请启动该运行，或用本版本重新运行。</translation>
    </message>
    <message>
        <source>The ops of the watched step are counted here once a run has made it.</source>
        <translation>运行走完被观察的那一步后，这里会统计其算子。</translation>
    </message>
    <message>
        <source>%1 recorded no update yet: updates are watched together with the weights, at the steps that apply one.</source>
        <translation>%1 还没有记录更新：更新与权重一起观察，且只在真正应用更新的步。</translation>
    </message>
    <message>
        <source>Which weights an update leaves as they were is measured from level 1 on.</source>
        <translation>哪些权重在更新后保持原样，从级别 1 起才会测量。</translation>
    </message>
    <message>
        <source>Set observe.local_error_every, for example to 50: every 50 steps the same batch is then computed in fp32 beside the run's mode, so that rounding here is told apart from drift since step 0.</source>
        <translation>请设置 observe.local_error_every，例如 50：此后每 50 步会用 fp32 与该模式各算一遍同一批数据，从而把此处的舍入与自第 0 步以来的漂移区分开。</translation>
    </message>
    <message>
        <source>This run computes in fp32 already, so it has no rounding error against it. Choose another mode above.</source>
        <translation>该运行本来就以 fp32 计算，因此没有相对 fp32 的舍入误差。请在上方选择其他模式。</translation>
    </message>
    <message>
        <source>%1 hasn't measured its local error. %2</source>
        <translation>%1 没有测量局部误差。%2</translation>
    </message>
    <message>
        <source>What fp16, bf16 and fp8 would meet is told from the tensor records of a run in mode no. There is none here: start a comparison with mode no.</source>
        <translation>fp16、bf16 与 fp8 会遇到什么，由 no 模式运行的张量记录推算。这里没有这样的运行：请开始一次包含 no 模式的对照。</translation>
    </message>
    <message>
        <source>Nothing can be foretold: the run in mode no has no tensor records. Set observe.level to 1 on Set up and run it again.</source>
        <translation>无法预测：no 模式的运行没有张量记录。请在“设置”中把 observe.level 设为 1 后重新运行。</translation>
    </message>
    <message>
        <source>Nothing can be foretold yet. What fp16, bf16 and fp8 would meet is told here as soon as the run in mode no has tensor records (level 1).</source>
        <translation>尚无法预测。no 模式的运行一有张量记录（级别 1），这里就会说明 fp16、bf16 与 fp8 会遇到什么。</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::TensorPanel</name>
    <message>
        <source>&amp;Loss scale</source>
        <translation>损失缩放(&amp;L)</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>as the scaler</source>
        <translation>跟随缩放器</translation>
    </message>
    <message>
        <source>Back to the loss scale that the run's scaler had at this step</source>
        <translation>回到该步缩放器所用的损失缩放</translation>
    </message>
    <message>
        <source>Lost over loss scale</source>
        <translation>各损失缩放下的丢失比例</translation>
    </message>
    <message>
        <source>%1 of it is exactly 0 and in no bar.</source>
        <translation>其中 %1 恰为 0，不在任何柱中。</translation>
    </message>
    <message>
        <source>%1 NaN, %2 +Inf and %3 −Inf.</source>
        <translation>%1 个 NaN、%2 个 +Inf、%3 个 −Inf。</translation>
    </message>
    <message>
        <source>These values already lie in %1, so what it lost is gone: choose the run in fp32 to see it.</source>
        <translation>这些数值已是 %1，丢失的部分已看不到：请选择 fp32 的运行来查看。</translation>
    </message>
    <message>
        <source>A loss scale acts on gradients only; it is 1 here.</source>
        <translation>损失缩放只作用于梯度，此处为 1。</translation>
    </message>
    <message>
        <source>Grey: as recorded; in colour: times the loss scale.</source>
        <translation>灰色：记录的值；彩色：乘以损失缩放后的值。</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>%1 at %2: %3 · least at %4 … %5</source>
        <translation>%1 在 %2：%3 · 最少处 %4 … %5</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::TwinCard</name>
    <message>
        <source>Chart: %1</source>
        <translation>图：%1</translation>
    </message>
    <message>
        <source>Table: %1</source>
        <translation>表：%1</translation>
    </message>
    <message>
        <source>%1 as a table</source>
        <translation>以表格显示%1</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>The same values as a table</source>
        <translation>以表格显示相同的数值</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::WatchSwitch</name>
    <message>
        <source>costs %1</source>
        <translation>占用时 %1</translation>
    </message>
    <message>
        <source>Measured: %1 a step on average.</source>
        <translation>实测：平均每步 %1。</translation>
    </message>
    <message>
        <source>A step with tensor records takes %1 more.</source>
        <translation>记录张量的那一步多用 %1。</translation>
    </message>
    <message>
        <source>The recording had grown enough at step %1: from there a record every %2 steps.</source>
        <translation>第 %1 步时记录已足够大：此后每 %2 步记录一次。</translation>
    </message>
    <message>
        <source>This run is over: its level is as it was recorded.</source>
        <translation>该运行已结束：级别为记录时的级别。</translation>
    </message>
    <message>
        <source>Watching</source>
        <translation>观察</translation>
    </message>
    <message>
        <source>Level 0: the largest value of every parameter and gradient, every step</source>
        <translation>级别 0：每一步记录每个参数和梯度的最大值</translation>
    </message>
    <message>
        <source>Level 1: every tensor with its histogram, every N steps (observe.every_steps of the plan)</source>
        <translation>级别 1：每 N 步记录每个张量及其直方图（计划中的 observe.every_steps）</translation>
    </message>
    <message>
        <source>Level 2: every tensor with its histogram, every step</source>
        <translation>级别 2：每一步记录每个张量及其直方图</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::PhaseWords</name>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>unscale</source>
        <translation>去缩放</translation>
    </message>
    <message>
        <source>update</source>
        <translation>更新</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::JoinCard</name>
    <message>
        <source>Copied: the lines for %1</source>
        <translation>已复制：%1 的命令</translation>
    </message>
    <message>
        <source>Started by a launcher</source>
        <translation>由启动器启动</translation>
    </message>
    <message>
        <source>it starts the processes, they train one run together; no window is needed for that</source>
        <translation>它启动各进程，各进程共同训练一个运行；这不需要窗口</translation>
    </message>
    <message>
        <source>&amp;Precision</source>
        <translation>精度(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Machines</source>
        <translation>机器数(&amp;M)</translation>
    </message>
    <message>
        <source>P&amp;rocesses on each</source>
        <translation>每台进程数(&amp;R)</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the lines for %1</source>
        <translation>复制 %1 的命令</translation>
    </message>
    <message>
        <source>Lines for %1</source>
        <translation>%1 的命令</translation>
    </message>
    <message>
        <source>Waiting for a new run “%1” in %2: Live opens it when its rank 0 has made the folder. All machines must see this folder; the plan is saved in %3.</source>
        <translation>正在等待 %2 中的新运行“%1”：它的 rank 0 建好文件夹后，“实时”页会打开它。所有机器都必须能看到这个文件夹；计划保存在 %3。</translation>
    </message>
</context>
<context>
    <name>DataSummary</name>
    <message>
        <source>%1 samples of %2 characters</source>
        <translation>%1 个样本，每个 %2 个字符</translation>
    </message>
    <message>
        <source>%1 samples of %2</source>
        <translation>%1 个样本，每个 %2</translation>
    </message>
    <message>
        <source>%1 samples, %2 features</source>
        <translation>%1 个样本，%2 个特征</translation>
    </message>
    <message>
        <source>labels %1, %2 classes</source>
        <translation>标签 %1，%2 类</translation>
    </message>
    <message>
        <source>values of %1</source>
        <translation>%1 的数值</translation>
    </message>
    <message>
        <source>the next of %1 different characters</source>
        <translation>预测下一个字符（共 %1 种）</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::DataColumnsModel</name>
    <message>
        <source>all values</source>
        <translation>全部数值</translation>
    </message>
    <message>
        <source>Feature</source>
        <translation>特征</translation>
    </message>
    <message>
        <source>Smallest</source>
        <translation>最小</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>Inf in fp16</source>
        <translation>fp16 中为 Inf</translation>
    </message>
    <message>
        <source>Square Inf</source>
        <translation>平方为 Inf</translation>
    </message>
    <message>
        <source>0 in fp16</source>
        <translation>fp16 中为 0</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::DataDialog</name>
    <message>
        <source>Data of your own · %1</source>
        <translation>自己的数据 · %1</translation>
    </message>
    <message>
        <source>as the labels are</source>
        <translation>由标签决定</translation>
    </message>
    <message>
        <source>one of several classes</source>
        <translation>若干类别之一</translation>
    </message>
    <message>
        <source>a value</source>
        <translation>一个数值</translation>
    </message>
    <message>
        <source>found</source>
        <translation>自动判断</translation>
    </message>
    <message>
        <source>names of columns</source>
        <translation>列名</translation>
    </message>
    <message>
        <source>a sample</source>
        <translation>一个样本</translation>
    </message>
    <message>
        <source>refuse the file</source>
        <translation>拒绝该文件</translation>
    </message>
    <message>
        <source>leave the sample out</source>
        <translation>舍去该样本</translation>
    </message>
    <message>
        <source>mean of the column</source>
        <translation>该列的均值</translation>
    </message>
    <message>
        <source>bytes by 255, else as it is</source>
        <translation>字节除以 255，其余不变</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>不变</translation>
    </message>
    <message>
        <source>largest value 1</source>
        <translation>最大值为 1</translation>
    </message>
    <message>
        <source>mean 0, deviation 1</source>
        <translation>均值 0，标准差 1</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>To be learned</source>
        <translation>学习目标</translation>
    </message>
    <message>
        <source>First line</source>
        <translation>第一行</translation>
    </message>
    <message>
        <source>Missing values</source>
        <translation>缺失值</translation>
    </message>
    <message>
        <source>Range</source>
        <translation>数值范围</translation>
    </message>
    <message>
        <source>Characters of a sample</source>
        <translation>每个样本的字符数</translation>
    </message>
    <message>
        <source>Use this data</source>
        <translation>使用此数据</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>found: %1</source>
        <translation>自动：%1</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) left out for missing values</source>
        <translation>
            <numerusform>因缺失值舍去 %n 个样本</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LayerCard</name>
    <message>
        <source>Layers of %1</source>
        <translation>%1 的层</translation>
    </message>
    <message>
        <source>%1 weights · %2 with gradients and Adam · %3 multiply-adds for a sample</source>
        <translation>%1 个权重 · 连同梯度和 Adam 共 %2 · 每个样本 %3 次乘加</translation>
    </message>
    <message>
        <source>Layers of the model</source>
        <translation>模型的层</translation>
    </message>
</context>
<context>
    <name>mantissa::ui::LayerTableModel</name>
    <message>
        <source>Weights, their gradients and Adam's two states, all fp32 in every mode; activations come on top</source>
        <translation>权重、其梯度和 Adam 的两个状态，在每种模式下都是 fp32；激活值另计</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Output of a sample</source>
        <translation>每个样本的输出</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Memory in training</source>
        <translation>训练时的内存</translation>
    </message>
</context>
</TS>
