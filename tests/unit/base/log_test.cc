// The log: which level has which lines, that levels are cumulative, and that a sink gets what was said before it was set.
#include "strew/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/pipeline.h"
#include "base/log.h"
#include "runtime/build_job.h"
#include "runtime/cache.h"
#include "runtime/kernel_state.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

constexpr LogLevel kLevels[] = {LogLevel::off,      LogLevel::error,   LogLevel::warn, LogLevel::cache,
                                LogLevel::dispatch, LogLevel::compile, LogLevel::dump};

std::mutex mutex;
std::vector<std::string> lines;

void keep(LogLevel level, std::string_view line) {
  const std::lock_guard lock(mutex);
  lines.push_back(std::string(name(level)) + ": " + std::string(line));
}

std::vector<std::string> taken() {
  const std::lock_guard lock(mutex);
  return std::exchange(lines, {});
}

/// Listens at a level, and no more when it goes out of scope.
struct Listening {
  explicit Listening(LogLevel level) {
    set_log(keep, level);
    taken();
  }
  ~Listening() { set_log(nullptr); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
};

const std::string kRest =
    " indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1";
Op rows(const std::string& more = "") { return test::op_of("strew1.scatter(operand=f32[6,4]" + kRest + more + ")"); }

KernelOptions on(BackendChoice backend) {
  KernelOptions options;
  options.backend = backend;
  return options;
}

/// Buffers for calls of rows().
struct Buffers {
  std::vector<float> operand = std::vector<float>(24), result = std::vector<float>(24), updates = std::vector<float>(12);
  std::vector<int32_t> indices = {1, 2, 3};

