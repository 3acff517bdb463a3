// Coverage: how often each cell (gather or scatter, plan kind, policy, combiner, dtype, backend) was run, and which legal cells stayed
// empty.
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
/// Of an op and its plan: dtype of result 0; a gather's combiner is assign or expr.
Cell cell_of(const Op& op, PlanKind kind);
/// Every cell an op can be in.
const std::vector<Cell>& legal_cells();
/// Must every legal cell run on this backend? Not on halide, which declines what it cannot hold.
bool owes_cells(const std::string& backend);
/// Must generated code (backend llvm) run this op? All but conversions and graphs over dtypes that only move, and wide
/// accumulation from an operand of another dtype.
bool is_promised(const Op& op);

/// The targets that ops are drawn for: "native" and every x86-64 level that the machine runs.
const std::vector<std::string>& target_names();

class Coverage {
 public:
  void ran(const std::string& backend, const Cell& cell, int64_t calls) { calls_[backend][cell] += calls; }
  void asked(const std::string& backend) { ++asked_[backend]; }
  void refused(const std::string& backend, const std::string& reason) { ++refusals_[backend][reason]; }
  bool has(const std::string& backend, const Cell& cell) const;
  void ran(const SplitCell& cell) { splits_.ran(cell); }
  void ran(std::span<const PhaseTrace::Step> steps) { splits_.ran(steps); }
  /// One op's kernels were built for that target.
  void built_for(const std::string& target) { ++targets_[target]; }
  /// With every number of threads?
  bool has(const SplitCell& cell) const { return splits_.has(cell); }
  bool has(PhaseKind phase) const { return splits_.has(phase); }
  /// As lines of text, and back: adds what another process counted.
  std::string write() const;
  void merge(const std::string& written);
  /// Table by kind, policy and combiner; then by dtype; then refusals and the share of ops the backend can build; then targets and splits.
  std::string table() const;
  /// Legal cells that never ran; splits and targets only where backend llvm is among them.
  std::vector<std::string> empty_cells(const std::vector<std::string>& backends) const;

 private:
  std::string refusals(const std::string& backend) const;

  std::map<std::string, std::map<Cell, int64_t>> calls_;
  std::map<std::string, std::map<std::string, int64_t>> refusals_;
  std::map<std::string, int64_t> asked_, targets_;
  SplitCoverage splits_;
};

}  // namespace strew::test
