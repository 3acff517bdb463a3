// ProcessFile: a file whose name contains the number of this process, because a profiler looks for it there (perf_map.h, jitdump.h). The name can
// be predicted by anybody who can write to the folder, so a file that exists there already may be an attack. The file is therefore created with
// O_EXCL and O_NOFOLLOW. An existing one, as an earlier process of the same number leaves it, is used only if it is a regular file that belongs to
// us and has no other hard link; otherwise nothing is written. A forked child opens a file of its own. Tested by
// tests/unit/backends/llvm/link/perf_map_test.cc.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace strew::inline v0 {

/// Not thread-safe.
class ProcessFile {
 public:
  /// The file is `before`, the number of the process, `after`. `variable` of the environment asks for it. `begin` returns what a new file begins with; it gets the file's descriptor.
  ProcessFile(const char* variable, std::string before, std::string after, std::string (*begin)(int file) = nullptr);

  /// Writes to the end of the file. Nothing depends on it, so after an error, which is one warning in the log, nothing more is
  /// written.
  void append(std::string_view bytes);

 private:
  void open_own();
  void warn(int error) const;
  void write_all(std::string_view bytes);

  const char* const variable_;
  const std::string before_, after_;
  std::string (*const begin_)(int file);
  pid_t process_ = 0;  ///< whose file is open
  int file_ = -1;
};

}  // namespace strew::inline v0
