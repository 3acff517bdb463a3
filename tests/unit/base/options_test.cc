// Options: the table has every field, the environment is read by it, good and bad values are told apart, and the documents say what the
// table says. options_effect_test.cc proves that each option takes effect.
#include "strew/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/option_rows.h"
#include "base/options.h"
#include "schedules/target.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

std::map<std::string, std::string> variables;

/// What is read where `variables` are set.
Environment read(std::map<std::string, std::string> set) {
  variables = std::move(set);
  return read_environment([](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

/// The fields as text, in order.
std::vector<std::string> values_in(const Options& options) {
  std::vector<std::string> out;
  for (const OptionRow& row : kOptionRows) out.push_back(text_of(row, options));
  return out;
}

const OptionRow& row_of(const std::string& variable) {
  for (const OptionRow& row : kOptionRows)
    if (row.variable == variable) return row;
  ADD_FAILURE() << variable;
  return kOptionRows[0];
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(test::source_folder() / path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Options, EveryFieldHasARow) {
  const auto& [threads, pin, spin, cache, compile, exact, compile_threads, stack, verbose, dump, perf, jitdump, gdb, verify,
               target, costs, wisdom, record, folder, mode, limit, learn, learned, nice] = Options{};
  const std::set<const void*> fields = {&threads, &pin,    &spin,   &cache,   &compile, &exact,  &compile_threads, &stack,
                                        &verbose, &dump,   &perf,   &jitdump, &gdb,     &verify, &target,          &costs,
                                        &wisdom,  &record, &folder, &mode,    &limit,   &learn,  &learned,         &nice};
  EXPECT_EQ(kOptionRows.size(), fields.size());
  std::set<std::string> names;
  const std::string header = text_of_file("include/strew/options.h");
  for (const OptionRow& row : kOptionRows) {
    EXPECT_THAT(row.variable, StartsWith("STREW_"));
    EXPECT_TRUE(names.insert(row.variable).second && names.insert(std::string(row.field)).second) << row.variable;
    const size_t said = header.find(std::string("/// ") + row.variable + ",");
    ASSERT_NE(said, std::string::npos) << row.variable;
    const std::set<std::string_view> without_default = {"learned_wisdom_file", "dump_dir",   "costs_file",
                                                        "wisdom_file",         "record_dir", "cache_dir"};
    const size_t field = header.find(" " + std::string(row.field) + (without_default.contains(row.field) ? ";" : " = "), said);
    EXPECT_LT(field, header.find("/// STREW_", said + 1)) << row.variable << " does not stand at its field";
  }
}

TEST(Options, NothingSetIsTheDefaults) {
  EXPECT_EQ(values_in(read({}).options),
            (std::vector<std::string>{"0",  "0",      "1000", "268435456", "blocking", "2", "0",          "8388608",
                                      "10", "1",      "",     "off",       "",         "0", "0",          "0",
                                      "0",  "native", "",     "",          "",         "",  "read_write", "268435456"}));
  std::map<std::string, std::string> empty;
  for (const OptionRow& row : kOptionRows) empty[row.variable] = "";
  EXPECT_EQ(values_in(read(empty).options), values_in(Options{}));
  EXPECT_THAT(read(empty).warnings, IsEmpty());
}

TEST(Options, EachVariableSetsItsOwnField) {
  const std::map<std::string, std::string> values = {{"STREW_THREADS", "1024"},
                                                     {"STREW_PIN", "1"},
                                                     {"STREW_SPIN_US", "60000000"},
                                                     {"STREW_CACHE_BYTES", "9223372036854775807"},
                                                     {"STREW_COMPILE", "must_hit"},
                                                     {"STREW_EXACT_SHAPES", "7"},
                                                     {"STREW_COMPILE_THREADS", "3"},
                                                     {"STREW_COMPILE_STACK", "1048576"},
                                                     {"STREW_COMPILE_NICE", "19"},
                                                     {"STREW_LEARN", "0"},
                                                     {"STREW_LEARNED_WISDOM", "some file"},
                                                     {"STREW_VERBOSE", "dump"},
                                                     {"STREW_DUMP", "some folder"},
                                                     {"STREW_PERF_MAP", "1"},
                                                     {"STREW_JITDUMP", "1"},
                                                     {"STREW_GDB", "1"},
                                                     {"STREW_VERIFY", "9223372036854775807"},
                                                     {"STREW_TARGET", "x86-64-v2+avx"},
                                                     {"STREW_COSTS", "some file"},
                                                     {"STREW_WISDOM", "some file"},
                                                     {"STREW_RECORD", "some folder"},
                                                     {"STREW_CACHE", "some folder"},
                                                     {"STREW_CACHE_MODE", "must_hit"},
                                                     {"STREW_CACHE_LIMIT", "0"}};
  ASSERT_EQ(values.size(), kOptionRows.size());
  for (const auto& [variable, value] : values) {
    const Environment found = read({{variable, value}});
    EXPECT_THAT(found.warnings, IsEmpty()) << variable;
    std::vector<std::string> expected = values_in(Options{});
    expected[static_cast<size_t>(&row_of(variable) - kOptionRows.data())] = value;
    EXPECT_EQ(values_in(found.options), expected) << variable;
    EXPECT_TRUE(check_values(found.options).ok()) << variable;
  }
}

TEST(Options, ABadValueIsOneWarningAndTheDefault) {
  const auto warning = [](const std::string& variable, const std::string& value) {
    const Environment found = read({{variable, value}});
    EXPECT_EQ(values_in(found.options), values_in(Options{})) << variable;
    EXPECT_EQ(found.warnings.size(), 1u) << variable << "=" << value;
    return found.warnings.empty() ? "" : found.warnings[0];
  };
  EXPECT_EQ(warning("STREW_THREADS", "1025"),
            "environment variable STREW_THREADS: it is '1025', expected 0..1024; it counts as 0");
  EXPECT_EQ(warning("STREW_SPIN_US", "1ms"),
            "environment variable STREW_SPIN_US: it is '1ms', expected 0..60000000; it counts as 1000");
  EXPECT_EQ(warning("STREW_GDB", "yes"), "environment variable STREW_GDB: it is 'yes', expected 0 or 1; it counts as 0");
  for (const char* bad : {"-1", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "9223372036854775808", "99999999999999999999", "many"})
    for (const OptionRow& row : kOptionRows) {
      if (!row.text.empty() || is_choice(row)) continue;
      EXPECT_THAT(warning(row.variable, bad), HasSubstr(std::string(row.variable) + ": it is '" + bad + "', expected "));
    }
  for (const char* variable : {"STREW_PIN", "STREW_PERF_MAP", "STREW_JITDUMP", "STREW_GDB"}) warning(variable, "2");
  EXPECT_EQ(warning("STREW_CACHE_MODE", "read"),
            "environment variable STREW_CACHE_MODE: it is 'read', expected off, read_only, read_write or must_hit; it counts as "
            "read_write");
  for (const char* bad : {"1048575", "1073741825"}) warning("STREW_COMPILE_STACK", bad);
  EXPECT_THAT(warning("STREW_DUMP", std::string(4096, 'd')), HasSubstr("dddd...', expected a folder; it counts as not set"));
  EXPECT_THAT(warning("STREW_TARGET", std::string(4096, 't')), MatchesRegex("[^\n]{1,200}; it counts as native"));
}

TEST(Options, UnknownVariablesAreOneWarning) {
  const auto warning = [](std::vector<const char*> entries) {
    entries.push_back(nullptr);
    return unknown_variables(entries.data());
  };
  EXPECT_EQ(
      warning({"STREW_THREDS=2", "STREW=1", "PATH=/bin", "STREW_THREADS=2", "STREW_TEST_SEED=1", "STREW_UPDATE_GOLDEN=1",
               "STREW_JAX=1"}),
      "environment: no option of strew has the name 'STREW_THREDS' (did you mean STREW_THREADS?); docs/options.md lists them");
  EXPECT_THAT(warning({"STREW_CPU_BRAND=2", "STREW_VERBOS"}),
              HasSubstr(" 'STREW_CPU_BRAND', 'STREW_VERBOS' (did you mean STREW_VERBOSE?);"));
  EXPECT_EQ(warning({"STREW_VERBOSE=off"}), "");
  EXPECT_EQ(unknown_variables(nullptr), "");
}

TEST(Options, WhoSetsTheLevelWrongReadsThat) {
  const Environment found = read({{"STREW_VERBOSE", "loud"}});
  EXPECT_EQ(found.options.verbose, LogLevel::warn);
  EXPECT_THAT(found.warnings, ElementsAre("environment variable STREW_VERBOSE: it is 'loud', expected off, error, warn, cache, "
                                          "dispatch, compile or dump; it counts as warn"));
}

TEST(Options, CheckNamesFieldValueAndRange) {
  EXPECT_TRUE(check(Options{}).ok());
  EXPECT_TRUE(check(Options::from_environment()).ok());
  const auto message = [](auto Options::*field, auto value) {
    Options options;
    options.*field = value;
    const Status status = check(options);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    return status.message();
  };
  EXPECT_EQ(message(&Options::threads, 1025), "options: threads is 1025, expected 0..1024");
  EXPECT_EQ(message(&Options::threads, -1), "options: threads is -1, expected 0..1024");
  EXPECT_EQ(message(&Options::spin_microseconds, -5), "options: spin_microseconds is -5, expected 0..60000000");
  EXPECT_EQ(message(&Options::cache_bytes, -1), "options: cache_bytes is -1, expected 0..9223372036854775807");
  EXPECT_EQ(message(&Options::compile_threads, 2000), "options: compile_threads is 2000, expected 0..1024");
  EXPECT_EQ(message(&Options::compile_stack_bytes, 4096), "options: compile_stack_bytes is 4096, expected 1048576..1073741824");
  EXPECT_EQ(message(&Options::verbose, static_cast<LogLevel>(9)),
            "options: verbose is number 9, expected off, error, warn, cache, dispatch, compile or dump");
  EXPECT_EQ(message(&Options::compile, static_cast<CompileMode>(3)),
            "options: compile is number 3, expected blocking, background or must_hit");
  EXPECT_EQ(message(&Options::exact_shapes, -1), "options: exact_shapes is -1, expected 0..1048576");
  EXPECT_EQ(message(&Options::verify_every, uint64_t{1} << 63),
            "options: verify_every is 9223372036854775808, expected 0..9223372036854775807");
  EXPECT_THAT(message(&Options::dump_dir, std::string(5000, 'y')), HasSubstr("yyy...', expected a folder, 0..4095 bytes"));
  EXPECT_THAT(message(&Options::dump_dir, std::string("a\0b", 3)), StartsWith("options: dump_dir is 'a"));
  EXPECT_EQ(message(&Options::target, std::string()), "options: target is '', expected a target, as for --target, 1..4095 bytes");
  EXPECT_THAT(message(&Options::target, std::string("z80")), StartsWith("options: target: target 'z80': unknown CPU 'z80'"));
  EXPECT_THAT(message(&Options::target, std::string("npu-a5")), StartsWith("options: target: target 'npu-a5': its architecture"));
}

TEST(Options, NativeStandsForAnotherTarget) {
  EXPECT_EQ(with_native("native", "znver3"), "znver3");
  EXPECT_EQ(with_native("native-avx+bmi", "znver3+fma"), "znver3+fma-avx+bmi");
  EXPECT_EQ(with_native("native", "native"), "native");
  for (const char* other : {"", "nativ", "natively", "x86-64-v2", "npu-a5"}) EXPECT_EQ(with_native(other, "znver3"), other);
  EXPECT_EQ(print(process_target()), print(*parse_target("native")));
}

// `strew --help` prints the same table (tests/error/cli_test.cc).
TEST(Options, TheDocumentHasTheTable) {
  const std::string document = text_of_file("docs/options.md");
  for (const OptionRow& row : kOptionRows) {
    const std::string initial = text_of(row, Options{});
    const std::string line = "| `" + std::string(row.variable) + "` | `" + std::string(row.field) + "` | " + values_of(row) +
                             " | " + (initial.empty() ? "not set" : initial) + " | " + std::string(row.meaning) + " |\n";
    EXPECT_THAT(document, HasSubstr(line));
  }
  size_t rows = 0;
  for (size_t at = 0; (at = document.find("\n| `STREW_", at)) != std::string::npos; ++at) ++rows;
  EXPECT_EQ(rows, kOptionRows.size());
}

}  // namespace
}  // namespace strew
