// Input files: regular files only, read up to a limit or mapped. Outputs are written by base/pending_file.h. Tested
// by tests/unit/base/file_test.cc.
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

/// Bytes of a file, mapped read-only. If the file has become shorter, access to the missing pages raises SIGBUS.
class FileMap {
 public:
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;
  ~FileMap();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class InputFile;
  FileMap() = default;
  void* base_ = nullptr;  ///< address of the mapping, which begins at a page
  size_t length_ = 0;
  std::span<const std::byte> bytes_;
  struct MappedFile* registered_ = nullptr;
};

/// An open regular file. Other files (a directory, a FIFO, a device, a socket) are refused without waiting.
class InputFile {
 public:
  /// Errors: "PATH: cannot read: reason".
  STREW_API static Expected<InputFile> open(const std::string& path);
  STREW_API InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  STREW_API ~InputFile();

  int64_t size() const { return size_; }  ///< when the file was opened
  /// Fills `to` with the bytes from `offset` on; fails if the file ends before.
  STREW_API Status read(int64_t offset, std::span<std::byte> to) const;
  /// Maps the `bytes` bytes from `offset` on, both >= 0; fails unless the file has them.
  STREW_API Expected<std::shared_ptr<const FileMap>> map(int64_t offset, int64_t bytes) const;

 private:
  InputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  friend Expected<std::string> read_file(const std::string& path, int64_t max_bytes);
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

/// The whole contents of a regular file of at most `max_bytes`. The path "-" is a file name like any other.
STREW_API Expected<std::string> read_file(const std::string& path, int64_t max_bytes);
/// Standard input up to its end, whatever kind of file it is.
Expected<std::string> read_standard_input(int64_t max_bytes);

/// The name of the file that is mapped at `address`, or null. Async-signal-safe: a handler of SIGBUS names the file
/// with it.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace strew::inline v0
