// What strew costs besides the kernels: `./dev bench overhead`.
//
//   start_help, start_check   exec to exit of `strew --help` and `strew check decode.onnx`, over an empty program's (/bin/true)
//   cold_compile              op to callable kernel for a shape never seen before, after the first one in the process
//   first_compile             the first one, LLVM's loading included (a process of its own would add start_help)
//   call/...                  a call of a kernel with symbols, over that of a static one (calls.cc)
//   choice/...                which of a kernel's strategies is the fastest for a call (choice.cc)
//   planning/...              the schedule of a plan, of all candidates (planning.cc)
//   lookup_key, lookup_op     a kernel that is already built: by its key, and by its op (which is printed and hashed)
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/overhead/calls.h"
#include "strew/forms.h"
#include "strew/runtime.h"

extern char** environ;

namespace strew::bench {
namespace {

/// Runs a program to its end, its output thrown away. Its exit status, or -1.
int run_program(const std::vector<const char*>& arguments) {
  std::vector<char*> argv;
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (spawned != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void start(benchmark::State& state, const std::vector<const char*>& arguments) {
  if (run_program(arguments) != 0) return fail(state, std::string(arguments[0]) + " did not exit 0");
  const auto way = [](std::vector<const char*> command) {
    return [command](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i) {
        if (run_program(command) != 0) any_failed() = true;
      }
    };
  };
  const Medians medians = take_turns(state, {{"program", way(arguments)}, {"empty", way({"/bin/true"})}}, 1);
  const double over = (medians[0] - medians[1]) * 1e-6;
  state.counters["over_ms"] = over;
  state.SetLabel(over <= 4 ? "over <= 4 ms met" : "over <= 4 ms MISSED");
}

/// A decode-like slice update whose row width makes it new.
Expected<Scatter> fresh_op(int64_t width) {
  using namespace types;
  return tensor_scatter(bf16({4, 8, 64, width}), i64({4}), bf16({4, 8, 1, width})).in_place().build();
}

void compile(benchmark::State& state, bool first) {
  static int64_t width = 16;
  std::vector<double> milliseconds;
  Runtime runtime;
  if (!first && !runtime.get(*fresh_op(++width)).ok()) return fail(state, "the first kernel does not build");
  for (auto _ : state) {
    const Op op = *fresh_op(++width);
    const auto start = std::chrono::steady_clock::now();
    const Expected<Kernel> kernel = runtime.get(op);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!kernel.ok()) return fail(state, kernel.status().message());
    if (kernel->entry(STREW_ENTRY_range) == nullptr) return fail(state, "no machine code was built");
    milliseconds.push_back(took.count() * 1e3);
    state.SetIterationTime(took.count());
  }
  auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  state.counters["median_ms"] = *middle;
  if (!first) state.SetLabel(*middle <= 10 ? "<= 10 ms met" : "<= 10 ms MISSED");
}

void look_up(benchmark::State& state, bool by_key) {
  Runtime runtime;
  const Op op = *fresh_op(8);
  if (const Expected<Kernel> kernel = runtime.get(op); !kernel.ok()) return fail(state, kernel.status().message());
  const KernelKey key = kernel_key(op);
  if (!runtime.find(key)) return fail(state, "a built kernel is not found by its key");
  const auto find = [&](int64_t calls) {
    for (int64_t i = 0; i < calls; ++i) benchmark::DoNotOptimize(by_key ? runtime.find(key) : *runtime.get(op));
  };
  const Medians medians = take_turns(state, {{"lookup", find}}, 64);
  if (by_key) state.SetLabel(medians[0] <= 100 ? "<= 100 ns met" : "<= 100 ns MISSED");
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  const auto add = [](const char* name, int iterations, auto run) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Iterations(iterations)->Unit(benchmark::kMicrosecond);
  };
  add("first_compile", 1, [](benchmark::State& state) { compile(state, true); });
  add("start_help", 101, [](benchmark::State& state) { start(state, {STREW_PROGRAM, "--help"}); });
  add("start_check", 101, [](benchmark::State& state) {
    start(state, {STREW_PROGRAM, "check", STREW_EXAMPLES "/kv_cache/decode.onnx"});
  });
  add("cold_compile", 51, [](benchmark::State& state) { compile(state, false); });
  add("lookup_key", 201, [](benchmark::State& state) { look_up(state, true); });
  add("lookup_op", 201, [](benchmark::State& state) { look_up(state, false); });
  add_call_benchmarks();
  add_choice_benchmarks();
  add_planning_benchmarks();
  return run_all(argc, argv);
}
