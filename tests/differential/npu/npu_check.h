// NpuChecker: writes an op as a PTO program, parses and simulates the program's text, and compares with the
// reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "tests/differential/blueprint.h"
#include "tests/differential/check.h"
#include "tests/differential/npu/npu_data.h"
#include "tests/support/guarded.h"

namespace strew::test {

/// Counts of what happened.
struct NpuTally {
  int64_t ops = 0, planned = 0, data_sets = 0, runs = 0;
  std::map<std::string, int64_t> refusals;                    ///< by chip, output and reason, without names and numbers
  std::map<std::string, std::pair<int64_t, int64_t>> asked;   ///< by chip and output: how many were planned, of how many
  std::map<std::string, int64_t> kinds;                       ///< programs by chip, output, mode, split, sync
  std::map<std::string, std::pair<int64_t, int64_t>> caught;  ///< by kind of planted bug: how many were noticed, of how many

  std::string text() const;
  void add(const NpuTally& other);
  std::string write() const;
  static NpuTally read(const std::string& text);
};

/// What the planner is asked for.
struct NpuWish {
  pto::Chip chip = pto::Chip::a5;
  pto::ProgramOptions options;
  std::string text() const;
};
NpuWish random_wish(Rng& rng);
/// ProgramOptions::launches for the data of `seed`; its draws are its own.
int random_launches(uint64_t seed);
/// May a program of the op refuse negative indices (ProgramOptions::non_negative)? The op's own policy lets them pass.
bool may_judge_signs(const Op& op);

class NpuChecker {
 public:
  /// `plants`: also simulates programs with planted bugs, which the simulator or the comparison must notice. `ptoas`:
  /// if not empty, the path of the PTO assembler, which must accept every program. Ops that move more than
  /// `most_moved` elements are planned and verified, but not simulated.
  explicit NpuChecker(bool plants, std::string ptoas = "", int64_t most_moved = 6000)
      : plants_(plants), ptoas_(std::move(ptoas)), most_moved_(most_moved) {}

  /// Checks the op. The result depends on (blueprint, seed) only.
  std::optional<Failure> check(const Blueprint& blueprint, uint64_t seed, const std::optional<NpuWish>& wanted = {});
  const NpuTally& tally() const { return tally_; }
  /// The text of the last program.
  const std::string& program() const { return program_; }
  /// Why the last op has no program, and for which chip and output; empty: it has one.
  const std::string& refusal() const { return refusal_; }

 private:
  Expected<pto::TileProgram> planned(const VerifiedOp& op, const Plan& plan, bool as_wanted);
  std::string ptoas_errors(const std::string& text) const;
  std::optional<Failure> check_call(const pto::TileProgram& program, const pto::Module& module, NpuData& data, Rng& rng);
  void plant(const pto::TileProgram& program, NpuData& data, Rng& rng);
  /// Runs `module` and returns what is wrong with its results, or nothing.
  std::optional<std::string> run(const pto::TileProgram& program, const pto::Module& module, NpuData& data,
                                 const pto::SimulateOptions& options);

  GuardedPool pool_;
  NpuTally tally_;
  NpuWish wish_;
  std::string program_, refusal_;
  pto::SimulationReport report_;  ///< report of the last run that ended normally
  bool plants_;
  std::string ptoas_;
  int64_t most_moved_;
};

/// A random op that the chips are likely to support: contiguous tensors, most of them with static extents.
Blueprint random_npu_blueprint(Rng& rng);

}  // namespace strew::test
