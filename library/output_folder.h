// OutputFolder: a folder of files that appears in one step. Tested by tests/library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

struct OutputFolder {
  /// The file by which a folder of an earlier run is known.
  static constexpr const char* kReport = "report.json";

  /// Fails if `path` is something that replace() refuses: a file, or a folder that is not empty and has no report.
  static Status check(const std::string& path);
  /// Writes the files, each with its name, to a new folder beside `path`, and exchanges the two. If anything fails, `path` is as it was.
  static Status replace(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files);
};

}  // namespace strew::inline v0
