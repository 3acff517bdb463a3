// Wisdom: schedules that were measured. `strew tune` writes what it measures to a file of records, one line each; a request takes the
// schedule of the records that fit it best, and that of the cost model where none does (docs/tuning.md).
//
//   auto wisdom = strew::Wisdom::load("kernels.wisdom");
//   strew::KernelOptions options;
//   options.wisdom = *wisdom;
//   auto kernel = runtime.get(op, options);
//
// Requests that name neither a target nor wisdom take the process's: the file of Options::wisdom_file. A schedule changes the speed of a
// kernel, never its results. All functions are thread-safe. Tested by tests/unit/schedules/wisdom/wisdom_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

class Wisdom {
 public:
  /// Reads a file of records. A line that is no record is left out, and told by problems() once it was needed. Fails if the file cannot
  /// be read or is larger than 1 GiB.
  STREW_API static Expected<std::shared_ptr<const Wisdom>> load(const std::string& path);
  /// No records: the cost model chooses. Never null.
  static const std::shared_ptr<const Wisdom>& none() { return shared(false); }
  /// Those of the process's file, which is read at the first call; no records if it has none. A file that cannot be read is a warning
  /// in the log. Never null.
  static const std::shared_ptr<const Wisdom>& process() { return shared(true); }

  ~Wisdom();
  Wisdom(const Wisdom&) = delete;
  Wisdom& operator=(const Wisdom&) = delete;

 private:
  friend struct WisdomAccess;
  struct Impl;
  explicit Wisdom(std::unique_ptr<Impl> impl);
  STREW_API static const std::shared_ptr<const Wisdom>& shared(bool of_process);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strew::inline v0
