// The range entry: every position of [begin, end), in order, with its whole window.
//
// With schedule knob `prefetch`, the position that many iterations ahead has its first lines prefetched where it will write (gather:
// read); its index may be out of range, which is harmless: prefetch never faults. The look-ahead stops at the end of the row of
// positions, so the index array is never read past its end.
#include "backends/llvm/entries.h"
#include "backends/llvm/window.h"

namespace strew {
namespace {
using llvm::Value;

constexpr int64_t kLine = 64;
constexpr int64_t kMostLines = 4;  // of one row; the hardware's own prefetcher follows from there

/// Constant bytes of the run, or one line where it is not known.
int64_t run_bytes(const Frame& f, int tensor) {
  if (f.plan.window.empty() || !f.plan.window.back().extent.is_static()) return kLine;
  return f.plan.window.back().extent.factor * f.element_bytes(tensor);
}

void prefetch(Frame& f, const Pointers& p) {
  const int tensor = f.plan.gather ? f.plan.operand(0) : f.plan.result(0);
  Pointers ahead = p;
  for (size_t k = 0; k < f.plan.components.size(); ++k)
    ahead = f.step(ahead, f.plan.components[k].strides, load_component(f, p, k));
  const int64_t lines = std::min(kMostLines, (run_bytes(f, tensor) + kLine - 1) / kLine);
  for (int64_t line = 0; line < lines; ++line)
    f.e.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {f.e.b.getPtrTy()},
                          {f.e.at(ahead[static_cast<size_t>(tensor)], f.e.i64(line * kLine)),
                           f.e.b.getInt32(f.plan.gather ? 0 : 1), f.e.b.getInt32(3), f.e.b.getInt32(1)});
}

}  // namespace

void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  Emitter::LoopOptions options;
  if (f.plan.kind == PlanKind::element && f.plan.positions.size() <= 1) options.unroll = f.schedule.unroll;
  const int indexed = f.plan.gather ? f.plan.operand(0) : f.plan.result(0);
  const bool ahead = f.schedule.prefetch > 0 && !f.plan.positions.empty() && !f.packed(indexed);
  f.for_rows(f.plan.positions, f.begin(), f.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
    f.e.loop(lo, hi, options, [&](Value* i) {
      const auto at = [&](Value* position) {
        return f.plan.positions.empty() ? row : f.step(row, f.plan.positions.back().strides, position);
      };
      if (ahead) {
        Value* last = f.e.b.CreateSub(hi, f.e.i64(1));
        prefetch(f, at(f.e.smin(f.e.add(i, f.e.i64(f.schedule.prefetch)), last)));
      }
      emit_window(f, at(i));
    });
  });
  f.finish();
}

}  // namespace strew
