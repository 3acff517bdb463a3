// What unknown kernels cost a program that does not want to wait for them, and extents that keep changing: `./dev bench service`.
//
//   tiers/first_answer       Runtime::get for an op never seen before, with CompileMode::background, until there is a kernel to call
//   tiers/first_of_process   the same for the first kernel of a process, in child processes: no code generator has been opened
//   tiers/swap               how much longer than the portable kernel's calls the first call of the compiled kernel takes, and the call before it
//   shapes/lengths           10,000 lengths of one op: kernels that are built, and microseconds per new length
//   shapes/CASE              a kernel that takes extents from the call, over the kernel of exactly these extents
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "bench/service/service.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/tensor.h"

namespace strew::bench {
namespace {

using namespace types;
using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

Options options_of(CompileMode mode, int exact_shapes) {
  Options options = Options::from_environment();
  options.compile = mode;
  options.exact_shapes = exact_shapes;
  return options;
}

Expected<Op> add_rows(int64_t rows, int64_t count, int64_t width) {
  STREW_ASSIGN(const Scatter op,
               scatter_rows(f32({rows, width}), i32({count}), f32({count, width})).combine(CombinerKind::add).in_place().build());
  return Op(op);
}
Expected<Op> get_rows(int64_t rows, int64_t count, int64_t width) {
  STREW_ASSIGN(const Gather op, gather_rows(f32({rows, width}), i32({count})).build());
  return Op(op);
}
/// Tokens of a prompt of varying length, written into a cache.
Expected<Op> append_prompt(int64_t /*unused*/, int64_t tokens, int64_t /*unused*/) {
  STREW_ASSIGN(
      const Scatter op,
      tensor_scatter(bf16({1, 8, 2048, 128}), i64({1}), bf16({1, 8, tokens, 128})).in_place().oob(OobPolicy::error).build());
  return Op(op);
}

/// Tensors for an op whose indices may be anything below `bound`.
struct Data {
  Data(const Op& op, int64_t bound) {
    uint64_t state = 1;
    for (const TensorSlot& slot : tensor_slots(op)) {
      Expected<Tensor> made = make_tensor(slot.type->dtype, slot.type->dims);
      if (!made.ok()) return;
      for (int64_t i = 0; slot.role == Role::indices && i < made->elements(); ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const uint64_t index = (state >> 33) % static_cast<uint64_t>(bound);
        const auto bytes = static_cast<size_t>(bits(slot.type->dtype) / 8);
        std::memcpy(made->data.data() + static_cast<size_t>(i) * bytes, &index, bytes);
      }
      tensors.push_back(*std::move(made));
    }
    for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  }
  std::vector<Tensor> tensors;
  std::vector<TensorView> views;
};

void label(benchmark::State& state, bool met, const std::string& target) { state.SetLabel(target + (met ? " met" : " MISSED")); }

void wait_for_successor(const Kernel& kernel) {
  while (kernel.is_stand_in()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void first_answer(benchmark::State& state) {
  Runtime runtime(options_of(CompileMode::background, 0));
  std::vector<double> times;
  int64_t count = 1;
  for (auto _ : state) {
    const Expected<Op> op = add_rows(1000, ++count, 64);
    const auto start = Clock::now();
    const Expected<Kernel> kernel = runtime.get(*op);
    times.push_back(nanoseconds_since(start));
    if (!kernel.ok()) return fail(state, kernel.status().message());
    state.SetIterationTime(times.back() * 1e-9);
    wait_for_successor(*kernel);
  }
  const double most = 50e3;
  state.counters["p90_us"] = quantile(times, 0.9) / 1000;
  label(state, median(times) <= most, "<= 50 us");
}

bool maps_llvm() {
  std::ifstream maps("/proc/self/maps");
  const std::string all(std::istreambuf_iterator<char>(maps), {});
  return all.find("libLLVM") != std::string::npos;
}

/// In a child process, which has not used strew before: nanoseconds of the first answer, and whether LLVM was open by then.
std::array<double, 2> first_in_child() {
  std::array<double, 2> out{-1, 0};
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return out;
  const pid_t child = fork();
  if (child == 0) {
    Runtime runtime(options_of(CompileMode::background, 0));
    const Expected<Op> op = add_rows(1000, 17, 64);
    const auto start = Clock::now();
    const Expected<Kernel> kernel = runtime.get(*op);
    out[0] = kernel.ok() && kernel->is_stand_in() ? nanoseconds_since(start) : -1;
    out[1] = maps_llvm() ? 1 : 0;
    if (write(ends[1], out.data(), sizeof out) != sizeof out) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  if (read(ends[0], out.data(), sizeof out) != sizeof out) out[0] = -1;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return out;
}

void first_of_process(benchmark::State& state) {
  std::vector<double> times;
  double opened = 0;
  for (auto _ : state) {
    const auto [nanoseconds, llvm] = first_in_child();
    if (nanoseconds < 0) return fail(state, "a child had no first answer");
    times.push_back(nanoseconds);
    opened += llvm;
    state.SetIterationTime(nanoseconds * 1e-9);
  }
  state.counters["median_us"] = median(times) / 1000;
  state.counters["llvm_was_open"] = opened;  // by the thread that compiles
}

void swap(benchmark::State& state) {
  Runtime runtime(options_of(CompileMode::background, 0));
  std::vector<double> first, last;
  int64_t count = 100;
  for (auto _ : state) {
    const Expected<Op> op = add_rows(1000, ++count, 64);
    const Expected<Kernel> kernel = runtime.get(*op);
    if (!kernel.ok()) return fail(state, kernel.status().message());
    const Data data(*op, 1000);
    std::vector<double> portable;
    double compiled = 0;
    for (bool is_portable = true; is_portable;) {
      is_portable = kernel->is_stand_in();
      const auto start = Clock::now();
      if (!kernel->run(data.views).ok()) return fail(state, "a call failed");
      (is_portable ? portable.emplace_back() : compiled) = nanoseconds_since(start);
    }
    if (portable.size() < 2) continue;
    const double usual = median(portable);
    first.push_back(compiled - usual);
    last.push_back(portable.back() - usual);
    state.SetIterationTime(compiled * 1e-9);
  }
  state.counters["first_compiled_over_ns"] = median(first);
  state.counters["last_portable_over_ns"] = median(last);
  label(state, median(first) <= 1000 && median(last) <= 1000, "<= 1 us over a portable call");
}

void lengths(benchmark::State& state) {
  constexpr int64_t kLengths = 10'000;
  for (auto _ : state) {
    Runtime runtime(options_of(CompileMode::blocking, 2));
    std::vector<double> times;
    for (int64_t length = 1; length <= kLengths; ++length) {
      const Expected<Op> op = add_rows(1000, length, 64);
      const auto start = Clock::now();
      if (!runtime.get(*op).ok()) return fail(state, "a request failed");
      times.push_back(nanoseconds_since(start));
    }
    const Runtime::Stats stats = runtime.stats();
    state.counters["built"] = static_cast<double>(stats.built);
    state.counters["kib_per_length"] = static_cast<double>(stats.bytes) / 1024 / kLengths;
    state.counters["us_per_length"] = median(times) / 1000;
    label(state, stats.built <= 3, "<= 3 kernels");
  }
}

using MakeOp = Expected<Op> (*)(int64_t rows, int64_t count, int64_t width);
struct Shape {
  int64_t rows, count, width;
};

/// The shared kernel was built for requests that differ from `shape` in what `step` is not 0 for.
void shapes(benchmark::State& state, MakeOp make, Shape shape, Shape step, int64_t bound, double most) {
  Runtime shared(options_of(CompileMode::blocking, 2)), exact(options_of(CompileMode::blocking, 0));
  KernelOptions one_thread;
  one_thread.threads = 1;
  const Expected<Op> op = make(shape.rows, shape.count, shape.width);
  for (int64_t i = 1; i <= 3; ++i)
    static_cast<void>(
        shared.get(*make(shape.rows + i * step.rows, shape.count + i * step.count, shape.width + i * step.width), one_thread));
  const Expected<Kernel> general = shared.get(*op, one_thread), own = exact.get(*op, one_thread);
  if (!general.ok() || !own.ok() || shared.stats().generalised == 0) return fail(state, "the kernel is not shared");
  const Data data(*op, bound), other(*op, bound);
  if (!general->run(data.views).ok() || !own->run(other.views).ok()) return fail(state, "a call failed");
  if (std::memcmp(data.tensors[0].data.data(), other.tensors[0].data.data(), static_cast<size_t>(data.tensors[0].data.size())) !=
      0)
    return fail(state, "the results differ");
  const auto calls_of = [&](const Kernel& kernel) {
    return [&kernel, &data](int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        if (!kernel.run(data.views).ok()) any_failed() = true;
    };
  };
  const Turns turns = time_in_turns(state, {{"general", calls_of(*general)}, {"exact", calls_of(*own)}}, 1, {});
  const Medians medians = turns.medians();
  state.counters["general_ns"] = medians[0];
  state.counters["exact_ns"] = medians[1];
  state.counters["ratio"] = turns.ratio(0, 1);
  label(state, turns.ratio(0, 1) <= most, "<= " + std::to_string(most).substr(0, 4) + " x exact");
}

void add_shapes(const std::string& name, MakeOp make, Shape shape, Shape step, int64_t bound, double most) {
  benchmark::RegisterBenchmark(("shapes/" + name).c_str(),
                               [=](benchmark::State& state) { shapes(state, make, shape, step, bound, most); })
      ->UseManualTime()
      ->Iterations(101)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void add_first_of_process_benchmark() {
  benchmark::RegisterBenchmark("tiers/first_of_process", first_of_process)
      ->UseManualTime()
      ->Iterations(21)
      ->Unit(benchmark::kMicrosecond);
}

void add_tier_benchmarks() {
  const auto add = [](const char* name, void (*run)(benchmark::State&), int64_t iterations) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Iterations(iterations)->Unit(benchmark::kMicrosecond);
  };
  add("tiers/first_answer", first_answer, 101);
  add("tiers/swap", swap, 51);
  benchmark::RegisterBenchmark("shapes/lengths", lengths)->Iterations(1)->Unit(benchmark::kMillisecond);
  const double counts = 1.1, windows = 1.25;
  for (const int64_t count : {1, 32, 2000}) {
    const std::string text = std::to_string(count);
    add_shapes("add_count/" + text, add_rows, {1000, count, 64}, {0, 1, 0}, 1000, counts);
    add_shapes("get_count/" + text, get_rows, {1000, count, 64}, {0, 1, 0}, 1000, counts);
  }
  for (const int64_t rows : {100, 100'000}) {
    const std::string text = std::to_string(rows);
    add_shapes("add_table/" + text, add_rows, {rows, 500, 64}, {1, 0, 0}, rows, counts);
    add_shapes("get_table/" + text, get_rows, {rows, 500, 64}, {1, 0, 0}, rows, counts);
  }
  for (const int64_t width : {8, 64, 100, 256, 1024}) {
    const std::string text = std::to_string(width);
    add_shapes("add_width/" + text, add_rows, {1000, 500, width}, {0, 0, 1}, 1000, windows);
    add_shapes("get_width/" + text, get_rows, {1000, 500, width}, {0, 0, 1}, 1000, windows);
  }
  for (const int64_t tokens : {1, 17, 500})
    add_shapes("prompt/" + std::to_string(tokens), append_prompt, {0, tokens, 0}, {0, 1, 0}, 1000, windows);
}

}  // namespace strew::bench
