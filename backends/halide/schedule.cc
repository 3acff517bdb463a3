// See schedule.h. The innermost window loop, the lane loop, is vectorised if every buffer has stride 1 in it or does not move. Its tail is guarded by a
// condition, and never shifted inwards, because a shifted vector would apply the combiner twice to some elements. One of known length becomes
// straight-line code if it is short, and is unrolled if the factor divides its vectors. The loop over a list's entries is not unrolled: that is
// no faster, because its loads wait for the list, and the guards double the compile time. Tested by
// tests/unit/backends/halide/halide_test.cc.
#include "backends/halide/schedule.h"

#include <algorithm>

#include "backends/lower/lower_numeric.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kStraight = 12;        // most vectors in straight-line code for a lane loop
constexpr int64_t kStraightSingles = 4;  // most elements in it, if it is not vectorised
constexpr int64_t kStraightNodes = 56;   // most weight of this code: Halide's compile time grows with it
constexpr int64_t kUnrolledNodes = 12;   // most weight of an iteration of an unrolled loop
constexpr int64_t kShortest = 128;       // least bits of a vector

/// Elements per vector of the lane loop: as many as fill a register with the widest type that is computed in. 1: it cannot be vectorised.
int lanes_of(const BuildRequest& request, const BodySignature& signature) {
  const Plan& plan = request.plan;
  if (plan.window.empty()) return 1;
  const int lane_loop = static_cast<int>(plan.window.size()) - 1;
  for (const auto* buffers : {&signature.inputs, &signature.results})
    for (const SignatureBuffer& buffer : *buffers) {
      if (buffer.packed || bits(plan.tensors[static_cast<size_t>(buffer.tensor)].dtype) > 64) return 1;
      for (const SignatureDim& dim : buffer.dims)
        if (dim.walks == SignatureDim::Walks::window && dim.loop == lane_loop && !dim.stride.is(1)) return 1;
    }
  const int widest = widest_bits(request, signature);
  const int most = std::max(1, 8 * request.schedule.vector_bytes / widest);
  if (!signature.fixed.back()) return most;
  // The elements of the tail take an iteration each, so a shorter vector is better if it takes fewer iterations in all.
  const int64_t extent = plan.window.back().extent.factor;
  const auto iterations = [&](int64_t lanes) { return extent / lanes + extent % lanes; };
  int best = most;
  for (int lanes = most; int64_t{lanes} * widest >= kShortest; lanes /= 2)
    if (iterations(lanes) < iterations(best)) best = lanes;
  return extent < best ? 1 : best;
}

/// The amount of code for one vector of the expression, in nodes. A node that is rounded to a narrow float counts as several.
int64_t weight(const Plan& plan) {
  int64_t sum = 0;
  for (const ExprNode& node : plan.combine.nodes)
    sum += rounds_after(node.dtype) && !node.args.empty() && !plan.pure_move ? 5 : 1;
  return sum;
}

/// Applies scheduling directives and collects them as text.
class Director {
 public:
  explicit Director(HalidePipeline& pipeline) : update_(pipeline.apply.update()) {}

  void vectorize(const Halide::RVar& var, int lanes) {
    update_.vectorize(var, lanes, Halide::TailStrategy::GuardWithIf);
    text_ += "  .vectorize(" + var.name() + ", " + std::to_string(lanes) + ", TailStrategy::GuardWithIf)\n";
  }
  void unroll(const Halide::RVar& var) {
    update_.unroll(var);
    text_ += "  .unroll(" + var.name() + ")\n";
  }
  void unroll(const Halide::RVar& var, int times) {
    update_.unroll(var, times, Halide::TailStrategy::GuardWithIf);
    text_ += "  .unroll(" + var.name() + ", " + std::to_string(times) + ", TailStrategy::GuardWithIf)\n";
  }
  std::string text() const { return text_.empty() ? "" : "result.update()\n" + text_; }

 private:
  Halide::Stage update_;
  std::string text_;
};

}  // namespace

int widest_bits(const BuildRequest& request, const BodySignature& signature) {
  const Plan& plan = request.plan;
  int widest = 8;
  for (const auto* buffers : {&signature.inputs, &signature.results})
    for (const SignatureBuffer& buffer : *buffers) widest = std::max(widest, buffer.bits);
  for (const ExprNode& node : plan.combine.nodes)
    if (!plan.pure_move) widest = std::max(widest, rounds_after(node.dtype) ? 32 : bits(node.dtype));
  return widest;
}

std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const BodySignature& signature) {
  Director direct(pipeline);
  const int lanes = lanes_of(request, signature), unroll = request.schedule.unroll;
  if (request.plan.window.empty()) return direct.text();
  const Halide::RVar& lane_loop = pipeline.window.back();
  if (lanes > 1) direct.vectorize(lane_loop, lanes);
  const int64_t extent = signature.fixed.back() ? request.plan.window.back().extent.factor : 0;
  const int64_t vectors = (extent + lanes - 1) / lanes, nodes = weight(request.plan);
  if (vectors > 1 && vectors <= (lanes > 1 ? kStraight : kStraightSingles) && vectors * nodes <= kStraightNodes) {
    direct.unroll(lane_loop);
  } else if (lanes > 1 && extent > 0 && extent % lanes == 0) {
    int times = std::max(1, unroll);
    while (times > 1 && (vectors % times != 0 || times * nodes > kUnrolledNodes)) --times;
    if (times > 1) direct.unroll(lane_loop, times);
  }
  return direct.text();
}

}  // namespace strew::inline v0
