// See schedule.h. The innermost window loop becomes vectors where every buffer walks it densely (or stands still); its tail is guarded, never
// shifted inwards, because a shifted vector would apply a combiner twice. Tested by tests/unit/halide_test.cc.
#include "backends/halide/schedule.h"

#include <algorithm>

#include "backends/halide/numeric.h"

namespace strew {
namespace {

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

}  // namespace

std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const Form& form) {
  Halide::Stage update = pipeline.apply.update();
  const int lanes = lanes_of(request, form);
  if (lanes == 1) return "";
  const Halide::RVar& run = pipeline.window.back();
  update.vectorize(run, lanes, Halide::TailStrategy::GuardWithIf);
  return "result.update().vectorize(" + run.name() + ", " + std::to_string(lanes) + ", TailStrategy::GuardWithIf);\n";
}

}  // namespace strew
