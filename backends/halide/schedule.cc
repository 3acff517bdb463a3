// See schedule.h. The innermost window loop becomes vectors where every buffer walks it densely (or stands still); its tail is guarded, never
// shifted inwards, because a shifted vector would apply a combiner twice. A run whose length is known becomes straight code when short, and
// is unrolled when that leaves no rest. The order of entries is never touched. Tested by tests/unit/halide_test.cc.
#include "backends/halide/schedule.h"

#include <algorithm>

#include "backends/halide/numeric.h"

namespace strew {
namespace {

constexpr int64_t kStraight = 16;       // vectors of straight-line code for a run
constexpr int64_t kStraightNodes = 64;  // and graph nodes in all of them: Halide's time grows with both

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
    const auto nodes = static_cast<int64_t>(request.plan.combine.nodes.size());
    if (vectors > 1 && vectors <= kStraight && vectors * nodes <= kStraightNodes)
      direct.unroll(run);
    else if (unroll > 1 && extent > 0 && extent % (lanes * unroll) == 0)
      direct.unroll(run, unroll);
  }
  if (request.plan.window.empty() && unroll > 1) direct.unroll(pipeline.entry, unroll);
  return direct.text();
}

}  // namespace strew
