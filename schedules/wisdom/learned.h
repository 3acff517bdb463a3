// What wisdom says about a plan: the schedule to take in the place of the cost model's choice. Tested by
// tests/unit/schedules/wisdom/wisdom_test.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/wisdom/record.h"
#include "strew/schedule.h"
#include "strew/target.h"
#include "strew/verified.h"
#include "strew/wisdom.h"

namespace strew::inline v0 {

struct Learned {
  std::optional<Schedule> schedule;  ///< absent: the cost model decides
  std::string backend;               ///< that the schedule was measured with
  /// How it was found, for people: "exact: …", or "no record of this op …"; empty if there is no wisdom at all.
  std::string from;
};

/// `identity` and its text: of the op. `chosen`: what the cost model chose for calls of `threads` threads. A learned schedule is legal and
/// gives the bits of `chosen`.
Learned learn(const Wisdom& wisdom, const VerifiedOp& identity, const std::string& identity_text, const Plan& plan,
              const Target& target, int threads, const Schedule& chosen);

/// The features by which shapes are compared.
ShapeFeatures shape_features(const Plan& plan);

// The look-up of a request in wisdom. It goes down four steps, and says at which it ended:
//   exact          the same op, measured on this machine with as many threads
//   nearest shape  an op of the same family, measured on this machine: the one whose shape and number of threads are nearest
//   other machine  the same op or the nearest of its family, measured on a machine with the same architecture and vector width
//   none           the cost model decides
// The distance of two shapes is the number of doublings between them: the sum of |log2| of the ratios of positions, bytes of a window,
// bytes of the table, and threads. Beyond kMostDoublings an op tells nothing about another one.
//
// Of several workloads that were measured for an op (other index distributions, other extents of an open op), the schedule with the
// least geometric mean of ratios wins; in a workload where it was not measured, it counts as the default.

inline constexpr double kMostDoublings = 2;

struct WisdomQuestion {
  std::string family, op;  ///< of the identity
  ShapeFeatures shape;
  bool is_open = false;  ///< some extent is known only at the call: then no other op can be near
  int threads = 1;
  std::string machine;  ///< empty: the kernel is for a named target, for which only the step "other machine" answers
  std::string features;
};

enum class WisdomStep : uint8_t { exact, nearest_shape, other_machine, none };

struct WisdomAnswer {
  /// A schedule that was the fastest, or the default of that time.
  struct Choice {
    std::string backend, schedule;
    double ratio = 1;  ///< to the default's time
    bool is_default = false;
  };
  WisdomStep step = WisdomStep::none;
  std::vector<Choice> choices;  ///< those that are faster than the default, the fastest first; then the default
  std::string from;             ///< what was measured: "exact: 2 workloads on znver4, 2 cores …, 2026-11-23"
};
WisdomAnswer look_up(const Wisdom& wisdom, const WisdomQuestion& question);

/// Lines that were no records, as far as look-ups came upon them.
std::vector<std::string> problems_of(const Wisdom& wisdom);

}  // namespace strew::inline v0
