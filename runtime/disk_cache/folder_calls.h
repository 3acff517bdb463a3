// FolderCalls: the system calls that the disk cache makes. Names are relative to the descriptor of an open folder, so a folder that is replaced
// between two calls changes nothing. Tests replace the calls by ones that fail. A call that fails leaves its reason in errno.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strew::inline v0 {

class FolderCalls {
 public:
  virtual ~FolderCalls() = default;

  virtual int open(int folder, const char* name, int flags, mode_t mode);
  virtual int close(int file);
  virtual ssize_t read(int file, void* to, size_t bytes);
  virtual ssize_t write(int file, const void* from, size_t bytes);
  virtual int status(int file, struct stat& out);
  virtual int status_at(int folder, const char* name, struct stat& out);  ///< of a link: its own
  virtual int rename(int folder, const char* from, const char* to);
  virtual int remove(int folder, const char* name);
  virtual int make_folder(int folder, const char* name);  ///< that only the user may enter
  virtual int touch(int file);                            ///< its time of modification is now
  virtual ssize_t read_link(int folder, const char* name, char* to, size_t bytes);
  /// The names in the folder but "." and "..", at most `most`. False: the system refused.
  virtual bool list(int folder, size_t most, std::vector<std::string>& out);
  virtual int64_t now();  ///< seconds since 1970, as in the times of files
  virtual uid_t user();   ///< whose rights the process has

  static FolderCalls& system();
  /// From now on, system() is `calls`, which lives as long as anything uses it; null: the calls themselves. For tests of runtimes.
  static void replace_system(FolderCalls* calls);
};

/// A descriptor that is closed at the end.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(FolderCalls& calls, int file) : calls_(&calls), file_(file) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  int close();  ///< what the call returned

 private:
  FolderCalls* calls_ = nullptr;
  int file_ = -1;
};

}  // namespace strew::inline v0
