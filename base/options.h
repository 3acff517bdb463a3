// Options of the process, read from the environment once: the only place that reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strew/export.h"

namespace strew::inline v0 {

struct ProcessOptions {
  bool pins_workers = false;     ///< STREW_PIN=1: each worker stays on one core of the process's affinity mask
  bool writes_perf_map = false;  ///< STREW_PERF_MAP=1: names of linked functions for perf, in /tmp/perf-PID.map
  bool jitdump = false;          ///< STREW_JITDUMP=1: names and bytes of linked functions for perf, in /tmp/jit-PID.dump
  bool gdb = false;              ///< STREW_GDB=1: symbols of linked functions for debuggers
  std::string dump_dir;          ///< STREW_DUMP=DIR: IR, assembly and object of every kernel that is built; empty: none
  uint64_t verify_every = 0;     ///< STREW_VERIFY=n: replay every n-th call of each kernel on the reference; 0: never
};
STREW_API const ProcessOptions& process_options();

/// What was wrong with the variables, a line each: the name, the value and what was expected. Every line is given out once: to a program
/// that asks here, else to the log when the first kernel is built.
STREW_API std::vector<std::string> take_option_warnings();

}  // namespace strew::inline v0
