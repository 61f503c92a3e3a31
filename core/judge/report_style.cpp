#include "judge/report_style.h"

namespace mantissa {

const std::string& report_style() {
    static const std::string style = R"(:root {
  --back: #f3f4f6; --card: #ffffff; --text: #1c2127; --quiet: #5f6b76; --line: #dfe3e8;
  --fp16: #D55E00; --bf16: #0072B2; --fp8: #009E73; --no: var(--text); --bad: #CC79A7;
  --bad-text: #a8447c; --error: #b3261e; --warning: #8a5a00; --ok: #1b7f4d; --note: #3d5a80;
}
@media (prefers-color-scheme: dark) {
  :root { --back: #16191d; --card: #1f2429; --text: #e8eaed; --quiet: #a0abb6; --line: #353c44;
    --bad-text: #e29cc2; --error: #ff8a80; --warning: #ffca70; --ok: #6fd3a0; --note: #9fc0ea; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 16px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 0 0 12px; } h3 { font-size: 14px; margin: 14px 0 4px; }
p { margin: 4px 0; } ul { margin: 4px 0; padding-left: 20px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px 18px; margin: 16px 0; }
.quiet { color: var(--quiet); font-size: 13px; }
.decision { font-size: 19px; font-weight: 600; }
article { border-left: 4px solid var(--line); padding: 4px 0 4px 12px; margin: 10px 0; }
article.error { border-color: var(--error); } article.warning { border-color: var(--warning); }
article.note { border-color: var(--note); } article.ok { border-color: var(--ok); }
.badge { font-size: 12px; font-weight: 600; } .badge.error { color: var(--error); } .badge.warning { color: var(--warning); }
.badge.note { color: var(--note); } .badge.ok { color: var(--ok); }
code { font-size: 12px; color: var(--quiet); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; width: 100%; margin: 4px 0 8px; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; } td { overflow-wrap: break-word; } td.n { text-align: right; white-space: nowrap; }
td.quiet { overflow-wrap: anywhere; } td:first-child { white-space: nowrap; overflow-wrap: normal; }
.mode { font-weight: 600; } .mode.no { color: var(--no); } .mode.fp16 { color: var(--fp16); }
.mode.bf16 { color: var(--bf16); } .mode.fp8 { color: var(--fp8); }
.bad_cell, .differs { color: var(--bad-text); font-weight: 600; }
figure { margin: 8px 0 14px; } figcaption { font-size: 14px; } svg { width: 100%; height: auto; display: block; }
svg text.axis { font-size: 12px; fill: var(--quiet); } svg text.over { fill: var(--text); }
svg text.bad_text { font-size: 12px; font-weight: 600; fill: var(--bad-text); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
svg .band { opacity: 0.2; stroke: none; } svg .band.no { fill: var(--no); }
svg .line.no { stroke: var(--no); } svg .line.fp16 { stroke: var(--fp16); }
svg .line.bf16 { stroke: var(--bf16); } svg .line.fp8 { stroke: var(--fp8); }
svg .dot { fill: var(--card); stroke-width: 2; } svg .dot.no { stroke: var(--no); } svg .dot.fp16 { stroke: var(--fp16); }
svg .dot.bf16 { stroke: var(--bf16); } svg .dot.fp8 { stroke: var(--fp8); }
svg line.bad { stroke: var(--bad); stroke-width: 1.2; } svg path.bad { fill: var(--bad); }
svg .ledger.no { fill: var(--no); } svg .ledger.fp16 { fill: var(--fp16); }
svg .ledger.bf16 { fill: var(--bf16); } svg .ledger.fp8 { fill: var(--fp8); }
svg .ledger.applied { opacity: .28; } svg .ledger.fault { stroke: var(--bad); stroke-width: 1.5; } svg .ledger.nonfinite { fill: var(--bad); }
.legend { margin: 0 0 12px; } .key { display: inline-block; width: 16px; height: 10px; margin: 0 4px 0 10px; background: var(--fp16); }
.key.applied { opacity: .28; } .key.fault { outline: 2px solid var(--bad); } .key.nonfinite { background: var(--bad); }
details { margin: 6px 0; } summary { cursor: pointer; } pre { font-size: 11px; overflow-x: auto; max-height: 480px; }
@media print { body { background: #fff; } section { break-inside: avoid; } }
)";
    return style;
}

}  // namespace mantissa