  test::Views into(std::vector<float>& out) {
    return test::Views()
        .add(out.data(), DType::f32, {6, 4})
        .add(operand.data(), DType::f32, {6, 4})
        .add(indices.data(), DType::i32, {3})
        .add(updates.data(), DType::f32, {3, 4});
  }
};

TEST(Log, LevelsAreCumulative) {
  for (const LogLevel at : kLevels) {
    const Listening listening(at);
    for (const LogLevel level : kLevels) {
      EXPECT_EQ(logs(level), level != LogLevel::off && level <= at) << name(level) << " at " << name(at);
      log(level, "a line");
      const std::vector<std::string> expected =
          level == LogLevel::off || level > at ? std::vector<std::string>{} : std::vector{std::string(name(level)) + ": a line"};
      EXPECT_EQ(taken(), expected) << "at " << name(at);
    }
  }
}

/// Lines of every level but warn and dump: a request that is missed, built, run with a copy, found again by another spelling, and
/// one whose build ends with an internal error.
void make_lines() {
  Buffers buffers;
  Runtime runtime;
  const auto kernel = runtime.get(rows(), on(BackendChoice::llvm));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  ASSERT_TRUE(kernel->run(buffers.into(buffers.operand)).ok());
  ASSERT_TRUE(kernel->run(buffers.into(buffers.result)).ok());
  const auto interpreted = runtime.get(rows(), on(BackendChoice::reference));
  ASSERT_TRUE(interpreted.ok()) << interpreted.status().message();
  ASSERT_TRUE(interpreted->run(buffers.into(buffers.operand)).ok());
  ASSERT_TRUE(runtime.get(rows(" combiner=expr expr={%0=update(0):f32;return %0}"), on(BackendChoice::reference)).ok());
  KernelCache broken([](BuildJob&) -> Expected<Kernel> { return internal_error("a bug"); }, {});
  ASSERT_FALSE(broken.get(*PreparedOp::of(rows())).ok());
}

TEST(Log, EachLevelHasItsOwnLinesAndThoseBelow) {
  const auto matcher_of = [](const std::string& text) { return MatchesRegex(text); };
  const std::vector<std::pair<LogLevel, std::string>> all = {
      {LogLevel::cache, "cache: miss: op strew1\\.scatter\\(.*"},
      {LogLevel::compile, "compile: built strew_[0-9a-f]+: backend llvm, schedule strategy=sequential.* us; op strew1.*"},
      {LogLevel::dispatch, "dispatch: strew_[0-9a-f]+: the whole operand was copied to the result, 96 bytes"},
      {LogLevel::cache, "cache: miss: op strew1\\.scatter\\(.*"},
      {LogLevel::compile, "compile: built strew_[0-9a-f]+: backend reference, .*"},
      {LogLevel::compile, "compile: strew_[0-9a-f]+ is interpreted, as the request says"},
      {LogLevel::dispatch, "dispatch: strew_[0-9a-f]+: the call is interpreted"},
      {LogLevel::cache, "cache: miss: op strew1\\.scatter\\(.*"},
      {LogLevel::cache, "cache: hit: strew_[0-9a-f]+ was built for another spelling of the op or number of threads"},
      {LogLevel::cache, "cache: miss: op strew1\\.scatter\\(.*"},
      {LogLevel::error, "error: not built: a bug; op strew1\\.scatter\\(.*"},
  };
  for (const LogLevel at : kLevels) {
    const Listening listening(at);
    make_lines();
    std::vector<testing::Matcher<std::string>> expected;
    for (const auto& [level, text] : all)
      if (level <= at) expected.emplace_back(matcher_of(text));
    EXPECT_THAT(taken(), testing::ElementsAreArray(expected)) << "at " << name(at);
  }
}

TEST(Log, SaysWhatWasForgotten) {
  Runtime runtime;
  const std::string symbol = runtime.get(rows(), on(BackendChoice::reference))->symbol();
  const Listening listening(LogLevel::cache);
  // The compile thread refers to the kernel until it has left the job.
  while (runtime.stats().kernels > 0) runtime.set_capacity(1);
  EXPECT_THAT(taken(), ElementsAre(MatchesRegex("cache: evicted " + symbol + ": the kernels take [0-9]+ bytes, .* is 1")));
}

TEST(Log, SaysWhyNoBackendMakesCode) {
  const auto op = parse_op(
      "strew1.scatter(operand=f8e8m0[4] indices=i64[3] updates=f8e8m0[3] extras=[per_position:bool[3]] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f8e8m0; %1=current(0):f8e8m0; "
      "%2=extra(0):bool; %3=select(%2,%0,%1):f8e8m0; return %3} oob=skip_window)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  auto compiled = compile(*VerifiedOp::of(*op), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_TRUE(compiled->backend->interprets());
  const Listening listening(LogLevel::compile);
  log_built(BuiltKernel(std::move(*compiled)));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("backend reference"),
                                   AllOf(HasSubstr("is interpreted, because no backend makes code for it: backend llvm: node "),
                                         HasSubstr("has dtype f8e8m0"))));
}

TEST(Log, AFailedBuildIsNoErrorOfTheLibrary) {
  const Listening listening(LogLevel::dump);
  log_not_built(*PreparedOp::of(rows()), unsupported("not this one"));
  EXPECT_THAT(taken(), ElementsAre(MatchesRegex("compile: not built: not this one; op strew1.*")));
}

TEST(Log, KeepsWarningsUntilSomebodyListens) {
  set_log(nullptr);
  log_or_keep_warning("first");
  log_or_keep_warning("second");
  set_log(keep, LogLevel::error);
  EXPECT_THAT(taken(), IsEmpty());
  set_log(keep, LogLevel::warn);
  EXPECT_THAT(taken(), ElementsAre("warn: first", "warn: second"));
  log_or_keep_warning("third");
  EXPECT_THAT(taken(), ElementsAre("warn: third"));
  set_log(keep, LogLevel::warn);
  EXPECT_THAT(taken(), IsEmpty());
  set_log(nullptr);
}

TEST(Log, ALevelThatDoesNotExistIsTheHighest) {
  set_log(keep, static_cast<LogLevel>(255));
  EXPECT_TRUE(logs(LogLevel::dump));
  log(LogLevel::dump, "a line");
  EXPECT_THAT(taken(), ElementsAre("dump: a line"));
  set_log(nullptr);
  EXPECT_FALSE(logs(LogLevel::error));
}

}  // namespace
}  // namespace strew
