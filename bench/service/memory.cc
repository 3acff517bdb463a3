// What live kernels cost, and what is left of them when they are dropped: `./dev bench service --benchmark_filter=memory`.
//
//   memory/link     one object of `strew compile`, linked 10,000 times: the linker and the memory of generated code alone
//   memory/kernels  1,000 kernels of a Runtime, of as many shapes: with plans, texts and tables
//
// Counters: kib_per_kernel (resident memory), heap_kib_per_kernel (the part of it that malloc() gave out), mappings_more (lines of
// /proc/self/maps), left_percent (how much more is resident, after the drop, than before), left_trimmed_percent (the same after malloc_trim()),
// link_us (median time of a link), drop_us (mean time of dropping one).
#include "bench/service/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "backends/link.h"
#include "bench/measure.h"
#include "bench/service/service.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double resident_kib() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / 1024;
}

/// What malloc() has given out.
double heap_kib() { return static_cast<double>(mallinfo2().uordblks) / 1024; }

double mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<double>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

/// The resident memory and the mappings around `count` things that are made and dropped.
struct Cost {
  double resident_before = resident_kib(), mappings_before = mappings();
  double heap_before = heap_kib();
  double resident_live = 0, mappings_live = 0, heap_live = 0;

  void live() {
    heap_live = heap_kib();
    resident_live = resident_kib();
    mappings_live = mappings();
  }
  void report(benchmark::State& state, int64_t count, double most_kib, double most_mappings) const {
    const double each = (resident_live - resident_before) / static_cast<double>(count);
    const double left = (resident_kib() / resident_before - 1) * 100, more = mappings_live - mappings_before;
    state.counters["kib_per_kernel"] = each;
    state.counters["mappings_more"] = more;
    state.counters["left_percent"] = left;
    state.counters["heap_kib_per_kernel"] = (heap_live - heap_before) / static_cast<double>(count);
    malloc_trim(0);
    const double kept = (resident_kib() / resident_before - 1) * 100;
    state.counters["left_trimmed_percent"] = kept;
    state.SetLabel("<= " + std::to_string(static_cast<int>(most_kib)) +
                   " KiB, <= " + std::to_string(static_cast<int>(most_mappings)) + " mappings, <= 5 % left after malloc_trim()" +
                   (each <= most_kib && more <= most_mappings && kept <= 5 ? " met" : " MISSED"));
  }
};

/// The bytes of an object with a row scatter-add, and its one exported symbol.
struct Object {
  std::string bytes, symbol;
};

Object compile_object() {
  char folder[] = "/tmp/strew_bench_XXXXXX";
  if (mkdtemp(folder) == nullptr) return {};
  const std::string op = std::string(folder) + "/add.strew", object = std::string(folder) + "/add.o";
  std::ofstream(op) << "strew1.scatter(operand=f32[?,16] indices=i32[?,1] updates=f32[?,16] update_window_dims=[1] "
                       "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add "
                       "init=in_place oob=error)\n";
  Object made;
  const std::string command = std::string(STREW_PROGRAM) + " compile --emit obj -o " + object + " " + op + " >/dev/null";
  if (std::system(command.c_str()) == 0) {
    std::ifstream file(object, std::ios::binary);
    made.bytes.assign(std::istreambuf_iterator<char>(file), {});
    // The exported symbol has no suffix; those of entries do.
    for (size_t at = 0; (at = made.bytes.find("strew_", at)) != std::string::npos; ++at)
      if (made.bytes.size() > at + 38 && made.bytes[at + 38] == '\0') made.symbol = made.bytes.substr(at, 38);
  }
  std::filesystem::remove_all(folder);
  return made;
}

void link_many(benchmark::State& state) {
  constexpr size_t kCount = 10'000;
  const Object object = compile_object();
  if (object.symbol.empty()) return fail(state, "no object");
  std::vector<std::shared_ptr<LinkedObject>> linked(kCount);
  std::vector<double> times(kCount);
  for (int i = 0; i < 100; ++i) static_cast<void>(link_object(object.bytes, object.symbol));  // what the first links take once
  for (auto _ : state) {
    Cost cost;
    for (size_t i = 0; i < kCount; ++i) {
      const auto start = Clock::now();
      auto made = link_object(object.bytes, object.symbol);
      times[i] = microseconds_since(start);
      if (!made.ok()) return fail(state, made.status().message());
      linked[i] = *std::move(made);
    }
    cost.live();
    const auto start = Clock::now();
    for (auto& each : linked) each.reset();
    state.counters["drop_us"] = microseconds_since(start) / kCount;
    state.counters["link_us"] = median(times);
    cost.report(state, kCount, 8, 200);
  }
}

void make_kernels(benchmark::State& state) {
  constexpr int64_t kCount = 1'000;
  Runtime runtime(exact_options());
  const auto op = [](int64_t count) {
    return scatter_rows(types::f32({128, 4}), types::i32({count}), types::f32({count, 4}))
        .combine(CombinerKind::add)
        .in_place()
        .build();
  };
  if (!runtime.get(*op(kCount + 1)).ok()) return fail(state, "the first kernel does not build");
  for (auto _ : state) {
    Cost cost;
    std::vector<Kernel> kernels;
    for (int64_t i = 1; i <= kCount; ++i) {
      Expected<Kernel> kernel = runtime.get(*op(i));
      if (!kernel.ok()) return fail(state, kernel.status().message());
      kernels.push_back(*std::move(kernel));
    }
    cost.live();
    kernels.clear();
    runtime.clear();
    cost.report(state, kCount, 8, 200);
  }
}

}  // namespace

void add_memory_benchmarks() {
  benchmark::RegisterBenchmark("memory/link", link_many)->Iterations(1)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("memory/kernels", make_kernels)->Iterations(1)->Unit(benchmark::kMillisecond);
}

}  // namespace strew::bench
