// Coverage: counts how often each cell ran (a cell is a combination of gather or scatter, plan kind, policy,
// combiner, dtype and backend), and lists the legal cells that did not run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/plan/plan.h"
#include "strew/op.h"
#include "tests/differential/split_coverage.h"

namespace strew::test {

struct Cell {
  bool gather = false;
  PlanKind kind = PlanKind::general;
  OobPolicy oob = OobPolicy::undefined;
  CombinerKind combiner = CombinerKind::assign;
  DType dtype = DType::f32;
  auto operator<=>(const Cell&) const = default;
};
std::string text(const Cell& cell);
/// A look-up's policy, and whether it cuts windows: one that treats elements on their own, where an index moves a window of several.
struct LookupCell {
  OobPolicy oob = OobPolicy::undefined;
  bool cuts = false;
  auto operator<=>(const LookupCell&) const = default;
};
std::string text(const LookupCell& cell);
LookupCell cell_of(const Lookup& lookup);
const std::vector<LookupCell>& legal_lookups();
/// The cell of an op and its plan; the dtype is that of result 0. The combiner of a gather counts as assign or expr.
Cell cell_of(const Op& op, PlanKind kind);
/// Every cell that some op is in.
const std::vector<Cell>& legal_cells();
/// Must every legal cell run on this backend? All but halide, which declines some ops of nearly every cell.
bool owes_cells(const std::string& backend);
/// Must generated code (backend llvm) run this op? That is required of all ops except conversions of dtypes without
/// arithmetic, expressions over such dtypes, and wide accumulation from an operand of another dtype.
bool is_promised(const Op& op);

/// The targets that kernels are built for: "native", and every x86-64 level that this machine runs.
const std::vector<std::string>& target_names();

class Coverage {
 public:
  void ran(const std::string& backend, const Cell& cell, int64_t calls) { calls_[backend][cell] += calls; }
  void asked(const std::string& backend) { ++asked_[backend]; }
  void refused(const std::string& backend, const std::string& reason) { ++refusals_[backend][reason]; }
  bool has(const std::string& backend, const Cell& cell) const;
  void ran(const std::string& backend, const LookupCell& cell, int64_t calls) { lookups_[backend][cell] += calls; }
  bool has(const std::string& backend, const LookupCell& cell) const;
  void ran(const SplitCell& cell) { splits_.ran(cell); }
  void ran(std::span<const PhaseTrace::Step> steps) { splits_.ran(steps); }
  /// Counts an op whose kernels were built for that target.
  void built_for(const std::string& target) { ++targets_[target]; }
  /// Has the cell run with every number of threads?
  bool has(const SplitCell& cell) const { return splits_.has(cell); }
  bool has(PhaseKind phase) const { return splits_.has(phase); }
  /// The counts as lines of text, and the reverse: merge() adds the counts of another process.
  std::string write() const;
  void merge(const std::string& written);
  /// The counts as text: by kind, policy and combiner; by dtype; look-ups; refusals, and the share of ops that each backend can
  /// build; targets; splits.
  std::string table() const;
  /// The legal cells that never ran. Splits and targets are included only if `backends` has llvm.
  std::vector<std::string> empty_cells(const std::vector<std::string>& backends) const;

 private:
  std::string lookups(const std::string& backend) const;
  std::string refusals(const std::string& backend) const;

  std::map<std::string, std::map<Cell, int64_t>> calls_;
  std::map<std::string, std::map<LookupCell, int64_t>> lookups_;
  std::map<std::string, std::map<std::string, int64_t>> refusals_;
  std::map<std::string, int64_t> asked_, targets_;
  SplitCoverage splits_;
};

}  // namespace strew::test
