// See schedule.h. The innermost window loop becomes vectors where every buffer walks it densely (or stands still); its tail is guarded, never
// shifted inwards, because a shifted vector would apply a combiner twice. A run whose length is known becomes straight code when short, and
// is unrolled when that leaves no rest. Entries are left in order and rolled: unrolled they are no faster (their loads wait for the list), and
// the guards double the compile time. Tested by tests/unit/halide_test.cc.
#include "backends/halide/schedule.h"

#include <algorithm>

#include "backends/halide/numeric.h"

namespace strew {
namespace {

constexpr int64_t kStraight = 12;        // vectors of straight-line code for a run
constexpr int64_t kStraightSingles = 4;  // and elements, where a run is no vectors
constexpr int64_t kStraightNodes = 56;   // and work in all of them: Halide's compile time grows with both
constexpr int64_t kUnrolledNodes = 12;   // the same, in an iteration of a loop
constexpr int64_t kShortest = 128;       // bits of a vector

/// Elements per vector: the widest compute type fills a register. 1: this loop is no vectors.
int lanes_of(const BuildRequest& request, const BodySignature& signature) {
  const Plan& plan = request.plan;
  if (plan.window.empty()) return 1;
  const int run = static_cast<int>(plan.window.size()) - 1;
  int widest = 8;
  for (const auto* buffers : {&signature.inputs, &signature.results})
    for (const SignatureBuffer& buffer : *buffers) {
      if (buffer.packed || bits(plan.tensors[static_cast<size_t>(buffer.tensor)].dtype) > 64) return 1;
      widest = std::max(widest, buffer.bits);
      for (const SignatureDim& dim : buffer.dims)
        if (dim.walks == SignatureDim::Walks::window && dim.loop == run && !dim.stride.is(1)) return 1;
    }
  for (const ExprNode& node : plan.combine.nodes)
    if (!plan.pure_move) widest = std::max(widest, HalideNumeric::rounds_after(node.dtype) ? 32 : bits(node.dtype));
  const int most = std::max(1, 8 * request.schedule.vector_bytes / widest);
  if (!signature.fixed.back()) return most;
  // Iterations, those of the tail one by one: shorter vectors where they leave less of one.
  const int64_t extent = plan.window.back().extent.factor;
  const auto iterations = [&](int64_t lanes) { return extent / lanes + extent % lanes; };
  int best = most;
  for (int lanes = most; int64_t{lanes} * widest >= kShortest; lanes /= 2)
    if (iterations(lanes) < iterations(best)) best = lanes;
  return extent < best ? 1 : best;
}

/// How much code one vector of the graph is, in nodes; a rounding to a narrow float is several.
int64_t weight(const Plan& plan) {
  int64_t sum = 0;
  for (const ExprNode& node : plan.combine.nodes)
    sum += HalideNumeric::rounds_after(node.dtype) && !node.args.empty() && !plan.pure_move ? 5 : 1;
  return sum;
}

/// Directives, applied and written down.
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

std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const BodySignature& signature) {
  Director direct(pipeline);
  const int lanes = lanes_of(request, signature), unroll = request.schedule.unroll;
  if (request.plan.window.empty()) return direct.text();
  const Halide::RVar& run = pipeline.window.back();
  if (lanes > 1) direct.vectorize(run, lanes);
  const int64_t extent = signature.fixed.back() ? request.plan.window.back().extent.factor : 0;
  const int64_t vectors = (extent + lanes - 1) / lanes, nodes = weight(request.plan);
  if (vectors > 1 && vectors <= (lanes > 1 ? kStraight : kStraightSingles) && vectors * nodes <= kStraightNodes) {
    direct.unroll(run);
  } else if (lanes > 1 && extent > 0 && extent % lanes == 0) {
    int times = std::max(1, unroll);
    while (times > 1 && (vectors % times != 0 || times * nodes > kUnrolledNodes)) --times;
    if (times > 1) direct.unroll(run, times);
  }
  return direct.text();
}

}  // namespace strew
