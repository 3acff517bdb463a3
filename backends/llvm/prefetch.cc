// See prefetch.h. Four lines at most: the hardware's own prefetcher follows from there.
#include "backends/llvm/prefetch.h"

#include <algorithm>

namespace strew {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kMostLines = 8;

/// Constant bytes of the run, or one line where it is not known.
int64_t run_bytes(const Frame& f, int tensor) {
  if (f.plan.window.empty() || !f.plan.window.back().extent.is_static()) return kLine;
  return f.plan.window.back().extent.factor * f.element_bytes(tensor);
}

}  // namespace

void prefetch_run(Frame& f, int tensor, llvm::Value* address, bool write) {
  const int64_t lines = std::min(kMostLines, (run_bytes(f, tensor) + kLine - 1) / kLine);
  for (int64_t line = 0; line < lines; ++line)
    f.e.b.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {f.e.b.getPtrTy()},
        {f.e.at(address, f.e.i64(line * kLine)), f.e.b.getInt32(write ? 1 : 0), f.e.b.getInt32(3), f.e.b.getInt32(1)});
}

}  // namespace strew
