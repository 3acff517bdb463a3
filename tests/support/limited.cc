// The limits are the kernel's (setrlimit), so a file that asks for more dies of it and shows as a crash. Sanitizers map terabytes and
// take their time: built with one, the child has no memory limit and ten times as long. Used by tests/error.
#include "tests/support/limited.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/paths.h"

namespace strew::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(STREW_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
// Three seconds: the longest of these files takes 0.7 on a quiet machine, and a bomb that is read takes minutes.
constexpr rlim_t kSeconds = kSanitized ? 30 : 3, kBytes = rlim_t{256} << 20;

/// Only what is safe between fork and exec.
[[noreturn]] void become(const char* program, const char* command, const char* file, const char* err) {
  const rlimit seconds{kSeconds, kSeconds + 1}, bytes{kBytes, kBytes}, none{0, 0};
  const int log = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_WRONLY);
  dup2(log, 2);
  dup2(null, 1);
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &none);
  if (!kSanitized) setrlimit(RLIMIT_DATA, &bytes);
  execl(program, program, command, file, nullptr);
  _exit(127);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Refusal refusal(const std::string& bytes, const std::string& ending, const std::string& command) {
  const auto stem = std::filesystem::temp_directory_path() / ("strew_refusal_" + std::to_string(getpid()));
  const std::string file = stem.string() + ending, err = stem.string() + ".err", program = built_program("strew");
  std::ofstream(file, std::ios::binary) << bytes;
  const pid_t child = fork();
  if (child == 0) become(program.c_str(), command.c_str(), file.c_str(), err.c_str());
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  Refusal out{replaced(read(err), file, "FILE"), ""};
  std::filesystem::remove(file);
  std::filesystem::remove(err);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
    out.wrong = "status " + std::to_string(status) + ", expected exit 1";
  else if (!out.message.starts_with("error: ") || std::count(out.message.begin(), out.message.end(), '\n') != 1)
    out.wrong = "no one line that begins with 'error: '";
  else if (!kSanitized && usage.ru_maxrss > static_cast<long>(kBytes >> 10))
    out.wrong = std::to_string(usage.ru_maxrss) + " KiB of memory";
  if (!out.wrong.empty()) return out;
  out.message = out.message.substr(7, out.message.size() - 8);
  return out;
}

}  // namespace strew::test
