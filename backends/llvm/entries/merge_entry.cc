// The entry merge, for strategy private: combines elements [begin, end) of private tables into the same elements of the results.
//
// The table of result i starts at args.scratch + i * args.k0; tables and results are contiguous. An element of a float table that still holds
// the bits of the combiner's identity was not updated, so the result's element is kept: combining it would turn a signalling NaN there into a
// quiet one. Integers need no such care. Tested by tests/differential and tests/unit/runtime/call/strategies/private_test.cc.
#include <cstddef>

#include "backends/llvm/compute/body.h"
#include "backends/llvm/entries/entries.h"
#include "strew/abi.h"

namespace strew::inline v0 {

void emit_merge(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  llvm::Value* tables = f.pointer_argument(offsetof(strew_args, scratch));
  llvm::Value* apart = f.argument(offsetof(strew_args, k0));
  for (size_t i = 0; i < f.kernel.merge.size(); ++i) {
    const lowered::Body& body = f.kernel.merge[i];
    const auto result = static_cast<size_t>(body.results[0]), table = static_cast<size_t>(pointer_of(f.plan, body.updates[0]));
    Pointers p = f.bases();
    p[table] = f.e.at(tables, f.e.times(apart, f.e.i64(static_cast<int64_t>(i))));
    Loop all;
    all.strides.assign(p.size(), constant(0));
    all.strides[result] = all.strides[table] = constant(1);
    emit_lane_loop(f, body, p, &all, f.begin(), f.end());
  }
  f.finish();
}

}  // namespace strew::inline v0
