// See split_coverage.h. is_legal() repeats which cells are legal, in one line per strategy, so that a strategy that
// refuses too many ops leaves a cell empty. Tested by tests/unit/differential/differential_test.cc.
#include "tests/differential/split_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <sstream>

namespace strew::test {
namespace {

#define STREW_PHASE_ONE(kind, what) +1
constexpr int kPhaseKinds = STREW_PHASES(STREW_PHASE_ONE);
#undef STREW_PHASE_ONE

bool is_legal(Strategy strategy, bool gather, OobPolicy oob, DType dtype) {
  const bool skip = oob == OobPolicy::skip_element || oob == OobPolicy::skip_window;
  const bool fill = oob == OobPolicy::fill_element || oob == OobPolicy::fill_window;
  if (gather ? skip : fill) return false;
  if (strategy == Strategy::sequential) return true;
  if (bits(dtype) < 8) return false;  // two threads could write elements in the same byte
  if (strategy == Strategy::positions || strategy == Strategy::window) return true;
  if (gather) return false;
  if (strategy == Strategy::runs) return oob != OobPolicy::wrap;  // wrapping destroys the order of sorted indices
  if (strategy == Strategy::clip) return true;
  if (strategy == Strategy::private_tables)
    return info(dtype).arithmetic && !is_complex(dtype) && (bits(dtype) >= 16 || is_integer(dtype) || dtype == DType::boolean);
  return true;
}

/// Is this a phase in which the strategy applies updates?
bool carries_out(PhaseKind kind, Strategy strategy) {
  using K = PhaseKind;
  switch (strategy) {
    case Strategy::sequential:
      return kind == K::whole;
    case Strategy::positions:
      return kind == K::positions;
    case Strategy::window:
      return kind == K::window;
    case Strategy::owner:
      return kind == K::owner || kind == K::columns || kind == K::wide_sparse;
    case Strategy::radix:
      return kind == K::radix_apply || kind == K::columns || kind == K::wide_sparse;
    case Strategy::runs:
      return kind == K::runs || kind == K::columns;
    case Strategy::clip:
      return kind == K::clip;
    case Strategy::private_tables:
      return kind == K::private_apply;
  }
  return false;
}

bool is_stage(PhaseKind kind) {
  return kind == PhaseKind::wide_start || kind == PhaseKind::wide_fold || kind == PhaseKind::wide_narrow ||
         kind == PhaseKind::wide_sums;
}

std::span<const int> counts_of(Strategy strategy) {
  return std::span<const int>(kThreadCounts).first(strategy == Strategy::sequential ? 1 : std::size(kThreadCounts));
}

}  // namespace

std::string text(const SplitCell& cell) {
  return fmt::format("strategy {}: {} {} {}", name(cell.strategy), cell.gather ? "gather" : "scatter", name(cell.oob),
                     name(cell.dtype));
}

const std::vector<SplitCell>& legal_splits() {
  static const std::vector<SplitCell> cells = [] {
    std::vector<SplitCell> out;
    for (const Strategy strategy : kStrategies)
      for (const bool gather : {false, true})
        for (int p = 0; p <= static_cast<int>(OobPolicy::fill_window); ++p)
          for (int t = 0; t < kDTypeCount; ++t)
            if (is_legal(strategy, gather, static_cast<OobPolicy>(p), static_cast<DType>(t)))
              out.push_back({strategy, 1, gather, static_cast<OobPolicy>(p), static_cast<DType>(t)});
    return out;
  }();
  return cells;
}

const std::vector<PhaseKind>& legal_phases() {
  static const std::vector<PhaseKind> phases = [] {
    std::vector<PhaseKind> out;
    for (int k = 0; k < kPhaseKinds; ++k)
      if (static_cast<PhaseKind>(k) != PhaseKind::whole) out.push_back(static_cast<PhaseKind>(k));
    return out;
  }();
  return phases;
}

int threads_of(std::span<const PhaseTrace::Step> steps, Strategy strategy) {
  int threads = 0;
  for (const PhaseTrace::Step& step : steps) {
    if (step.kind == PhaseKind::whole) threads = std::max(threads, 1);
    if (carries_out(step.kind, strategy) && (step.threads == 1 || step.chunks > 1)) threads = std::max(threads, step.threads);
  }
  return threads;
}

void SplitCoverage::ran(std::span<const PhaseTrace::Step> steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!is_stage(steps[i].kind)) {
      if (steps[i].threads == 1 || steps[i].chunks > 1) ++phases_[{steps[i].kind, steps[i].threads}];
      continue;
    }
    int threads = 0;
    for (size_t j = i + 1; j < steps.size() && !is_stage(steps[j].kind); ++j) threads = std::max(threads, steps[j].threads);
    if (threads > 0) ++phases_[{steps[i].kind, threads}];
  }
}

