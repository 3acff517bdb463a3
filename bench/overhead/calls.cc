// What a call costs besides its kernel's work: kernels with symbols against static ones, on the same tensors in the same order. The work is
// a few elements, so that most of each time is binding; what symbols cost is the difference.
#include "bench/overhead/calls.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew::bench {
namespace {

constexpr int64_t kRows = 128, kWidth = 4;

std::string op_text(const std::string& rows, const std::string& batch, const std::string& width) {
  return "strew1.scatter(operand=f32[" + rows + "," + width + "] indices=i32[" + batch + "] updates=f32[" + batch + "," + width +
         "] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add "
         "init=in_place oob=skip_window)";
}

/// Tensors of one shape, for one thread: one row of four elements is added to a table, whose height tells shapes apart.
struct Batch {
  std::vector<float> table = std::vector<float>(kRows * kWidth), updates = std::vector<float>(kWidth);
  std::vector<int32_t> indices = {3};
  std::vector<int64_t> table_dims, index_dims = {1}, update_dims;
  std::vector<TensorView> views;

  explicit Batch(int64_t rows) : table_dims{rows, kWidth}, update_dims{1, kWidth} {
    views = {{table.data(), DType::f32, 2, table_dims.data(), nullptr},
             {indices.data(), DType::i32, 1, index_dims.data(), nullptr},
             {updates.data(), DType::f32, 2, update_dims.data(), nullptr}};
  }
};

/// Shapes, kernels with symbols and static ones that take turns: call i is of shape i, symbolic kernel i and static kernel i, each modulo
/// how many there are. As many static kernels as the longer of the other two lists, so that both ways meet equally much cold code.
struct Calls {
  Runtime runtime;
  std::vector<std::unique_ptr<Batch>> batches;
  std::vector<Kernel> fixed, symbolic;

  /// One kernel per `number`: they differ in a knob that these calls never feel.
  Expected<Kernel> get(const std::string& text, int64_t number) {
    STREW_ASSIGN(const Op op, parse_op(text));
    KernelOptions options;
    options.schedule.prefetch = static_cast<int>(number);
    return runtime.get(op, options);
  }

  /// Builds everything, and checks what each kernel's first call adds.
  Status make(int64_t sizes, int64_t kernels) {
    for (int64_t i = 0; i < sizes; ++i) batches.push_back(std::make_unique<Batch>(kRows - i));
    for (int64_t i = 0; i < kernels; ++i) {
      STREW_ASSIGN(Kernel kernel, get(op_text("?", "?", "?"), i));
      symbolic.push_back(std::move(kernel));
    }
    for (int64_t i = 0; i < std::max(sizes, kernels); ++i) {
      STREW_ASSIGN(Kernel kernel, get(op_text(std::to_string(kRows - i % sizes), "1", std::to_string(kWidth)), i));
      fixed.push_back(std::move(kernel));
    }
    for (const std::vector<Kernel>* list : {&symbolic, &fixed})
      for (size_t i = 0; i < list->size(); ++i) STREW_TRY(check((*list)[i], *batches[i % batches.size()]));
    return {};
  }

  static Status check(const Kernel& kernel, Batch& batch) {
    std::fill(batch.updates.begin(), batch.updates.end(), 1.0F);
    const std::vector<float> before = batch.table;
    STREW_TRY(kernel.run(batch.views));
    for (size_t i = 0; i < before.size(); ++i) {
      const float added = i / kWidth == static_cast<size_t>(batch.indices[0]) ? 1.0F : 0.0F;
      if (batch.table[i] != before[i] + added)
        return internal_error("a call added something else at element " + std::to_string(i));
    }
    return {};
  }
};

void run(benchmark::State& state, int64_t sizes, int64_t kernels) {
  Calls calls;
  if (const Status made = calls.make(sizes, kernels); !made.ok()) return fail(state, made.message());
  const auto turn = [&](const std::vector<Kernel>& list) {
    return [&calls, &list](int64_t count) {
      size_t size = 0, kernel = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (!list[kernel].run(calls.batches[size]->views).ok()) any_failed() = true;
        size = size + 1 == calls.batches.size() ? 0 : size + 1;
        kernel = kernel + 1 == list.size() ? 0 : kernel + 1;
      }
    };
  };
  const Medians medians =
      take_turns(state, {{"symbols", turn(calls.symbolic)}, {"static", turn(calls.fixed)}}, std::max(sizes, kernels));
  const double over = medians[0] - medians[1];
  state.counters["over_ns"] = over;
  state.SetLabel(over <= 40 ? "over <= 40 ns met" : "over <= 40 ns MISSED");
}

/// Threads that share one kernel, each with a shape of its own: time of one thread's call.
void run_threads(benchmark::State& state, int threads) {
  Calls calls;
  if (const Status made = calls.make(threads, 1); !made.ok()) return fail(state, made.message());
  const auto all = [&](int64_t count) {
    const auto work = [&](int me) {
      for (int64_t i = 0; i < count; ++i)
        if (!calls.symbolic[0].run(calls.batches[static_cast<size_t>(me)]->views).ok()) any_failed() = true;
    };
    std::vector<std::thread> others;
    for (int me = 1; me < threads; ++me) others.emplace_back(work, me);
    work(0);
    for (std::thread& other : others) other.join();
  };
  Turn turn;
  turn.batch_nanoseconds = 20e6;  // starting threads is lost in it
  state.counters["call_ns"] = time_in_turns(state, {{"call", all}}, 1, turn).medians()[0];
}

}  // namespace

void add_call_benchmarks() {
  const auto add = [](const std::string& name, int iterations, auto body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Iterations(iterations)->Unit(benchmark::kMicrosecond);
  };
  for (const int sizes : {1, 2, 8, 64})
    add("call/sizes:" + std::to_string(sizes), 101, [sizes](benchmark::State& state) { run(state, sizes, 1); });
  for (const int kernels : {1, 8, 64})
    add("call/kernels:" + std::to_string(kernels), 101, [kernels](benchmark::State& state) { run(state, 8, kernels); });
  for (const int threads : {1, 2, 8})
    add("call/threads:" + std::to_string(threads), 11, [threads](benchmark::State& state) { run_threads(state, threads); });
}

}  // namespace strew::bench
