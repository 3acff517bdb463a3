// What a kernel costs that another process has compiled before: `./dev bench service --benchmark_filter=disk`.
//
//   disk/first_call   a process that calls one kernel once, which is on disk, over an empty C++ process (and, linked_us, over an empty one that is
//                     linked to libstrew). They start in turns; the page cache is warm. Counters: the medians of each in microseconds; the same of the
//                     processors' time, which other work on the machine changes less (over_empty_cpu_us); and the most that the first has in
//                     memory (resident_mib)
//   disk/hit          Runtime::get for an op whose kernel is not in memory but on disk: until it can be called
//   disk/build        the same without a disk cache, for comparison, LLVM being open already
#include "bench/service/disk.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"

extern char** environ;

namespace strew::bench {
namespace {

using namespace types;
using Clock = std::chrono::steady_clock;

void label(benchmark::State& state, const std::string& what, bool is_met) {
  state.SetLabel(what + (is_met ? " met" : " MISSED"));
}

/// A folder for a cache, which goes at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "strew_bench_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a program took, in microseconds: from start to end, and of processors. Negative if it failed.
struct Took {
  double wall = -1, cpu = -1;
};
Took run_program(const std::string& name) {
  const std::string path = std::string(STREW_START_PROGRAMS) + "/" + name;
  char* const arguments[] = {const_cast<char*>(path.c_str()), nullptr};
  const auto start = Clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments, environ) != 0) return {};
  int status = 0;
  rusage used = {};
  if (wait4(child, &status, 0, &used) != child || status != 0) return {};
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return {std::chrono::duration<double, std::micro>(Clock::now() - start).count(),
          microseconds(used.ru_utime) + microseconds(used.ru_stime)};
}

double resident_mib(const std::string& name) {
  std::FILE* const out = popen((std::string(STREW_START_PROGRAMS) + "/" + name + " resident").c_str(), "re");
  double kib = -1024;
  if (out == nullptr || std::fscanf(out, "%lf", &kib) != 1) kib = -1024;
  if (out != nullptr) pclose(out);
  return kib / 1024;
}

void first_call(benchmark::State& state) {
  const Folder folder;
  setenv("STREW_CACHE", folder.path().c_str(), 1);
  const std::vector<std::string> programs = {"start_kernel", "start_empty", "start_linked"};
  for (const std::string& program : programs)
    for (int i = 0; i < 3; ++i)  // the first one compiles
      if (run_program(program).wall < 0) return fail(state, program + " failed");
  std::vector<std::vector<double>> times(programs.size());
  std::vector<double> over, over_linked, over_cpu;
  size_t round = 0;
  for (auto _ : state) {
    std::vector<Took> now(programs.size());
    for (size_t i = 0; i < programs.size(); ++i) {
      const size_t program = (i + round) % programs.size();
      now[program] = run_program(programs[program]);
      times[program].push_back(now[program].wall);
    }
    ++round;
    over.push_back(now[0].wall - now[1].wall);
    over_linked.push_back(now[0].wall - now[2].wall);
    over_cpu.push_back(now[0].cpu - now[1].cpu);
    state.SetIterationTime(now[0].wall * 1e-6);
  }
  const double resident = resident_mib(programs[0]);
  unsetenv("STREW_CACHE");
  state.counters["kernel_us"] = median(times[0]);
  state.counters["empty_us"] = median(times[1]);
  state.counters["linked_us"] = median(times[2]);
  state.counters["over_empty_us"] = median(over);
  state.counters["over_linked_us"] = median(over_linked);
  state.counters["over_empty_cpu_us"] = median(over_cpu);
  state.counters["resident_mib"] = resident;
  label(state, "<= 2000 us over an empty process, <= 20 MiB", median(over) <= 2000 && resident <= 20);
}

Expected<Scatter> add_rows(int64_t width) {
  return scatter_rows(f32({64, width}), i32({8}), f32({8, width})).combine(CombinerKind::add).in_place().build();
}

constexpr int64_t kWidths = 32;

/// Gets kernels that the runtime has forgotten.
void get_forgotten(benchmark::State& state, bool on_disk) {
  const Folder folder;
  Options options;
  if (on_disk) options.cache_dir = folder.path();
  options.exact_shapes = static_cast<int>(kWidths);  // no two widths share a kernel
  Runtime runtime(options);
  std::vector<PreparedOp> ops;
  for (int64_t width = 1; width <= kWidths; ++width) {
    ops.push_back(*PreparedOp::of(*add_rows(width)));
    if (!runtime.get(ops.back()).ok()) return fail(state, "a kernel was not built");
  }
  runtime.clear();
  const Runtime::Stats before = runtime.stats();
  std::vector<double> times;
  for (auto _ : state) {
    const PreparedOp& op = ops[times.size() % ops.size()];
    if (times.size() % ops.size() == 0) runtime.clear();
    const auto start = Clock::now();
    const Expected<Kernel> kernel = runtime.get(op);
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    if (!kernel.ok()) return fail(state, kernel.status().message());
    times.push_back(took.count());
    state.SetIterationTime(took.count() * 1e-6);
  }
  const uint64_t hits = runtime.stats().disk_hits - before.disk_hits;
  if (hits != (on_disk ? times.size() : 0)) return fail(state, "it was not the disk cache that answered");
  state.counters["get_us"] = median(times);
  if (on_disk) label(state, "<= 100 us", median(times) <= 100);
}

}  // namespace

void add_disk_benchmarks() {
  const auto add = [](const std::string& name, int iterations, auto body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Iterations(iterations)->Unit(benchmark::kMicrosecond);
  };
  add("disk/first_call", 101, first_call);
  add("disk/hit", 320, [](benchmark::State& state) { get_forgotten(state, true); });
  add("disk/build", 64, [](benchmark::State& state) { get_forgotten(state, false); });
}

}  // namespace strew::bench
