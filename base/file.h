// Input files: regular files only, read up to a limit or mapped. Outputs are base/pending_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Bytes of a file, mapped read-only. Touching them after the file has become shorter raises SIGBUS.
class FileMap {
 public:
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;
  ~FileMap();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class InputFile;
  FileMap() = default;
  void* base_ = nullptr;  ///< of the mapping, which begins at a page
  size_t length_ = 0;
  std::span<const std::byte> bytes_;
  struct MappedFile* registered_ = nullptr;
};

/// An open regular file. Anything else (a directory, a FIFO, a device, a socket) is refused at once: opening it must not wait.
class InputFile {
 public:
  /// Errors: "PATH: cannot read: reason".
  STREW_API static Expected<InputFile> open(const std::string& path);
  STREW_API InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  STREW_API ~InputFile();

  int64_t size() const { return size_; }  ///< when it was opened
  /// Fills `to` from `offset`; fails when the file ends before.
  STREW_API Status read(int64_t offset, std::span<std::byte> to) const;
  /// The `bytes` bytes from `offset`, both >= 0; fails unless the file has them.
  STREW_API Expected<std::shared_ptr<const FileMap>> map(int64_t offset, int64_t bytes) const;

 private:
  InputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  friend Expected<std::string> read_file(const std::string& path, int64_t max_bytes);
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

/// The whole of a regular file of at most `max_bytes`. "-" is not special.
STREW_API Expected<std::string> read_file(const std::string& path, int64_t max_bytes);
/// Standard input, whatever it is, up to its end.
STREW_API Expected<std::string> read_standard_input(int64_t max_bytes);

/// The name of the file mapped at `address`, or null. Async-signal-safe: a handler of SIGBUS tells the user which file it was.
STREW_API const char* mapped_file_at(const void* address) noexcept;

}  // namespace strew::inline v0
