// The built program on a broken file, in a child process that may have 1 second and 256 MiB.
#pragma once

#include <string>

namespace strew::test {

struct Refusal {
  std::string message;  ///< its one line, without "error: "; the file reads FILE
  std::string wrong;  ///< what it should not have done: crashed, said more than one line, taken too long or too much. "": nothing
};
/// `strew COMMAND` on a file of these bytes with that ending (".onnx").
Refusal refusal(const std::string& bytes, const std::string& ending, const std::string& command = "check");

}  // namespace strew::test
