// SearchSpace: the variants of an op that the tuner may try, all of which give the same bits.
//
// The space has two parts. The listed variants are all combinations of the knob values that can pay (schedules/candidates.cc), with the
// times that the cost model predicts, and what the backends propose: Halide asks its autoschedulers. If the op has open extents and its default adapts, all variants keep the default's strategy, because
// calls choose the strategy. Beyond them lie the neighbours of a variant: those in which one knob has another legal value,
// also one that is not among the candidates. Tested by tests/unit/tune/search_test.cc.
#pragma once

#include <vector>

#include "backends/pipeline.h"
#include "tune/variant.h"

namespace strew::inline v0 {

struct ListedVariant {
  Variant variant;
  double predicted_ns = 0;  ///< 0: the cost model does not know this backend
};

class SearchSpace {
 public:
  /// `planned`: what plan_kernel() decided without wisdom and overrides: its schedule and backend are the default. `sized`: the same for
  /// the op with the workload's extents, from which times are predicted. Both must live as long. Fails if no backend makes code.
  static Expected<SearchSpace> of(const Compiled& planned, const Compiled& sized);

  const Variant& standard() const { return listed_[0].variant; }  ///< the default
  /// The default, then all others, by their predicted times; those without one come last.
  const std::vector<ListedVariant>& listed() const { return listed_; }
  /// Legal variants that differ from the given one in one knob, or in the backend.
  std::vector<Variant> neighbours(const Variant& variant) const;
  double predict(const Variant& variant) const;

 private:
  SearchSpace(const Compiled& planned, const Compiled& sized) : planned_(&planned), sized_(&sized) {}
  bool allows(const Variant& variant) const;
  /// Adds what the backends propose (Backend::propose).
  void add_proposals(const Variant& standard);

  const Compiled *planned_, *sized_;
  std::vector<BackendChoice> backends_;  ///< that can build the op; the default's first
  bool tries_adapting_ = false;          ///< are there variants that adapt beside those that do not?
  std::vector<Strategy> strategies_;     ///< legal ones that give the default's bits
  std::vector<ListedVariant> listed_;
};

}  // namespace strew::inline v0
