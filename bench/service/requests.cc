// What it costs to ask for a kernel that exists, and for one that does not: `./dev bench service`.
//
//   site/prepared, site/tensors/N   a call through a Site, over Kernel::run; N shapes alternate
//   lookup/find, lookup/lend        a kernel by the key of its request; /threads:T: T threads ask at the same time
//   get/prepared, get/op            Runtime::get for a kernel that exists
//   prepare                         PreparedOp::of for an op that was just built
//   first_compile                   the first kernel of a process: opens LLVM, compiles, links
//   cold_compile/...                a kernel for a shape never seen before: CPU time of all threads
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "bench/service/service.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/site.h"

namespace strew::bench {
namespace {

using namespace types;

/// What one call of add_rows(count) works on: `count` rows of four elements, added to a table of 128 rows.
struct Rows {
  explicit Rows(int64_t count)
      : index_dims{count},
        update_dims{count, 4},
        indices(static_cast<size_t>(count), 3),
        updates(static_cast<size_t>(4 * count)) {
    views = {TensorView(table.data(), table_dims), TensorView(indices.data(), index_dims),
             TensorView(updates.data(), update_dims)};
  }
  std::vector<int64_t> table_dims{128, 4}, index_dims, update_dims;
  std::vector<float> table = std::vector<float>(512);
  std::vector<int32_t> indices;
  std::vector<float> updates;
  std::vector<TensorView> views;
};

Expected<Scatter> add_rows(int64_t count) {
  return scatter_rows(f32({128, 4}), i32({count}), f32({count, 4})).combine(CombinerKind::add).in_place().build();
}

void label(benchmark::State& state, double value, double target, const std::string& unit) {
  const std::string text = "<= " + std::to_string(static_cast<int64_t>(target)) + " " + unit;
  state.SetLabel(text + (value <= target ? " met" : " MISSED"));
}

struct Requests {
  Runtime runtime{exact_options()};
  std::vector<std::unique_ptr<Rows>> rows;
  std::vector<PreparedOp> ops;
  std::vector<Kernel> kernels;

  Status make(int64_t shapes) {
    for (int64_t count = 1; count <= shapes; ++count) {
      rows.push_back(std::make_unique<Rows>(count));
      STREW_ASSIGN(const Scatter op, add_rows(count));
      STREW_ASSIGN(PreparedOp prepared, PreparedOp::of(op));
      STREW_ASSIGN(Kernel kernel, runtime.get(prepared));
      ops.push_back(std::move(prepared));
      kernels.push_back(std::move(kernel));
    }
    return {};
  }
};

void site(benchmark::State& state, int64_t shapes, bool by_tensors) {
  Requests all;
  if (const Status made = all.make(shapes); !made.ok()) return fail(state, made.message());
  Site at(all.runtime);
  const auto turns = [&](auto call) {
    return [&all, call](int64_t count) {
      size_t shape = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (!call(shape).ok()) any_failed() = true;
        shape = shape + 1 == all.rows.size() ? 0 : shape + 1;
      }
    };
  };
  const auto through_site = [&](size_t shape) {
    if (!by_tensors) return at.run(all.ops[shape], all.rows[shape]->views);
    return at.run(all.rows[shape]->views, [&] { return add_rows(static_cast<int64_t>(shape) + 1); });
  };
  const auto plainly = [&](size_t shape) { return all.kernels[shape].run(all.rows[shape]->views); };
  const Medians medians = take_turns(state, {{"site", turns(through_site)}, {"run", turns(plainly)}}, shapes);
  const double over = medians[0] - medians[1];
  state.counters["over_ns"] = over;
  label(state, over, static_cast<size_t>(shapes) <= Site::kWays ? 3 : 40, "ns over run");
}

/// Every thread looks for all kernels in turn; nanoseconds per look-up of one thread.
void look_up(benchmark::State& state, bool lends, int threads) {
  Requests all;
  if (const Status made = all.make(16); !made.ok()) return fail(state, made.message());
  const auto some = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const KernelKey& key = all.ops[static_cast<size_t>(i) % all.ops.size()].key();
      if (lends) {
        const LentKernel lent = all.runtime.lend(key);
        if (!lent) any_failed() = true;
      } else if (!all.runtime.find(key)) {
        any_failed() = true;
      }
    }
  };
  if (threads == 1) {
    const Medians medians = take_turns(state, {{"lookup", some}}, 16);
    return label(state, medians[0], 25, "ns");
  }
  const auto on_all = [&](int64_t count) {
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(some, count);
    some(count);
    for (std::thread& other : others) other.join();
  };
  Turn turn;
  turn.batch_nanoseconds = 20e6;  // starting threads is lost in it
  state.counters["lookup_ns"] = time_in_turns(state, {{"lookup", on_all}}, 16, turn).medians()[0];
}

