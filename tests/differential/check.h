// Checker: compares all engines with the reference, in many calls of one op.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/blueprint.h"
#include "tests/differential/call.h"
#include "tests/differential/engines.h"
#include "tests/support/guarded.h"

namespace strew::test {

struct Failure {
  std::string what;      ///< the first difference, or the stage at which the op failed
  std::string call;      ///< the op with its extents, pattern and data; empty if no call was made
  std::string engine;    ///< backend and schedule, or "reference"
  bool stopped = false;  ///< a signal was caught, so the process must not continue
};

/// Calls per op.
inline constexpr int kPatterns = 12;

/// A call is a large one if the operand or the updates have more elements than this.
inline constexpr int64_t kLargeElements = 6000;

/// Counts of what the calls were like.
struct Tally {
  int64_t ops = 0, data_sets = 0, calls = 0, duplicates = 0, bad_index = 0, errors = 0, without_effect = 0;
  int64_t large = 0;  ///< data sets of more than kLargeElements elements
  int64_t folds = 0;  ///< elements of folds in an open order, which are compared with a bound
  std::string text() const;
  void add(const Tally& other);
};

class Checker {
 public:
  explicit Checker(EngineOptions options) : room_(std::move(options)) {}

  /// Makes `patterns` calls of the op; if `wish` is given, on kernels of that strategy. The result depends on the
  /// arguments only.
  std::optional<Failure> check(const Blueprint& blueprint, uint64_t seed, int patterns = kPatterns,
                               std::optional<Strategy> wish = {});

  EngineRoom& room() { return room_; }
  Coverage& coverage() { return room_.coverage(); }
  const Tally& tally() const { return tally_; }
  /// A text for the fault handler: what is running now.
  std::string describe(int signal, const void* address) const;

 private:
  /// One run of a kernel. small: under limits that make small calls use `threads` threads. usual: under the library's
  /// own limits. raw: by calling its entries on pieces of the work.
  struct Way {
    enum class Kind : uint8_t { small, usual, raw } kind;
    ExecutionLimits limits;
    int threads;
  };
  std::optional<Failure> check_text(const Op& op);
  std::optional<Failure> check_reference(const VerifiedOp& op, class PreparedCall& call);
  std::vector<Way> ways(const Engine& engine, PreparedCall& call);
  std::optional<Failure> check_way(const Engine& engine, const Way& way, PreparedCall& call, std::optional<Call::Image>& first);
  std::optional<std::string> difference_from(PreparedCall& call, const Call::Image& actual, const Way& way,
                                             std::optional<Call::Image>& first);
  std::optional<Failure> check_call(const VerifiedOp& op, const std::vector<Engine>& engines, PreparedCall& call);

  EngineRoom room_;
  GuardedPool pool_;
  Tally tally_;
  std::string running_;
};

}  // namespace strew::test
