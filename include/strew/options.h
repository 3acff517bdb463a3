// Options: what can be set about strew, one field per setting. Each field has an environment variable, by which the user of a
// program sets it; the program itself sets it where it makes a Runtime. The environment is read once, when strew first needs
// it. A variable with a bad value is one warning (log.h), and its field keeps the default.
//
//   strew::Options options = strew::Options::from_environment();
//   options.cache_bytes = 64 << 20;
//   if (strew::Status s = check(options); !s.ok()) …   // names the field, its value and its range
//   strew::Runtime runtime(options);
//
// Fields marked (process) belong to the whole process: only their variables count. `strew --help` lists all variables, and
// docs/options.md has the same list; both say what the table in base/option_rows.h says. Tested by tests/unit/base/options_test.cc and
// options_effect_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strew/compile_mode.h"
#include "strew/export.h"
#include "strew/log.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct Options;
/// The defaults with what the environment sets. Thread-safe; every call returns the same object.
STREW_API const Options& process_options();

/// What the folder of the disk cache is used for (docs/service.md).
enum class CacheMode : uint8_t {
  off,
  read_only,   ///< kernels are taken from it; nothing in it is changed
  read_write,  ///< kernels that were not there are built and written to it
  must_hit,    ///< as read_only, and a kernel that is not there is an error
};
inline constexpr std::string_view kCacheModes[] = {"off", "read_only", "read_write", "must_hit"};
constexpr std::string_view name(CacheMode mode) { return kCacheModes[static_cast<uint8_t>(mode)]; }

struct Options {
  /// STREW_THREADS, 0..1024: the most threads that a call uses. 0: as many as this process may use cores.
  int threads = 0;
  /// STREW_PIN, 0 or 1: ties every worker thread to one core of the process's affinity mask. (process)
  bool pin_threads = false;
  /// STREW_SPIN_US, 0..60000000, in microseconds: how long a worker thread without work waits on its core before it sleeps.
  /// Waking a sleeping worker takes 30 to 200 us. (process)
  int spin_microseconds = 1000;
  /// STREW_CACHE_BYTES, 0..2^63-1, in bytes: how much of kernels a runtime remembers. Beyond that it forgets those that no
  /// handle refers to, the least recently used first. 0: it remembers none.
  int64_t cache_bytes = int64_t{256} << 20;
  /// STREW_COMPILE, the name of a mode (compile_mode.h): what a request does that finds no compiled kernel. A request may choose another one
  /// (KernelOptions::compile).
  CompileMode compile = CompileMode::blocking;
  /// STREW_EXACT_SHAPES, 0..2^20: how many kernels of requests that differ only in extents are compiled for exactly these extents. The next
  /// such request gets a kernel that takes the extents which differed from each call, and it serves all later ones (docs/service.md,
  /// "Shapes that keep changing"). 0: every request gets a kernel of its own.
  int exact_shapes = 2;
  /// STREW_COMPILE_THREADS, 0..1024: the most kernels that a runtime compiles at a time. 0: the number of cores, at most 4.
  int compile_threads = 0;
  /// STREW_COMPILE_STACK, 1 MiB..1 GiB, in bytes: the stack of a thread that compiles. Work that needs more gets a thread of
  /// its own.
  int64_t compile_stack_bytes = int64_t{8} << 20;
  /// STREW_VERBOSE, the name of a level (log.h): writes the lines of the log to stderr while no sink is set. (process)
  LogLevel verbose = LogLevel::off;
  /// STREW_DUMP, a folder: every kernel that is built leaves its IR, assembly and object there. Empty: none does. (process)
  std::string dump_dir;
  /// STREW_PERF_MAP, 0 or 1: names kernels for the profiler `perf` in /tmp/perf-PID.map. (process)
  bool perf_map = false;
  /// STREW_JITDUMP, 0 or 1: writes the code of kernels for `perf inject --jit`. (process)
  bool jitdump = false;
  /// STREW_GDB, 0 or 1: tells a debugger about the functions of kernels. (process)
  bool gdb = false;
  /// STREW_VERIFY, 0..2^63-1: runs every n-th call of each kernel on the reference too, and compares. 0: never. (process)
  uint64_t verify_every = 0;
  /// STREW_TARGET, as in parse_target() (target.h): what `native` stands for. If this machine cannot run it, its own target is
  /// taken instead, with a warning.
  std::string target = "native";
  /// STREW_COSTS, a file: keeps what `strew target --measure` found about this machine (machine_costs.h). Empty: one in the
  /// user's cache folder. "off": there is none, and costs are derived from the CPU and its caches. (process)
  std::string costs_file;
  /// STREW_WISDOM, a file: the schedules that `strew tune` found the fastest (wisdom.h). Empty: one in the user's cache folder.
  /// "off": there is none, and schedules are chosen by costs alone. (process)
  std::string wisdom_file;
  /// STREW_RECORD, a folder: every process leaves a file there that says how its kernels were called: shapes, threads, and
  /// statistics of the indices, from which `strew tune` makes workloads. Empty: none does. (process)
  std::string record_dir;
  /// STREW_CACHE, a folder, or "off": kernels that were compiled are kept there as files, and the next process that wants them does
  /// not compile (docs/service.md, "The disk cache"). The folder may not be one that other users can write to. Empty: as "off".
  std::string cache_dir;
  /// STREW_CACHE_MODE, off, read_only, read_write or must_hit: what the folder is used for.
  CacheMode cache_mode = CacheMode::read_write;
  /// STREW_CACHE_LIMIT, 0..2^63-1, in bytes: how much the files in the folder take. Beyond it, those that were not used for the longest
  /// time are removed.
  int64_t cache_limit_bytes = int64_t{256} << 20;
  /// STREW_LEARN, 0 or 1: a kernel that is called often finds out which of the ways it has is the fastest: by which of its strategies, and with
  /// which stores (docs/tuning.md, "Kernels that learn"). Trials take at most 0.5 % of the time of calls; results are the same. Nothing is compiled,
  /// and nothing is written unless learned_wisdom_file is named. Kernels whose schedule is `checked`, or names a strategy or stores, do not learn.
  bool learn = true;
  /// STREW_LEARNED_WISDOM, a file of wisdom (wisdom.h), or "off": kernels that learn append to it what they found, so that the next process
  /// whose wisdom it is begins with that (docs/tuning.md, "Kernels that learn"). Empty: as "off".
  std::string learned_wisdom_file;
  /// STREW_COMPILE_NICE, 0..19: how far the threads that compile for CompileMode::background step back (nice(1)), so that they do not take the cores of
  /// threads that serve. They are threads of their own, as many as compile_threads; builds that a caller waits for run at the process's priority. 0:
  /// these do, too.
  int compile_nice = 10;

  static Options from_environment() { return process_options(); }
};

/// Ok if every field is in its range and this machine can run the target. Else invalid_argument, which names the field, its
/// value and what was expected. Part of libstrew; libstrew_rt has no use for it.
STREW_API Status check(const Options& options);

}  // namespace strew::inline v0