void get(benchmark::State& state, bool prepared) {
  Requests all;
  if (const Status made = all.make(1); !made.ok()) return fail(state, made.message());
  const Op op = *add_rows(1);
  const auto request = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) benchmark::DoNotOptimize(prepared ? *all.runtime.get(all.ops[0]) : *all.runtime.get(op));
  };
  const Medians medians = take_turns(state, {{"get", request}}, 64);
  if (prepared) label(state, medians[0], 60, "ns");
}

void prepare(benchmark::State& state) {
  const auto way = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Expected<Scatter> op = add_rows(1 + i % 64);
      benchmark::DoNotOptimize(PreparedOp::of(*std::move(op)));
    }
  };
  const auto build_only = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) benchmark::DoNotOptimize(add_rows(1 + i % 64));
  };
  const Medians medians = take_turns(state, {{"build_and_prepare", way}, {"build", build_only}}, 64);
  label(state, medians[0] - medians[1], 1000, "ns over building the op");
}

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// A row scatter-add whose width makes it new.
Expected<Scatter> fresh(bool threaded) {
  static int64_t width = 16;
  ++width;
  if (!threaded) return scatter_rows(f32({64, width}), i32({8}), f32({8, width})).combine(CombinerKind::add).in_place().build();
  return scatter_rows(f32({100000, width}), i32({50000}), f32({50000, width})).combine(CombinerKind::add).in_place().build();
}

void compile(benchmark::State& state, bool first, bool threaded) {
  Runtime runtime(exact_options());
  KernelOptions options;
  options.threads = threaded ? 8 : 1;
  if (!first && !runtime.get(*fresh(threaded), options).ok()) return fail(state, "the first kernel does not build");
  std::vector<double> cpu, wall;
  for (auto _ : state) {
    const PreparedOp op = *PreparedOp::of(*fresh(threaded), options);
    const double before = cpu_milliseconds();
    const auto start = std::chrono::steady_clock::now();
    const Expected<Kernel> kernel = runtime.get(op);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    cpu.push_back(cpu_milliseconds() - before);
    wall.push_back(took.count() * 1e3);
    if (!kernel.ok()) return fail(state, kernel.status().message());
    if (kernel->entry(STREW_ENTRY_range) == nullptr) return fail(state, "no machine code was built");
    state.SetIterationTime(took.count());
  }
  state.counters["cpu_ms"] = median(cpu);
  state.counters["wall_ms"] = median(wall);
  if (first) return label(state, median(wall), 60, "ms");
  label(state, median(cpu), threaded ? 8 : 5, "ms CPU");
}

}  // namespace

void add_request_benchmarks() {
  const auto add = [](const std::string& name, int iterations, auto body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Iterations(iterations)->Unit(benchmark::kMicrosecond);
  };
  add("first_compile", 1, [](benchmark::State& state) { compile(state, true, false); });
  add("cold_compile/one_thread", 31, [](benchmark::State& state) { compile(state, false, false); });
  add("cold_compile/all_entries", 31, [](benchmark::State& state) { compile(state, false, true); });
  for (const int64_t shapes : {1, 4, 8}) {
    add("site/prepared/" + std::to_string(shapes), 101, [shapes](benchmark::State& state) { site(state, shapes, false); });
    add("site/tensors/" + std::to_string(shapes), 101, [shapes](benchmark::State& state) { site(state, shapes, true); });
  }
  for (const int64_t shapes : {9, 64})
    add("site/tensors/" + std::to_string(shapes), 101, [shapes](benchmark::State& state) { site(state, shapes, true); });
  for (const bool lends : {false, true}) {
    const std::string name = lends ? "lookup/lend" : "lookup/find";
    add(name, 101, [lends](benchmark::State& state) { look_up(state, lends, 1); });
    for (const int threads : {2, 8, 16})
      add(name + "/threads:" + std::to_string(threads), 11,
          [lends, threads](benchmark::State& state) { look_up(state, lends, threads); });
  }
  add("get/prepared", 101, [](benchmark::State& state) { get(state, true); });
  add("get/op", 101, [](benchmark::State& state) { get(state, false); });
  add("prepare", 101, [](benchmark::State& state) { prepare(state); });
}

}  // namespace strew::bench
