// See options.h. All functions go through the rows of the table (base/option_rows.h). Tested by
// tests/unit/base/options_test.cc, options_effect_test.cc and tests/error/cli_test.cc.
#include "base/options.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/nearest.h"
#include "base/option_rows.h"

namespace strew::inline v0 {
namespace {

template <std::integral Number>
bool is_good(const OptionRow& row, Number value) {
  return std::cmp_greater_equal(value, row.least) && std::cmp_less_equal(value, row.most);
}
bool is_good(const OptionRow&, bool) { return true; }
template <class Enum>
requires std::is_enum_v<Enum>
bool is_good(const OptionRow&, Enum value) { return static_cast<size_t>(value) < names_of(value).size(); }
bool is_good(const OptionRow& row, const std::string& value) {
  return value.size() >= row.least && value.size() <= row.most && value.find('\0') == std::string::npos;
}

template <std::integral Number>
bool parse(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}
bool parse(std::string_view text, bool& out) {
  out = text == "1";
  return out || text == "0";
}
template <class Enum>
requires std::is_enum_v<Enum>
bool parse(std::string_view text, Enum& out) {
  const auto names = names_of(out);
  const auto found = std::find(names.begin(), names.end(), text);
  out = static_cast<Enum>(found - names.begin());
  return found != names.end();
}
bool parse(std::string_view text, std::string& out) {
  out = text;
  return true;
}

/// Sets the row's field, if `text` is a good value.
bool set(const OptionRow& row, std::string_view text, Options& options) {
  return std::visit(
      [&](const auto member) {
        auto value = options.*member;
        if (!parse(text, value) || !is_good(row, value)) return false;
        options.*member = std::move(value);
        return true;
      },
      row.member);
}

/// A value for a message: in quotation marks, and cut to kShown characters.
std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

}  // namespace

Status check_values(const Options& options) {
  for (const OptionRow& row : kOptionRows) {
    if (std::visit([&](const auto member) { return is_good(row, options.*member); }, row.member)) continue;
    const bool is_text = std::holds_alternative<std::string Options::*>(row.member);
    const std::string value = text_of(row, options);
    return invalid_argument("options: " + std::string(row.field) + " is " + (is_text ? quoted(value) : value) + ", expected " +
                            values_of(row) +
                            (is_text ? ", " + std::to_string(row.least) + ".." + std::to_string(row.most) + " bytes" : ""));
  }
  return {};
}

Environment read_environment(const char* (*value_of)(const char* variable)) {
  Environment out;
  for (const OptionRow& row : kOptionRows) {
    const char* const found = value_of(row.variable);
    const std::string_view text = found == nullptr ? "" : found;
    if (text.empty() || set(row, text, out.options)) continue;
    // A user who sets STREW_VERBOSE wants to read messages, so a bad value enables warnings, of which this is one.
    if (std::holds_alternative<LogLevel Options::*>(row.member)) out.options.verbose = LogLevel::warn;
    const std::string taken = text_of(row, out.options);
    out.warnings.push_back("environment variable " + std::string(row.variable) + ": it is " + quoted(text) + ", expected " +
                           values_of(row) + "; it counts as " + (taken.empty() ? "not set" : taken));
  }
  return out;
}

std::string unknown_variables(const char* const* entries) {
  constexpr std::string_view kOfTheTree[] = {"STREW_DIFFERENTIAL", "STREW_JOBS", "STREW_PEERS_PYTHON", "STREW_REPORT_PAGE",
                                             "STREW_UPDATE_GOLDEN"};
  constexpr std::string_view kOfBindings[] = {"STREW_JAX"};  // bindings/python/strew/jax reads it
  std::vector<std::string_view> known(std::begin(kOfTheTree), std::end(kOfTheTree)), of_options;
  for (const OptionRow& row : kOptionRows) of_options.emplace_back(row.variable);
  known.insert(known.end(), std::begin(kOfBindings), std::end(kOfBindings));
  known.insert(known.end(), of_options.begin(), of_options.end());
  std::string out;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries, name = entry.substr(0, entry.find('='));
    if (!name.starts_with("STREW_") || name.starts_with("STREW_TEST_")) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view near = nearest(name, of_options);
    out += (out.empty() ? "" : ", ") + quoted(name) + (near.empty() ? "" : " (did you mean " + std::string(near) + "?)");
  }
  return out.empty() ? out : "environment: no option of strew has the name " + out + "; docs/options.md lists them";
}

const Environment& environment() {
  // Never destroyed: kernels may run until the process ends. secure_getenv() finds nothing in a program with more rights than
  // its user, because the user sets the variables, and some of them name files to write.
  static const Environment& read = []() -> Environment& {
    auto* const made =
        new Environment(read_environment([](const char* variable) -> const char* { return secure_getenv(variable); }));
    if (std::string unknown = getauxval(AT_SECURE) != 0 ? "" : unknown_variables(environ); !unknown.empty())
      made->warnings.push_back(std::move(unknown));
    return *made;
  }();
  return read;
}

std::string user_cache_folder() {
  const auto folder_of = [](const char* variable) {
    const char* const found = secure_getenv(variable);
    return std::string(found != nullptr && found[0] == '/' ? found : "");
  };
  if (const std::string caches = folder_of("XDG_CACHE_HOME"); !caches.empty()) return caches + "/strew";
  const std::string home = folder_of("HOME");
  return home.empty() ? home : home + "/.cache/strew";
}

const Options& process_options() {
  static std::atomic<bool> has_warned{false};
  const Environment& read = environment();
  if (!has_warned.load(std::memory_order_relaxed) && !has_warned.exchange(true)) {
    for (const std::string& warning : read.warnings) log_or_keep_warning(warning);
  }
  return read.options;
}

}  // namespace strew::inline v0
