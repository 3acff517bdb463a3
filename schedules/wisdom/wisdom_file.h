// The file of wisdom: one record per line, appended and never changed in place, so that processes can write and read it at the same time.
// Tested by tests/unit/schedules/wisdom/wisdom_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedules/wisdom/record.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The largest file that is read.
inline constexpr int64_t kMostWisdomBytes = int64_t{1} << 30;

/// The process's file: Options::wisdom_file, or one in the user's cache folder. Empty: there is none.
std::string wisdom_path();

/// Appends whole lines by one write, while other processes wait. A last line that a writer did not finish is ended first, so that it does
/// not swallow the next. The folder is made if it is missing. Fails if the file cannot be written.
Status append_wisdom(const std::string& path, std::span<const WisdomRecord> records);

struct WisdomLines {
  std::vector<WisdomRecord> records;  ///< in the order of the lines
  std::vector<std::string> problems;  ///< "PATH:LINE: …", for each line that is no record
};
/// All records of a file. Fails if it cannot be read.
Expected<WisdomLines> read_wisdom(const std::string& path);

/// The records without those that a later one replaces: of the same candidate, workload and machine.
std::vector<WisdomRecord> latest(std::vector<WisdomRecord> records);

}  // namespace strew::inline v0
