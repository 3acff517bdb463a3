// PendingFile: an output file that appears in one step. It is written under an unpredictable name beside its target,
// and commit() renames it. Without commit() the target stays as it was, and the temporary file is removed. Tested by
// tests/unit/base/file_test.cc and tests/error/signal_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

class PendingFile {
 public:
  /// Opens a temporary file for `path`. A symbolic link is followed: the file that it leads to is replaced, the link
  /// stays. An existing file that is not a regular one (/dev/null, a pipe) is written in place. Errors: "PATH: cannot
  /// write: reason".
  static Expected<PendingFile> create(const std::string& path);
  /// The same, and writes `bytes` as the whole contents.
  static Expected<PendingFile> create(const std::string& path, std::string_view bytes);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  Status write(std::string_view bytes);  ///< appends
  Status close();                        ///< ends writing and closes the descriptor; commit() does it, too
  Status commit();

 private:
  PendingFile() = default;
  Status open_in_place();
  Status open_beside();
  void forget();

  std::string path_;                         ///< as the caller gave it, for messages
  std::string target_;                       ///< absolute and without a link at its end; empty: written in place
  std::string temporary_;                    ///< absolute; empty: none exists
  struct Registered* registered_ = nullptr;  ///< the node in the list that remove_pending_files() walks
  char* name_ = nullptr;                     ///< the string that the node holds
  int fd_ = -1;
};

/// A name that no other file has, for one that is being written: 32 hex digits between a prefix and an ending. Empty if the system has no random
/// numbers.
std::string temporary_name();
bool is_temporary_name(std::string_view name);

/// Removes the temporary files of every PendingFile of the process. For handlers of signals that end the process: it is
/// async-signal-safe, and a PendingFile that is used afterwards fails.
void remove_pending_files() noexcept;

}  // namespace strew::inline v0
