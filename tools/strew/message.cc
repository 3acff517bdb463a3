// Messages of the command line. Library code reports with Status; only here does it become text on stderr and an exit status.
//
// Names and paths come from files and may hold anything: control characters are escaped, and very long messages cut in the middle.
// Tested by tests/error/cli_test.cc.
#include "tools/strew/message.h"

#include <cstdio>

namespace strew::cli {
namespace {

constexpr size_t kMaxMessage = 4000;

void write_line(const char* kind, std::string_view message) {
  std::string line = printable(message);
  if (line.size() > kMaxMessage) line = line.substr(0, kMaxMessage / 2) + " ... " + line.substr(line.size() - kMaxMessage / 2);
  line = kind + line + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void report(const std::string& message) { write_line("error: ", message); }

}  // namespace

void note(std::string_view line) { write_line("strew: ", line); }

int fail(const Status& status, std::string_view op_text) {
  switch (status.code()) {
    case Code::ok:
      return kDone;
    case Code::out_of_bounds:
      report(status.message());
      return kOutOfBounds;
    case Code::internal:
      report("internal: " + status.message() + "; please report this" +
             (op_text.empty() ? std::string() : " with the op: " + std::string(op_text)));
      return kInternal;
    case Code::invalid_argument:
    case Code::unsupported:
    case Code::io:
      break;
  }
  report(status.message());
  return kBadInput;
}

int usage_error(const std::string& message) {
  report(message);
  return kBadUsage;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u != 0x7F) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
    }
  }
  return out;
}

Status print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return io_error("stdout: cannot write");
}

}  // namespace strew::cli
