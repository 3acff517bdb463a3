// See prefetch.h. At most kMostLines lines are prefetched: the hardware's own prefetcher fetches what follows them.
// Tested by tests/differential; its speed by bench/suite.
#include "backends/llvm/address/prefetch.h"

#include <algorithm>
#include <cstddef>

#include "strew/abi.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kFetchedLine = 64;
constexpr int64_t kMostLines = 8;

/// The bytes of the run if its length is constant, else one line.
int64_t run_bytes(const Frame& f, int tensor) {
  if (f.plan.window.empty() || !f.plan.window.back().extent.is_static()) return kFetchedLine;
  return f.plan.window.back().extent.factor * f.element_bytes(tensor);
}

}  // namespace

void prefetch_run(Frame& f, int tensor, llvm::Value* address, bool write, bool is_cut) {
  const int64_t lines = std::min(kMostLines, (run_bytes(f, tensor) + kFetchedLine - 1) / kFetchedLine);
  llvm::Value *first = f.e.i64(0), *last = nullptr;
  if (is_cut && !f.plan.window.empty()) {
    // Only the lines of this thread's part of the window: other threads write the others, and a prefetch would take those away from them.
    llvm::Value* step = f.bytes(f.plan.window.front().strides[static_cast<size_t>(tensor)], tensor);
    first = f.e.times(f.argument(offsetof(strew_args, w0)), step);
    if (f.plan.window.size() == 1) last = f.e.b.CreateSub(f.e.times(f.argument(offsetof(strew_args, w1)), step), f.e.i64(1));
  }
  for (int64_t line = 0; line < lines; ++line) {
    llvm::Value* offset = f.e.add(first, f.e.i64(line * kFetchedLine));
    if (last != nullptr) offset = f.e.smin(offset, last);
    f.e.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {f.e.b.getPtrTy()},
                          {f.e.at(address, offset), f.e.b.getInt32(write ? 1 : 0), f.e.b.getInt32(3), f.e.b.getInt32(1)});
  }
}

}  // namespace strew::inline v0
