// Whole files: read with a size limit, written so that a reader sees the old file or the new one, never half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/status.h"

namespace strew {

/// "-" is not special. Errors: "PATH: cannot read: reason".
Expected<std::string> read_file(const std::string& path, int64_t max_bytes);

/// `bytes` bytes from `offset`, both >= 0, of a plain file that has them: checked against its size before anything is allocated.
Expected<std::vector<std::byte>> read_file_part(const std::string& path, int64_t offset, int64_t bytes);

/// A file beside its final place, renamed into it by commit(). Without commit() it is removed.
class PendingFile {
 public:
  static Expected<PendingFile> write(const std::string& path, std::string_view bytes);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();
  Status commit();

 private:
  PendingFile(std::string path, std::string temporary) : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_, temporary_;
};

}  // namespace strew
