// The style sheet of the report: one column that fits a phone, light and dark as the reader's system has it, and black on white in print.
// Marks differ in shape and place, too, so that nothing depends on telling colours apart.
#pragma once

#include <string_view>

namespace strew::inline v0 {

inline constexpr std::string_view kReportStyle = R"css(
:root { --page: #fcfcfb; --text: #1d2024; --soft: #59626d; --line: #d8dce1; --panel: #f2f4f6; --mark: #3b6fb6; --out: #8a949f;
        --winner: #b3410c; --bar: #a9c3e6; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181b; --text: #e8eaed; --soft: #a3adb8; --line: #383e45; --panel: #1f2327; --mark: #7fb0f0; --out: #78828d;
          --winner: #ff9a5c; --bar: #31507a; }
}
@media print { :root { --page: #fff; --text: #000; --panel: #fff; } details { display: none; } }
* { box-sizing: border-box; }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; margin: 0 auto;
       max-width: 62rem; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .3rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; } .soft, caption, .facts { color: var(--soft); font-size: .9rem; }
code { font: .85em/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.winner { color: var(--winner); font-weight: 600; }
figure { background: var(--panel); border-radius: .5rem; margin: .5rem 0 1rem; padding: .7rem; overflow-x: auto; }
figcaption { color: var(--soft); font-size: .9rem; }
svg { display: block; height: auto; max-width: 100%; } svg.wide { min-width: 34rem; width: 100%; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; } svg text.soft { fill: var(--soft); font-size: 12px; } svg text.winner { fill: var(--winner); }
.axis { stroke: var(--line); stroke-width: 1; } .reference { stroke: var(--soft); stroke-dasharray: 4 3; }
.spread { stroke: var(--mark); stroke-width: 2; } .dot { fill: var(--mark); } .left { fill: none; stroke: var(--out); stroke-width: 1.5; }
.left-spread { stroke: var(--out); stroke-width: 1; } .best { fill: var(--winner); } .best-spread { stroke: var(--winner); stroke-width: 3; }
.standard { fill: var(--page); stroke: var(--text); stroke-width: 2; }
.knobs { display: grid; gap: .2rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); }
.bar { background: var(--bar); border-radius: 2px; display: inline-block; height: .7rem; vertical-align: baseline; }
summary { cursor: pointer; margin: .6rem 0; }
)css";

}  // namespace strew::inline v0
