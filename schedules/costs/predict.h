// The cost model: how long a call will take with a schedule, from the numbers of the plan (workload.h) and what the machine
// can do (Target::costs). It ranks candidates; its times are those of calls that follow one another with other indices, so a
// table larger than the last-level cache counts as cold.
//
// A thread's time is the larger of two, and a part of the smaller, since a processor computes while it waits for memory:
//   compute: index positions, windows in vectors, keys of positions that are shared out by destination
//   memory:  lines of the table at random addresses, updates and results in order
// and then what threads cost: fork and join of phases, lines that they take from each other, private tables that are filled and merged. Which share
// of a call a thread has, base/strategy_shares.h says of each strategy. Tested by tests/unit/schedules/costs/predict_test.cc;
// `./dev bench costs` compares predictions with measurements.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "schedules/costs/workload.h"
#include "schedules/schedule.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// What a call spends its time on. The first two are computed, the next three wait for memory, the rest are added.
#define STREW_COST_TERMS(F)                  \
  F(windows, "positions and windows")        \
  F(keys, "destinations of positions")       \
  F(table, "lines of the table")             \
  F(stream, "updates or results in order")   \
  F(tables, "private tables")                \
  F(threads, "what threads cost each other") \
  F(init, "first copy or fill")              \
  F(call, "call")
enum class CostTerm : uint8_t {
#define STREW_COST_TERM(term, text) term,
  STREW_COST_TERMS(STREW_COST_TERM)
#undef STREW_COST_TERM
};
inline constexpr size_t kCostTerms = 8;
constexpr std::string_view name(CostTerm term) {
#define STREW_COST_TEXT(term, text) text,
  return name_among({STREW_COST_TERMS(STREW_COST_TEXT)}, term);
#undef STREW_COST_TEXT
}

struct Prediction {
  std::array<double, kCostTerms> nanoseconds{};  ///< by CostTerm
  double& operator[](CostTerm term) { return nanoseconds[static_cast<size_t>(term)]; }
  double operator[](CostTerm term) const { return nanoseconds[static_cast<size_t>(term)]; }
  double total() const;
};
/// "about 12.3 us: lines of the table 9.1 us, updates or results in order 4.0 us": the total and its two largest terms.
std::string print(const Prediction& prediction);

/// What is asked: the costs of a plan with a schedule for calls of `threads` threads.
struct CostQuestion {
  const Workload& work;
  const Schedule& schedule;
  const Target& target;
  int threads;
};
Prediction predict(const CostQuestion& question);

}  // namespace strew::inline v0
