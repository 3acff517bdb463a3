// The table of all options, with one row per field of Options. The code that reads the environment, checks values,
// and documents the variables is driven by it. All of it is in this header, because the command line reads the table,
// too, and libstrew exports few names. Tested by tests/unit/base/options_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/machine.h"
#include "strew/options.h"

namespace strew::inline v0 {

struct OptionRow {
  using Member = std::variant<bool Options::*, int Options::*, int64_t Options::*, uint64_t Options::*, LogLevel Options::*,
                              CompileMode Options::*, CacheMode Options::*, std::string Options::*>;
  const char* variable;    ///< such as "STREW_THREADS"
  std::string_view field;  ///< such as "threads"
  Member member;
  std::string_view meaning;
  uint64_t least = 0, most = 0;  ///< bounds of a number; of a text: of its length in bytes
  std::string_view text = {};    ///< of a text: what it must be
};

inline constexpr uint64_t kMostOfOption = std::numeric_limits<int64_t>::max();
inline constexpr uint64_t kMostPath = 4095;  ///< the longest path in bytes that Linux takes

inline constexpr auto kOptionRows = std::to_array<OptionRow>({
    {"STREW_THREADS", "threads", &Options::threads, "the most threads that a call uses; 0: as many as this process may use cores",
     0, kMostThreads},
    {"STREW_PIN", "pin_threads", &Options::pin_threads, "1: ties every worker thread to one core of the process's affinity mask"},
    {"STREW_SPIN_US", "spin_microseconds", &Options::spin_microseconds,
     "microseconds that a worker thread without work waits on its core before it sleeps", 0, 60'000'000},
    {"STREW_CACHE_BYTES", "cache_bytes", &Options::cache_bytes,
     "bytes of kernels that a runtime remembers; beyond, it forgets those that no handle refers to; 0: it remembers none", 0,
     kMostOfOption},
    {"STREW_COMPILE", "compile", &Options::compile,
     "what a request does that finds no compiled kernel: it waits; or a portable kernel answers until the compiled one takes its "
     "place; or the request fails"},
    {"STREW_EXACT_SHAPES", "exact_shapes", &Options::exact_shapes,
     "how many kernels that differ only in extents are compiled for these; the next one takes the extents that differ from each "
     "call; "
     "0: all are",
     0, 1 << 20},
    {"STREW_COMPILE_THREADS", "compile_threads", &Options::compile_threads,
     "the most kernels that a runtime compiles at a time; 0: the number of cores, at most 4", 0, kMostThreads},
    {"STREW_COMPILE_STACK", "compile_stack_bytes", &Options::compile_stack_bytes, "bytes of stack of a thread that compiles",
     1 << 20, 1 << 30},
    {"STREW_COMPILE_NICE", "compile_nice", &Options::compile_nice,
     "how far the threads that compile for mode background step back (nice); builds that a caller waits for do not", 0, 19},
    {"STREW_LEARN", "learn", &Options::learn,
     "1: a kernel that is called often finds out which of its strategies and stores is the fastest; 0: none does"},
    {"STREW_LEARNED_WISDOM", "learned_wisdom_file", &Options::learned_wisdom_file,
     "the file of wisdom to which kernels that learn append what they found; empty or off: they write nothing", 0, kMostPath,
     "a file, or off"},
    {"STREW_VERBOSE", "verbose", &Options::verbose,
     "writes the log to stderr, up to this level, unless the program receives it (strew/log.h)"},
    {"STREW_DUMP", "dump_dir", &Options::dump_dir,
     "every kernel that is built leaves its IR, assembly and object in this folder; empty: none does", 0, kMostPath, "a folder"},
    {"STREW_PERF_MAP", "perf_map", &Options::perf_map,
     "1: names kernels for `perf` in /tmp/perf-PID.map; no map is written where somebody else's file or a link has that name"},
    {"STREW_JITDUMP", "jitdump", &Options::jitdump, "1: writes the code of kernels for `perf inject --jit`"},
    {"STREW_GDB", "gdb", &Options::gdb, "1: tells a debugger about the functions of kernels"},
    {"STREW_VERIFY", "verify_every", &Options::verify_every,
     "runs every n-th call of each kernel on the reference too, and compares; 0: never", 0, kMostOfOption},
    {"STREW_TARGET", "target", &Options::target,
     "the machine that `native` stands for; where this machine cannot run it, its own target is taken", 1, kMostPath,
     "a target, as for --target"},
    {"STREW_COSTS", "costs_file", &Options::costs_file,
     "the file that keeps what `strew target --measure` found about this machine; empty: one in the user's cache folder; off: "
     "none",
     0, kMostPath, "a file, or off"},
    {"STREW_WISDOM", "wisdom_file", &Options::wisdom_file,
     "the file that keeps the schedules which `strew tune` measured; empty: one in the user's cache folder; off: none", 0,
     kMostPath, "a file, or off"},
    {"STREW_RECORD", "record_dir", &Options::record_dir,
     "every process leaves a file in this folder that says how its kernels were called, for `strew tune`; empty: none does", 0,
     kMostPath, "a folder"},
    {"STREW_CACHE", "cache_dir", &Options::cache_dir,
     "compiled kernels are kept in this folder, and the next process that wants them does not compile; empty or off: none are, "
     "but "
     "the command line's, in the user's cache folder, unless it is off",
     0, kMostPath, "a folder, or off"},
    {"STREW_CACHE_MODE", "cache_mode", &Options::cache_mode,
     "what that folder is used for; must_hit: a kernel that is not there is an error"},
    {"STREW_CACHE_LIMIT", "cache_limit_bytes", &Options::cache_limit_bytes,
     "bytes that the files in that folder may take; beyond, those that were not used for the longest time are removed", 0,
     kMostOfOption},
});

// The names of the values of the enums that rows may have.
constexpr std::span<const std::string_view> names_of(LogLevel /*unused*/) { return kLogLevels; }
constexpr std::span<const std::string_view> names_of(CompileMode /*unused*/) { return kCompileModes; }
constexpr std::span<const std::string_view> names_of(CacheMode /*unused*/) { return kCacheModes; }

/// "blocking, background or must_hit"
template <class Names>
std::string list_of(const Names& names) {
  std::string list;
  for (const auto& each : names) list += (list.empty() ? "" : &each == &names.back() ? " or " : ", ") + std::string(each);
  return list;
}

/// The good values, for messages and documents: "0..1024", "0 or 1", the names of an enum's values, or the row's `text`.
inline std::string values_of(const OptionRow& row) {
  if (!row.text.empty()) return std::string(row.text);
  if (std::holds_alternative<bool Options::*>(row.member)) return "0 or 1";
  if (std::holds_alternative<LogLevel Options::*>(row.member)) return list_of(names_of(LogLevel()));
  if (std::holds_alternative<CompileMode Options::*>(row.member)) return list_of(names_of(CompileMode()));
  if (std::holds_alternative<CacheMode Options::*>(row.member)) return list_of(names_of(CacheMode()));
  return std::to_string(row.least) + ".." + std::to_string(row.most);
}

/// Is a field one of a few names? Bounds mean nothing there.
inline bool is_choice(const OptionRow& row) {
  return std::holds_alternative<LogLevel Options::*>(row.member) || std::holds_alternative<CompileMode Options::*>(row.member) ||
         std::holds_alternative<CacheMode Options::*>(row.member);
}

// A value as it is written in the environment.
inline std::string text_of(bool value) { return value ? "1" : "0"; }
inline std::string text_of(int value) { return std::to_string(value); }
inline std::string text_of(int64_t value) { return std::to_string(value); }
inline std::string text_of(uint64_t value) { return std::to_string(value); }
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  const auto number = static_cast<size_t>(value);
  return number < names_of(value).size() ? std::string(names_of(value)[number]) : "number " + std::to_string(number);
}
inline std::string text_of(const std::string& value) { return value; }

inline std::string text_of(const OptionRow& row, const Options& options) {
  return std::visit([&](const auto member) { return text_of(options.*member); }, row.member);
}

}  // namespace strew::inline v0
