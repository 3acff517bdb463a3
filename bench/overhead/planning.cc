// What it costs to choose a schedule (choose_schedule, schedules/candidates.cc) once the plan is there: every candidate is predicted. Part of
// each compilation, and of nothing else.
#include <array>
#include <string>
#include <string_view>

#include "bench/measure.h"
#include "bench/overhead/calls.h"
#include "compiler/plan/plan.h"
#include "compiler/rewrite/rewrites.h"
#include "schedules/schedule.h"
#include "schedules/target.h"
#include "strew/text.h"

namespace strew::bench {
namespace {

struct Case {
  std::string_view name, op;
};
constexpr std::array kCases = {
    Case{"gather_rows",
         "strew1.gather(operand=f32[100000,64] indices=i32[8192] result=f32[8192,64] offset_dims=[1] collapsed_slice_dims=[0] "
         "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64])"},
    Case{"add_rows",
         "strew1.scatter(operand=f32[100000,64] indices=i32[8192] updates=f32[8192,64] update_window_dims=[1] "
         "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"},
    Case{"add_open_rows",
         "strew1.scatter(operand=f32[?,64] indices=i32[?] updates=f32[?,64] update_window_dims=[1] inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"},
    Case{"count_elements",
         "strew1.scatter(operand=i32[65536] indices=i32[4194304] updates=i32[4194304] inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"},
    Case{"append_to_cache",
         "strew1.scatter(operand=bf16[8,4096,8,128] indices=i32[8,1] updates=bf16[8,1,8,128] update_window_dims=[1,2,3] "
         "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=1)"},
};

void run(benchmark::State& state, const Case& each) {
  const auto op = parse_op(each.op);
  if (!op.ok()) return fail(state, op.status().message());
  const auto verified = VerifiedOp::of(*op);
  if (!verified.ok()) return fail(state, verified.status().message());
  const auto canonical = canonicalise(*verified);
  if (!canonical.ok()) return fail(state, canonical.status().message());
  const Plan plan = make_plan(canonical->op);
  Target target = process_target();
  target.cores = 8;
  const auto choose = [&](int64_t times) {
    for (int64_t i = 0; i < times; ++i) benchmark::DoNotOptimize(choose_schedule(plan, target, 0));
  };
  const Medians medians = take_turns(state, {{"planning", choose}}, 4);
  state.counters["candidates"] = static_cast<double>(default_candidates(plan, target, target.cores).size());
  state.SetLabel(medians[0] <= 20'000 ? "<= 20 us met" : "<= 20 us MISSED");
}

}  // namespace

void add_planning_benchmarks() {
  for (const Case& each : kCases)
    benchmark::RegisterBenchmark(("planning/" + std::string(each.name)).c_str(),
                                 [each](benchmark::State& state) { run(state, each); })
        ->UseManualTime()
        ->Iterations(101)
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace strew::bench