std::string SplitCoverage::write() const {
  std::string out;
  for (const auto& [phase, calls] : phases_)
    out += fmt::format("phase {} {} {}\n", static_cast<int>(phase.first), phase.second, calls);
  for (const auto& [cell, calls] : calls_)
    out += fmt::format("split {} {} {} {} {} {}\n", static_cast<int>(cell.strategy), cell.threads, int{cell.gather},
                       static_cast<int>(cell.oob), static_cast<int>(cell.dtype), calls);
  return out;
}

void SplitCoverage::merge(const std::string& written) {
  std::istringstream lines(written);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string what;
    int strategy = 0, threads = 0, gather = 0, oob = 0, dtype = 0;
    int64_t calls = 0;
    if (!(fields >> what)) continue;
    if (what == "phase" && fields >> strategy >> threads >> calls) phases_[{static_cast<PhaseKind>(strategy), threads}] += calls;
    if (what != "split") continue;
    fields >> strategy >> threads >> gather >> oob >> dtype >> calls;
    calls_[{static_cast<Strategy>(strategy), threads, gather != 0, static_cast<OobPolicy>(oob), static_cast<DType>(dtype)}] +=
        calls;
  }
}

std::string SplitCoverage::table() const {
  std::string out = "\nsplits: cells (scatter or gather, policy, dtype) covered / legal, and calls, by strategy and threads\n";
  for (const Strategy strategy : kStrategies) {
    out += fmt::format("{:12}", name(strategy));
    for (const int threads : counts_of(strategy)) {
      int legal = 0, covered = 0;
      int64_t calls = 0;
      for (SplitCell cell : legal_splits()) {
        if (cell.strategy != strategy) continue;
        cell.threads = threads;
        const auto found = calls_.find(cell);
        legal += 1;
        covered += found != calls_.end();
        calls += found == calls_.end() ? 0 : found->second;
      }
      out += fmt::format("  {} threads {}/{} ({})", threads, covered, legal, calls);
    }
    out += "\n";
  }
  out += "phases: calls by threads that ran a chunk\n";
  for (int k = 0; k < kPhaseKinds; ++k) {
    out += fmt::format("{:14}", name(static_cast<PhaseKind>(k)));
    for (const int threads : kThreadCounts) {
      const auto found = phases_.find({static_cast<PhaseKind>(k), threads});
      out += fmt::format("  {}: {}", threads, found == phases_.end() ? 0 : found->second);
    }
    out += "\n";
  }
  return out;
}

bool SplitCoverage::has(SplitCell cell) const {
  const std::span<const int> counts = counts_of(cell.strategy);
  return std::all_of(counts.begin(), counts.end(), [&](int threads) {
    cell.threads = threads;
    return calls_.count(cell) != 0;
  });
}

bool SplitCoverage::has(PhaseKind phase) const {
  return std::all_of(std::begin(kThreadCounts), std::end(kThreadCounts), [&](int threads) {
    return threads == 1 || phases_.count({phase, threads}) != 0;
  });
}

std::vector<std::string> SplitCoverage::empty_cells() const {
  std::vector<std::string> out;
  for (const SplitCell& cell : legal_splits())
    if (!has(cell)) out.push_back(text(cell));
  for (const PhaseKind phase : legal_phases())
    for (const int threads : kThreadCounts)
      if (threads > 1 && phases_.count({phase, threads}) == 0)
        out.push_back(fmt::format("phase {} on {} threads", name(phase), threads));
  return out;
}

}  // namespace strew::test
