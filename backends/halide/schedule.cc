// See schedule.h. The innermost window loop becomes vectors where every buffer walks it densely (or stands still); its tail is guarded, never
// shifted inwards, because a shifted vector would apply a combiner twice. A run whose length is known becomes straight code when short, and
// is unrolled when that leaves no rest. Entries are left in order and rolled: unrolled they are no faster (their loads wait for the list), and
// the guards double the compile time. Tested by tests/unit/halide_test.cc.
#include "backends/halide/schedule.h"

#include <algorithm>

#include "backends/halide/numeric.h"

namespace strew {
namespace {

constexpr int64_t kStraight = 8;        // vectors of straight-line code for a run
constexpr int64_t kStraightNodes = 40;  // and work in all of them: Halide's compile time grows with both

/// Elements per vector: the widest compute type fills a register. 1: this loop is no vectors.
int lanes_of(const BuildRequest& request, const Form& form) {
  const Plan& plan = request.plan;
  if (plan.window.empty()) return 1;
  const int run = static_cast<int>(plan.window.size()) - 1;
  int widest = 8;
  for (const auto* buffers : {&form.inputs, &form.results})
    for (const FormBuffer& buffer : *buffers) {
      if (buffer.packed || bits(plan.tensors[static_cast<size_t>(buffer.tensor)].dtype) > 64) return 1;
      widest = std::max(widest, buffer.bits);
      for (const FormDim& dim : buffer.dims)
        if (dim.walks == FormDim::Walks::window && dim.loop == run && !dim.stride.is(1)) return 1;
    }
  for (const ExprNode& node : plan.combine.nodes)
    if (!plan.pure_move) widest = std::max(widest, HalideNumeric::rounds_after(node.dtype) ? 32 : bits(node.dtype));
  return std::max(1, 8 * request.schedule.vector_bytes / widest);
}

/// How much code one vector of the graph is, in nodes; a rounding to a narrow float is several.
int64_t weight(const Plan& plan) {
  int64_t sum = 0;
  for (const ExprNode& node : plan.combine.nodes) sum += HalideNumeric::rounds_after(node.dtype) && !plan.pure_move ? 4 : 1;
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

std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const Form& form) {
  Director direct(pipeline);
  const int lanes = lanes_of(request, form), unroll = request.schedule.unroll;
  if (lanes > 1) {
    const Halide::RVar& run = pipeline.window.back();
    direct.vectorize(run, lanes);
    const int64_t extent = form.fixed.back() ? request.plan.window.back().extent.factor : 0;
    const int64_t vectors = (extent + lanes - 1) / lanes;
    const int64_t nodes = weight(request.plan);
    if (vectors > 1 && vectors <= kStraight && vectors * nodes <= kStraightNodes)
      direct.unroll(run);
    else if (unroll > 1 && extent > 0 && extent % (int64_t{lanes} * unroll) == 0 && unroll * nodes <= kStraightNodes)
      direct.unroll(run, unroll);
  }
  return direct.text();
}

}  // namespace strew
