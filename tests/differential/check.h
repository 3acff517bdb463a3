// check: one op, many calls, every engine against the reference.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/blueprint.h"
#include "tests/differential/call.h"
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

/// More elements than this in the operand or the updates make a call a large one.
inline constexpr int64_t kLargeElements = 6000;

/// What the calls were like.
struct Tally {
  int64_t ops = 0, data_sets = 0, calls = 0, duplicates = 0, bad_index = 0, errors = 0, without_effect = 0;
  int64_t large = 0;  ///< data sets of more than kLargeElements elements
  int64_t folds = 0;  ///< elements that are folds in an open order, compared with a bound
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
  /// One run of a kernel: under limits that make small calls use `threads` threads, under the product's own, or its raw entries in pieces.
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
