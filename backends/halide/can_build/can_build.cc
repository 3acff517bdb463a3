// See can_build.h. Halide can generate what LLVM can, with some exceptions (docs/backends.md lists them). Most follow from how a Halide function
// with several results works: all results are stored at the same coordinates, and one may be stored before another is evaluated. This backend
// never sees a wide accumulation whole: split_wide (compiler/rewrite) makes several kernels of it.
// Tested by tests/unit/backends/halide/halide_test.cc; the differential test prints which share of ops is declined.
#include "backends/halide/can_build/can_build.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/halide/can_build/body_signature.h"
#include "backends/llvm/can_build/can_build.h"
#include "base/cpus.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

Status decline(const std::string& why) { return unsupported("backend halide: " + why); }

bool rounds_to_integer(ExprOp op) {
  return op == ExprOp::floor || op == ExprOp::ceil || op == ExprOp::trunc || op == ExprOp::round_half_even ||
         op == ExprOp::round_half_away;
}

/// What a node depends on: `currents` has a bit for every result whose current value it reads. `halves_mix` (for
/// results of 16 bytes): one half of the node depends on the other half of a current value.
struct Reads {
  uint64_t currents = 0;
  bool halves_mix = false;
};

/// Does the operator compute each half of a complex128 from the same halves of its arguments?
bool keeps_halves(ExprOp op) {
  return op == ExprOp::current || op == ExprOp::add || op == ExprOp::sub || op == ExprOp::neg || op == ExprOp::select;
}

/// Halide may evaluate a result after it has stored another one. So a result may depend on its own current value
/// only, or on that of a result that is stored later (store_order). To Halide, each half of a 16-byte element is a result of its own, so it may depend
/// on the same half only.
Status check_reads(const Plan& plan) {
  const bool has_order = store_order(plan).has_value();
  std::vector<Reads> reads;
  for (const ExprNode& node : plan.combine.nodes) {
    Reads r;
    if (node.op == ExprOp::current) r.currents = uint64_t{1} << std::min(node.index, 63);
    for (const int32_t arg : node.args) {
      const Reads& from = reads[static_cast<size_t>(arg)];
      r.currents |= from.currents;
      r.halves_mix |= from.halves_mix;
      const bool is_condition = node.op == ExprOp::select && arg == node.args[0];
      if (from.currents != 0 && (is_condition || !keeps_halves(node.op))) r.halves_mix = true;
    }
    reads.push_back(r);
  }
  for (int i = 0; i < plan.pairs; ++i) {
    const Reads& r = reads[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])];
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (!has_order && (r.currents & ~(uint64_t{1} << std::min(i, 63))) != 0)
      return decline("result " + std::to_string(i) + " depends on the current value of another");
    if (bits(dtype) > 64 && r.halves_mix)
      return decline("result " + std::to_string(i) + ", " + std::string(name(dtype)) + ", mixes the halves of its current value");
  }
  return {};
}

/// The greatest depth of an expression graph. Halide visits a value again for every value computed from it, so its
/// compile time grows with the square of the depth: 1 s at kMostDepth, minutes for a chain of kMaxExprNodes. A node
/// in a float of 16 bits or less counts as kStepsOfSmallFloat, because its rounding takes several operations.
constexpr int64_t kMostDepth = 512, kStepsOfSmallFloat = 4;

Status check_depth(const Expr& graph) {
  std::vector<int64_t> depths;
  for (const ExprNode& node : graph.nodes) {
    int64_t depth = 0;
    for (const int32_t arg : node.args) depth = std::max(depth, depths[static_cast<size_t>(arg)]);
    depth += is_float(node.dtype) && bits(node.dtype) < 32 ? kStepsOfSmallFloat : 1;
    if (depth > kMostDepth)
      return decline("the combiner is " + std::to_string(depth) + " steps deep at node " + std::to_string(depths.size()) +
                     ", expected at most " + std::to_string(kMostDepth) + " (a float of 16 bits or less counts as " +
                     std::to_string(kStepsOfSmallFloat) + "): Halide would take too long");
    depths.push_back(depth);
  }
  return {};
}

}  // namespace

Status halide_can_build(const Plan& plan, const Schedule& schedule, const Target& target) {
  // LLVM emits the entries that call the loop body, and entries that have no such body, like init.
  if (const Status entries = llvm_can_build(plan, schedule, target); !entries.ok())
    return decline("its entries are made by LLVM: " + entries.message());
  if (target.arch == "x86_64" && (features_of(target) & feature_bit("sse4.1")) == 0) {
    for (size_t n = 0; n < plan.combine.nodes.size() && !plan.pure_move; ++n)
      if (rounds_to_integer(plan.combine.nodes[n].op))
        return decline("node " + std::to_string(n) + " of the combiner, " + std::string(name(plan.combine.nodes[n].op)) +
                       ", needs sse4.1, which " + print(target) + " has not");
  }
  if (plan.sources.empty()) return decline("plans without index sources are for others");
  if (has_row_values(plan)) return decline("its loops map elements, and rows of the op have values of their own");
  for (size_t s = 1; s < plan.sources.size(); ++s)
    if (is_fill(plan.sources[s].oob))
      return decline("its loops read what look-ups find, and one of the op's fills (" + std::string(name(plan.sources[s].oob)) +
                     ")");
  if (!plan.gather) STREW_TRY(check_reads(plan));
  STREW_TRY(check_depth(plan.combine));
  for (int i = 0; i < plan.pairs && plan.pairs > 1; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (bits(dtype) < 8)
      return decline("result " + std::to_string(i) + " of " + std::to_string(plan.pairs) + " is packed " +
                     std::string(name(dtype)));
  }
  return {};
}

}  // namespace strew::inline v0
