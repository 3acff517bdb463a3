// The entry merge, for strategy private: combines elements [begin, end) of private tables into the same elements of the results.
//
// The table of result i starts at args.scratch + i * args.k0; tables and results are contiguous. An element of a float table that still holds
// the bits of the combiner's identity was not updated, so the result's element is kept: combining it would turn a signalling NaN there into a
// quiet one. Integers need no such care. Tested by tests/differential and tests/unit/runtime/call/strategies/private_test.cc.
#include <cstddef>

#include "backends/llvm/compute/body.h"
#include "backends/llvm/entries/entries.h"
#include "schedules/strategies/private_tables.h"
#include "strew/abi.h"

namespace strew::inline v0 {

void emit_merge(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  const Plan& plan = f.plan;
  llvm::Value* tables = f.pointer_argument(offsetof(strew_args, scratch));
  llvm::Value* apart = f.argument(offsetof(strew_args, k0));
  for (int i = 0; i < plan.pairs; ++i) {
    const auto result = static_cast<size_t>(plan.result(i)), update = static_cast<size_t>(plan.update(i));
    const Expr graph = merge_graph(plan, i, i);
    Body body;
    body.expr = &graph;
    body.results = {plan.result(i)};
    for (int j = 0; j < plan.pairs; ++j) {
      body.currents.push_back(plan.result(j));
      body.updates.push_back(plan.update(j));
    }
    Pointers p = f.bases();
    p[update] = f.e.at(tables, f.e.times(apart, f.e.i64(i)));
    Loop all;
    all.strides.assign(p.size(), constant(0));
    all.strides[result] = all.strides[update] = constant(1);
    emit_run(f, body, p, &all, f.begin(), f.end());
  }
  f.finish();
}

}  // namespace strew::inline v0
