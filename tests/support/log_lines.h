// LogLines: receives the lines of the log while it lives. One at a time.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "strew/log.h"

namespace strew::test {

class LogLines {
 public:
  explicit LogLines(LogLevel level) {
    clear();
    set_log(take, level);
  }
  ~LogLines() { set_log(nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  static std::vector<std::string> lines() {
    const std::lock_guard lock(mutex());
    return kept();
  }
  static void clear() {
    const std::lock_guard lock(mutex());
    kept().clear();
  }

 private:
  static void take(LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex());
    kept().emplace_back(line);
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::vector<std::string>& kept() {
    static std::vector<std::string> lines;
    return lines;
  }
};

}  // namespace strew::test
