// CacheFolder: a folder for a disk cache, for tests; and FaultyCalls, system calls of a disk cache of which chosen ones fail.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/disk_cache/disk_cache.h"

namespace strew::test {

class CacheFolder {
 public:
  CacheFolder();
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  DiskCache::Settings settings(CacheMode mode = CacheMode::read_write, int64_t limit = int64_t{1} << 30) const {
    return {path_, mode, limit};
  }
  /// The names of the files, in alphabetical order.
  std::vector<std::string> names() const;
  std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& bytes, mode_t mode = 0600) const;
  /// Sets the time of modification, in seconds since 1970.
  void set_time(const std::string& name, int64_t seconds) const;

 private:
  std::string path_;
};

/// An entry with an object of that many bytes.
CacheEntry some_entry(const std::string& symbol, size_t object_bytes = 100);

/// Of the calls that are counted, in their order, the one with number `fail_at` fails with `error`.
class FaultyCalls : public FolderCalls {
 public:
  int fail_at = -1;
  int error = EIO;
  bool counts_reads = false;     ///< opening to read, reading, looking, listing
  bool counts_writes = false;    ///< making, writing, closing, renaming, removing files
  bool is_killed = false;        ///< the call that fails and all after it do nothing: the process has ended
  size_t most_bytes = SIZE_MAX;  ///< of one write or read
  int64_t clock_skew = 0;
  uid_t other_user = 0;  ///< not 0: whom the process is taken for
  int calls = 0;         ///< counted so far

  int open(int folder, const char* name, int flags, mode_t mode) override;
  int close(int file) override;
  ssize_t read(int file, void* to, size_t bytes) override;
  ssize_t write(int file, const void* from, size_t bytes) override;
  int status(int file, struct stat& out) override;
  int status_at(int folder, const char* name, struct stat& out) override;
  int rename(int folder, const char* from, const char* to) override;
  int remove(int folder, const char* name) override;
  int make_folder(int folder, const char* name) override;
  bool list(int folder, size_t most, std::vector<std::string>& out) override;
  int64_t now() override { return FolderCalls::now() + clock_skew; }
  uid_t user() override { return other_user != 0 ? other_user : FolderCalls::user(); }

 private:
  bool fails(bool is_counted);

  bool has_failed_ = false;
};

}  // namespace strew::test
