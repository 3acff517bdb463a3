// See message.h. The library reports failures as Status; this file turns them into text on stderr and an exit status.
//
// Names and values in a message come from files and may be anything. So control characters are escaped. Words and
// quoted texts of more than kMaxWord characters are shortened in the middle, except for names that the user typed, and
// so is a message that is too long. The report of an internal error has the whole text of the op. Tested by
// tests/error/cli_test.cc.
#include "tools/strew/message.h"

#include <algorithm>
#include <cstdio>

namespace strew::cli {
namespace {

constexpr size_t kMaxMessage = 4000, kMaxWord = 100, kWordStart = 60, kWordEnd = 20;

std::vector<std::string>& whole_names() {
  static std::vector<std::string> names;
  return names;
}

/// The first `start` and the last `end` characters of a text, with the number of those between; UTF-8 characters stay
/// whole.
std::string cut(std::string_view text, size_t start, size_t end) {
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t rest = text.size() - end;
  while (start > 0 && continues(start)) --start;
  while (rest < text.size() && continues(rest)) ++rest;
  return std::string(text.substr(0, start)) + "... (" + std::to_string(rest - start) + " characters) ..." +
         std::string(text.substr(rest));
}

/// The end of the word or quoted text that starts at `at`. A quotation mark after a space or an opening bracket starts
/// a quoted text; it ends at the last such mark that a space, comma, colon, semicolon, closing bracket or the end of
/// the message follows.
size_t end_of_word(std::string_view text, size_t at) {
  const char quote = text[at];
  if (quote == '\'' || quote == '"') {
    for (size_t i = at + 1; i < text.size(); ++i)
      if (text[i] == quote && (i + 1 == text.size() || std::string_view(" ,:;)]}").find(text[i + 1]) != std::string_view::npos))
        return i + 1;
  }
  return std::min(text.find(' ', at), text.size());
}

bool is_whole(std::string_view word) {
  const std::vector<std::string>& names = whole_names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.size() > kWordStart && word.find(printable(name).substr(0, word.size())) != std::string_view::npos;
  });
}

std::string shortened(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '(') {
      out += text[at++];
      continue;
    }
    const size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    out += word.size() <= kMaxWord || is_whole(word) ? std::string(word) : cut(word, kWordStart, kWordEnd);
    at = end;
  }
  return out;
}

void write_line(const char* kind, std::string line) {
  if (line.size() > kMaxMessage) line = cut(line, kMaxMessage / 2, kMaxMessage / 2);
  line = kind + line + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void report(const std::string& message) { write_line("error: ", shortened(printable(message))); }

}  // namespace

void keep_whole(std::vector<std::string> names) {
  for (std::string& name : names)
    if (!name.empty()) whole_names().push_back(std::move(name));
}

void warn(std::string_view message) { write_line("warning: ", printable(message)); }
void note(std::string_view line) { write_line("strew: ", printable(line)); }

int fail(const Status& status, std::string_view op_text) {
  switch (status.code()) {
    case Code::ok:
      return kDone;
    case Code::out_of_bounds:
      report(status.message());
      return kOutOfBounds;
    case Code::internal:
      write_line("error: ", "internal: " + shortened(printable(status.message())) + "; please report this" +
                                (op_text.empty() ? std::string() : " with the op: " + printable(op_text)));
      return kInternal;
    case Code::invalid_argument:
    case Code::unsupported:
    case Code::io:
    case Code::cancelled:
    case Code::deadline_exceeded:
    case Code::resource_exhausted:
      break;
  }
  report(status.message());
  return kBadInput;
}

int usage_error(const std::string& message) {
  report(message);
  return kBadUsage;
}

Status print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return io_error("stdout: cannot write");
}

}  // namespace strew::cli
