// What it costs a call to choose its strategy (choose_strategy, runtime/call/strategies/strategy.h), for the kernels that have most to choose
// from. Only calls that are worth more than one thread choose, so that nothing is said of smaller ones.
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/overhead/calls.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/strategies/strategy.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew::bench {
namespace {

constexpr int kThreads = 8;
constexpr int64_t kTable = int64_t{1} << 20, kUpdates = 200'000;

/// Elements are added to a table, whose kernel carries the strategies owner and radix; for integers, that of private tables, too.
std::string counts(const std::string& dtype) {
  return "strew1.scatter(operand=" + dtype + "[?] indices=i32[?] updates=" + dtype +
         "[?] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=clamp)";
}

Expected<Kernel> get(Runtime& runtime, const std::string& text) {
  STREW_ASSIGN(const Op op, parse_op(text));
  KernelOptions options;
  options.threads = kThreads;
  return runtime.get(op, options);
}

void run(benchmark::State& state, const std::string& dtype) {
  Runtime runtime;
  const Expected<Kernel> kernel = get(runtime, counts(dtype));
  if (!kernel.ok()) return fail(state, kernel.status().message());
  const auto pool = std::make_shared<ThreadPool>(kThreads);
  const auto callable = Callable::make(kernel->descriptor(), pool, kThreads);
  if (!callable.ok()) return fail(state, callable.status().message());
  std::vector<int32_t> table(kTable), updates(kUpdates), indices(kUpdates);
  const DType type = dtype == "i32" ? DType::i32 : DType::f32;
  const std::vector<TensorView> views = {
      {table.data(), type, 1, &kTable}, {indices.data(), DType::i32, 1, &kUpdates}, {updates.data(), type, 1, &kUpdates}};
  Call call;
  if (const Status bound = (*callable)->binder.bind(views, call); !bound.ok()) return fail(state, bound.message());
  (*callable)->use(call, {});
  const strew_args args = arguments_of(call, (*callable)->program);
  ApplyCall apply = apply_call(**callable, call, views, args);
  apply.threads = kThreads;
  const int carried = std::popcount(kernel->descriptor().strategies);
  if (carried < 3) return fail(state, "the kernel has nothing to choose from");
  const auto choose = [&](int64_t times) {
    for (int64_t i = 0; i < times; ++i) {
      const ApplyCall* asked = &apply;
      benchmark::DoNotOptimize(asked);
      benchmark::DoNotOptimize(choose_strategy(*asked));
    }
  };
  const Medians medians = take_turns(state, {{"choice", choose}}, 64);
  state.counters["strategies"] = carried;
  state.SetLabel(medians[0] <= 10 ? "<= 10 ns met" : "<= 10 ns MISSED");
}

}  // namespace

void add_choice_benchmarks() {
  for (const char* dtype : {"f32", "i32"})
    benchmark::RegisterBenchmark((std::string("choice/") + dtype).c_str(),
                                 [dtype](benchmark::State& state) { run(state, dtype); })
        ->UseManualTime()
        ->Iterations(101)
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace strew::bench
