// check: one op, many calls, every engine against the reference.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/blueprint.h"
#include "tests/differential/engines.h"
#include "tests/support/guarded.h"

namespace strew::test {

struct Failure {
  std::string what;      ///< the first difference, or what the op failed at
  std::string call;      ///< the op with its extents, pattern, data; empty when no call was made
  std::string engine;    ///< backend and schedule, or "reference"
  bool stopped = false;  ///< a signal: the process should not go on
};

/// Calls per op.
inline constexpr int kPatterns = 12;

/// What the calls were like.
struct Tally {
  int64_t ops = 0, data_sets = 0, calls = 0, duplicates = 0, bad_index = 0, errors = 0, without_effect = 0;
  std::string text() const;
  void add(const Tally& other);
};

class Checker {
 public:
  explicit Checker(EngineOptions options) : room_(std::move(options)) {}

  /// `patterns` calls of the op, on kernels of strategy `wish` if given. Deterministic in its arguments.
  std::optional<Failure> check(const Blueprint& blueprint, uint64_t seed, int patterns = kPatterns,
                               std::optional<Strategy> wish = {});

  EngineRoom& room() { return room_; }
  Coverage& coverage() { return room_.coverage(); }
  const Tally& tally() const { return tally_; }
  /// For the fault handler: what is running now.
  std::string describe(int signal, const void* address) const;

 private:
  std::optional<Failure> check_text(const Op& op);
  std::optional<Failure> check_call(const VerifiedOp& op, const std::vector<Engine>& engines, class PreparedCall& call);

  EngineRoom room_;
  GuardedPool pool_;
  Tally tally_;
  std::string running_;
};

}  // namespace strew::test
