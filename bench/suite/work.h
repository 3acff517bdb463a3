// One case, ready to be timed: inputs, buffers, kernels for one thread and for two, and the proof that their results are right.
#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases/ops.h"
#include "bench/suite/hand.h"
#include "strew/kernel.h"

namespace strew::bench {

inline constexpr int kThreads[] = {1, 2};

struct Work {
  Data data;
  Memory table, into, copy;     ///< what calls write
  std::vector<Kernel> kernels;  ///< per backend, per number of threads
  std::unique_ptr<Calls> calls;
  std::string wrong;  ///< why it must not be timed

  /// `schedule`: knobs to set over the heuristic's choice.
  Work(const Case& c, const std::string& schedule, const std::vector<std::string>& backends);
  const Kernel& kernel(int threads, size_t backend = 0) const {
    return kernels[backend * std::size(kThreads) + static_cast<size_t>(threads - 1)];
  }
  HandTarget target() const { return {table.data(), into.data(), copy.data()}; }
  char* result() const { return data.c.gathers() ? into.data() : data.c.mode == Mode::copied ? copy.data() : table.data(); }
  size_t result_bytes() const { return data.c.gathers() ? into.size() : table.size(); }
  /// Inputs as they were before any call.
  void reset() const;

 private:
  std::string differs(const char* who, const char* from) const;
  std::string check_kernels(const char* expected) const;
  std::string check_hand(const char* expected) const;
  std::string check();
};

/// The last case's work: its rows for one and two threads share the inputs.
Work& work_of(const Case& c, const std::string& schedule = "", const std::vector<std::string>& backends = {"auto"});

/// n calls, going round the index sets.
std::function<void(int64_t calls)> strew_calls(const Work& work, const Kernel& kernel);

}  // namespace strew::bench
