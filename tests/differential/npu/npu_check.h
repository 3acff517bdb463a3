// NpuChecker: one op as a PTO program, its text read back and simulated, against the reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "tests/differential/blueprint.h"
#include "tests/differential/call.h"
#include "tests/differential/check.h"
#include "tests/support/guarded.h"

namespace strew::test {

/// How often what happened.
struct NpuTally {
  int64_t ops = 0, planned = 0, data_sets = 0, runs = 0;
  std::map<std::string, int64_t> refusals;                    ///< by reason, names and numbers taken out
  std::map<std::string, int64_t> kinds;                       ///< of programs: chip, output, mode, split, sync
  std::map<std::string, std::pair<int64_t, int64_t>> caught;  ///< by what was planted: caught, of

  std::string text() const;
  void add(const NpuTally& other);
  std::string write() const;
  static NpuTally read(const std::string& text);
};

/// What a program is asked for.
struct NpuWish {
  pto::Chip chip = pto::Chip::a5;
  pto::ProgramOptions options;
  std::string text() const;
};
NpuWish random_wish(Rng& rng);

class NpuChecker {
 public:
  /// `plants` programs with a bug put in: the simulator or the comparison must notice.
  /// `ptoas`, if not empty, is the tool that must take every program written for it. Ops that move more than `most_moved` elements are
  /// planned and checked, not simulated.
  explicit NpuChecker(bool plants, std::string ptoas = "", int64_t most_moved = 6000)
      : plants_(plants), ptoas_(std::move(ptoas)), most_moved_(most_moved) {}

  /// Deterministic in (blueprint, seed).
  std::optional<Failure> check(const Blueprint& blueprint, uint64_t seed, const std::optional<NpuWish>& wanted = {});
  const NpuTally& tally() const { return tally_; }
  /// The last program, as text.
  const std::string& program() const { return program_; }

 private:
  struct Data;
  std::optional<Failure> check_call(const pto::Program& program, const pto::Module& module, Data& data, Rng& rng);
  void plant(const pto::Program& program, Data& data, Rng& rng);
  /// What is wrong with a run of `module`, or nothing.
  std::optional<std::string> run(const pto::Program& program, const pto::Module& module, Data& data,
                                 const pto::SimulateOptions& options);

  GuardedPool pool_;
  NpuTally tally_;
  NpuWish wish_;
  std::string program_;
  pto::SimulationReport report_;  ///< of the last run that ended
  bool plants_;
  std::string ptoas_;
  int64_t most_moved_;
};

/// The op made such that a chip may take it: contiguous tensors, most of them of known extents.
Blueprint random_npu_blueprint(Rng& rng);

}  // namespace strew::test
