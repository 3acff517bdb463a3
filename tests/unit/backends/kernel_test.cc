// Kernels end to end: both backends, every strategy and thread count with the same bits, policy error before the first write, the
// caller's rounding mode, concurrent calls, forced choices that cannot be honoured, and the replay on the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <numeric>
#include <thread>

#include "backends/pipeline.h"
#include "base/cpus.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/kernel_state.h"
#include "schedules/target.h"
#include "strew/runtime.h"
#include "tests/support/bits.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::op_of;
using test::Views;
using testing::HasSubstr;
using testing::StartsWith;

KernelOptions with(const std::string& backend, const std::string& schedule = "", int threads = 0) {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  options.threads = threads;
  return options;
}

/// A table of rows and `count` updates of it, with inexact sums and repeated rows.
struct Rows {
  Rows(int64_t rows, int64_t width, int64_t count) : rows(rows), width(width), count(count) {
    table.resize(static_cast<size_t>(rows * width));
    updates.resize(static_cast<size_t>(count * width));
    indices.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < table.size(); ++i) table[i] = 0.1f * static_cast<float>(i % 97);
    for (size_t i = 0; i < updates.size(); ++i) updates[i] = 1.0f / static_cast<float>(1 + i % 31);
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 2654435761u % static_cast<size_t>(rows));
  }
  std::string op(const std::string& rest) const {
    const std::string r = std::to_string(rows), w = std::to_string(width), n = std::to_string(count);
    return "strew1.scatter(operand=f32[" + r + "," + w + "] indices=i32[" + n + "] updates=f32[" + n + "," + w +
           "] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place" +
           rest + ")";
  }
  Views views(std::vector<float>& result) {
    return Views()
        .add(result.data(), DType::f32, {rows, width})
        .add(indices.data(), DType::i32, {count})
        .add(updates.data(), DType::f32, {count, width});
  }
  /// The table after one call of a kernel made with `options`.
  std::vector<float> run(const std::string& rest, const KernelOptions& options, Runtime& runtime) {
    std::vector<float> result = table;
    const auto kernel = runtime.get(op_of(op(rest)), options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    if (kernel.ok()) {
      const Status status = kernel->run(views(result));
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return result;
  }

  int64_t rows, width, count;
  std::vector<float> table, updates;
  std::vector<int32_t> indices;
};

// Copies of this size go past the caches, in whole vectors: sizes that are none, and results off any alignment.
TEST(Kernel, LargeOperandsAreCopiedWhole) {
  Runtime runtime;
  for (const int64_t width : {64, 61}) {
    Rows data(140'000, width, 3);
    std::string text = data.op("");
    text.replace(text.find("init=in_place"), 13, "init=copy");
    const auto kernel = runtime.get(op_of(text), with("llvm"));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> expected = data.table;
    for (int64_t i = 0; i < data.count * width; ++i)
      expected[static_cast<size_t>(data.indices[static_cast<size_t>(i / width)] * width + i % width)] =
          data.updates[static_cast<size_t>(i)];
    for (const size_t offset : {0, 1, 5}) {
      std::vector<float> buffer(expected.size() + 16, -1.0f);
      Views views;
      views.add(buffer.data() + offset, DType::f32, {data.rows, width}).add(data.table.data(), DType::f32, {data.rows, width});
      views.add(data.indices.data(), DType::i32, {data.count}).add(data.updates.data(), DType::f32, {data.count, width});
      const Status status = kernel->run(views);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), buffer.begin() + static_cast<std::ptrdiff_t>(offset)));
      EXPECT_EQ(buffer[offset + expected.size()], -1.0f);
    }
  }
}

TEST(Kernel, BackendsAgreeBitForBit) {
  Runtime runtime;
  Rows data(50, 37, 400);
  for (const char* rest : {" combiner=add", " combiner=mul oob=error", "", " combiner=max oob=clamp"})
    EXPECT_EQ(data.run(rest, with("llvm"), runtime), data.run(rest, with("reference"), runtime)) << rest;
  EXPECT_EQ(runtime.get(op_of(data.op("")), {})->backend(), "llvm");
}

TEST(Kernel, AnyScheduleGivesTheSameBits) {
  Runtime runtime;
  Rows data(300, 70, 4000);
  const std::vector<float> expected = data.run(" combiner=add", with("reference"), runtime);
  for (const char* schedule : {"strategy=sequential", "strategy=window,threads=2",
                               "strategy=window,threads=5,unroll=1,vector_bytes=16", "strategy=window,threads=64,prefetch=8"})
    EXPECT_EQ(data.run(" combiner=add", with("llvm", schedule), runtime), expected) << schedule;

  Rows distinct(5000, 16, 5000);
  std::iota(distinct.indices.rbegin(), distinct.indices.rend(), 0);
  const std::string unique = " combiner=add unique_indices=true";
  const std::vector<float> right = distinct.run(unique, with("reference"), runtime);
  for (const char* schedule : {"strategy=positions,threads=2", "strategy=positions,threads=7", "strategy=window,threads=3"})
    EXPECT_EQ(distinct.run(unique, with("llvm", schedule), runtime), right) << schedule;
}

TEST(Kernel, InitCopyAndFillInChunks) {
  Runtime runtime;
  const std::string shape =
      "strew1.scatter(operand=f32[300,1000] indices=i32[2] updates=f32[2,1000] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=";
  std::vector<float> operand(300000), updates(2000, 0.3f);
  std::iota(operand.begin(), operand.end(), 0.0f);
  const int32_t indices[] = {7, 7};
  for (const bool copy : {true, false}) {
    std::vector<std::vector<float>> results;
    for (const char* backend : {"reference", "llvm"}) {
      std::vector<float>& result = results.emplace_back(300000, -1.0f);
      Views views;
      views.add(result.data(), DType::f32, {300, 1000});
      if (copy) views.add(operand.data(), DType::f32, {300, 1000});
      views.add(indices, DType::i32, {2}).add(updates.data(), DType::f32, {2, 1000});
      const Op op = op_of(shape + (copy ? "copy)" : "fill fill=2.5:f32)"));
      const auto kernel = runtime.get(op, with(backend, std::string(backend) == "llvm" ? "strategy=window,threads=4" : ""));
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      ASSERT_TRUE(kernel->run(views).ok());
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(Kernel, ErrorPolicyReportsTheFirstBadIndexAndWritesNothing) {
  Runtime runtime;
  Rows data(1000, 4, 60000);
  data.indices[41234] = -1;
  data.indices[50000] = 1000;
  for (const char* backend : {"reference", "llvm"}) {
    for (const char* schedule : {"", "strategy=window,threads=2"}) {
      const auto kernel = runtime.get(op_of(data.op(" oob=error")), with(backend, schedule));
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      std::vector<float> result = data.table;
      BadIndex bad_index;
      const Status status = kernel->run(data.views(result), &bad_index);
      EXPECT_EQ(status.code(), Code::out_of_bounds);
      EXPECT_EQ(status.message(),
                "index out of bounds: update position [41234] (linear 41234), component 0: value -1, expected 0 <= v <= 999");
      EXPECT_EQ(bad_index.position, 41234);
      EXPECT_EQ(bad_index.component, 0);
      EXPECT_EQ(bad_index.value, -1);
      EXPECT_EQ(bad_index.bound, 999);
      EXPECT_EQ(result, data.table);
    }
  }
}

TEST(Kernel, CallersRoundingModeDoesNotMatterAndComesBack) {
  Runtime runtime;
  Rows data(20, 33, 200);
  const std::vector<float> expected = data.run(" combiner=add", with("reference"), runtime);
  for (const char* backend : {"reference", "llvm"}) {
    for (const int mode : {FE_UPWARD, FE_TOWARDZERO}) {
      std::vector<float> result = data.table;
      const auto kernel = runtime.get(op_of(data.op(" combiner=add")), with(backend));
      const Views views = data.views(result);
      std::fesetround(mode);
      const Status status = kernel->run(views);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(result, expected) << backend;
    }
  }
}

TEST(Kernel, ConcurrentCallsOfOneKernel) {
  Runtime runtime;
  Rows data(400, 64, 3000);
  const std::vector<float> expected = data.run(" combiner=add", with("reference"), runtime);
  const auto kernel = runtime.get(op_of(data.op(" combiner=add")), with("llvm", "strategy=window,threads=4"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        std::vector<float> result = data.table;
        if (!kernel->run(data.views(result)).ok() || result != expected) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Kernel, AnEmptyHandleIsAnError) {
  EXPECT_EQ(Kernel().run({}).message(), "kernel: an empty handle, expected one from Runtime::get");
}

TEST(Kernel, OutlivesItsRuntime) {
  Rows data(20, 8, 5);
  Kernel kernel;
  {
    Runtime runtime;
    kernel = *runtime.get(op_of(data.op("")), with("llvm"));
  }
  std::vector<float> result = data.table;
  EXPECT_TRUE(kernel.run(data.views(result)).ok());
  EXPECT_NE(result, data.table);
}

TEST(Kernel, DynamicDimsOnBothBackends) {
  Runtime runtime;
  const std::string text =
      "strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,?] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=skip_window)";
  for (const int64_t width : {1, 3, 64, 200}) {
    Rows data(30, width, 100);
    std::vector<float> results[2] = {data.table, data.table};
    int at = 0;
    for (const char* backend : {"reference", "llvm"}) {
      const auto kernel = runtime.get(op_of(text), with(backend));
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      const Status status = kernel->run(data.views(results[at++]));
      EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_EQ(results[0], results[1]) << width;
  }
}

TEST(Kernel, ForcedChoicesThatCannotBeHonouredAreErrors) {
  Runtime runtime;
  Rows data(20, 8, 5);
  const auto message = [&](const std::string& rest, const KernelOptions& options) {
    const auto kernel = runtime.get(op_of(data.op(rest)), options);
    return kernel.ok() ? "built by " + std::string(kernel->backend()) : kernel.status().message();
  };
  EXPECT_EQ(parse_backend("gpu").status().message(),
            "backend: 'gpu', expected one of auto, llvm, halide, portable, reference, npu-a3, npu-a5");
  KernelOptions npu = with("llvm");
  npu.target = test::target("npu-a5");
  EXPECT_EQ(compile(op_of(data.op("")), npu).status().message(),
            "backend llvm: target is npu-a5, expected backend auto or npu-a5");
  EXPECT_THAT(message("", with("auto", "strategy=positions")),
              StartsWith("schedule: strategy positions: two positions may touch"));
  EXPECT_EQ(message("", with("auto", "", -1)), "threads: -1, expected 0..1024");
  KernelOptions odd = with("auto");
  odd.schedule.unroll = 3;
  EXPECT_EQ(message("", odd), "schedule: unroll=3, expected 1, 2, 4 or 8");
}

/// What a program may put into the struct, and no text stands for.
TEST(Kernel, OptionsThatNoTextStandsForAreErrors) {
  Runtime runtime;
  Rows data(20, 8, 5);
  const auto message = [&](const auto& change) {
    KernelOptions options;
    change(options);
    const auto kernel = runtime.get(op_of(data.op("")), options);
    const auto compiled = compile(op_of(data.op("")), options);
    EXPECT_EQ(kernel.status().message(), compiled.status().message());
    EXPECT_EQ(kernel.status().code(), Code::invalid_argument);
    return kernel.ok() ? "built by " + std::string(kernel->backend()) : kernel.status().message();
  };
  const auto at_target = [&](const auto& change) {
    return message([&](KernelOptions& o) {
      o.target = test::target("x86-64");
      change(*o.target);
    });
  };
  const auto number = static_cast<BackendChoice>(std::size(kBackendNames));
  EXPECT_EQ(name(number), "invalid");
  EXPECT_EQ(message([&](KernelOptions& o) { o.backend = number; }),
            "backend: number 7, expected one of auto, llvm, halide, portable, reference, npu-a3, npu-a5");
  EXPECT_EQ(message([](KernelOptions& o) { o.threads = 1025; }), "threads: 1025, expected 0..1024");
  EXPECT_EQ(message([](KernelOptions& o) { o.schedule.strategy = static_cast<Strategy>(99); }),
            "schedule: strategy=99, expected sequential, positions, window, owner, radix, runs, clip or private");
  EXPECT_EQ(message([](KernelOptions& o) { o.schedule.prefetch = -1; }), "schedule: prefetch=-1, expected 0..256");
  EXPECT_EQ(at_target([](Target& t) { t.cores = 0; }), "target: cores is 0, expected 1 or more");
  EXPECT_THAT(at_target([](Target& t) { t = Target{}; }), StartsWith("target: cpu is '', expected one of x86-64, "));
  EXPECT_EQ(at_target([](Target& t) { t.arch = "npu"; }), "target: arch is 'npu', expected x86_64, as of cpu x86-64");
}

/// Targets that this machine cannot run: other architectures, and CPUs and features it lacks (some are lacking on every machine).
std::vector<std::string> foreign_targets() {
  std::vector<std::string> list;
  for (const CpuInfo& cpu : known_cpus())
    if (!machine_can_run(*parse_target(cpu.name)).ok()) list.emplace_back(cpu.name);
  for (const FeatureInfo& feature : known_features()) {
    const std::string text = "native+" + std::string(feature.name);
    if (feature.arch != machine().cpu->arch) continue;
    if (!machine_can_run(*parse_target(text)).ok()) list.push_back(text);
  }
  return list;
}

TEST(Kernel, TargetsThatTheMachineLacksAreRefusedButCompiled) {
  Runtime runtime;
  Rows data(20, 8, 5);
  const Op op = op_of(data.op(""));
  const std::vector<std::string> targets = foreign_targets();
  ASSERT_GE(targets.size(), 2u);  // no machine is all of them
  for (const std::string& target : targets) {
    KernelOptions options;
    options.target = test::target(target);
    const std::string expected = machine_can_run(*parse_target(target)).message();
    const auto kernel = runtime.get(op, options);
    ASSERT_FALSE(kernel.ok()) << target;
    EXPECT_EQ(kernel.status().code(), Code::unsupported);
    EXPECT_EQ(kernel.status().message(), expected);
  }
  // An object that was made all the same is refused where it would be linked.
  KernelOptions options = with("llvm");
  for (const std::string& target : targets) {
    options.target = test::target(target);
    auto compiled = compile(op, options);
    if (parse_target(target)->arch != detect_target().arch) continue;
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto kernel = link_kernel(std::move(*compiled));
    ASSERT_FALSE(kernel.ok()) << target;
    EXPECT_EQ(kernel.status().message(), machine_can_run(*parse_target(target)).message());
    break;  // one compilation is enough
  }
  EXPECT_EQ(runtime.stats().built, 0u);
}

/// The state of a handle that shares its kernel with no other one.
Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor) {
  STREW_ASSIGN(std::shared_ptr<const BuiltKernel> built, link_kernel(std::move(compiled)));
  STREW_ASSIGN(PreparedOp op, PreparedOp::of(*built->compiled.op));
  const int threads = built->compiled.threads;
  return make_state(std::move(built), std::move(op), threads, std::move(executor));
}

/// A kernel as make_kernel leaves it, so that a test can break it.
/// Puts another function in an entry's place: in a copy of the descriptor, because that of the object cannot be written.
void replace_entry(Kernel::State& state, int kind, strew_entry entry) {
  auto copy = std::make_shared<strew_kernel>(state.callable->kernel);
  copy->entries[kind] = entry;
  auto callable = Callable::make(*copy, state.callable->executor, 1);
  ASSERT_TRUE(callable.ok()) << callable.status().message();
  state.callable = std::move(*callable);
  auto broken = std::make_shared<BuiltKernel>(*state.built);
  broken->descriptor = copy;
  state.built = broken;
}

std::shared_ptr<Kernel::State> state_of(const std::string& text) {
  auto compiled = compile(op_of(text), with("llvm"));
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  auto state = make_kernel(std::move(*compiled), std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(state.ok()) << state.status().message();
  return *state;
}

TEST(Replay, AgreesWithARightKernelAndCatchesAWrongOne) {
  Rows data(20, 8, 50);
  const auto state = state_of(data.op(" combiner=add oob=error"));
  state->verify_every = 1;
  state->is_plain = false;
  std::vector<float> result = data.table;
  EXPECT_TRUE(Kernel(state).run(data.views(result)).ok());

  replace_entry(*state, STREW_ENTRY_range, [](const strew_args* args, int64_t, int64_t, strew_fault*) -> int32_t {
    static_cast<float*>(args->data[0])[9] += 1.0f;
    return STREW_OK;
  });
  Status status = Kernel(state).run(data.views(result));
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_THAT(status.message(), StartsWith("STREW_VERIFY: backend llvm and the reference differ: result 0 at element "));
  EXPECT_THAT(status.message(), HasSubstr("op strew1.scatter(operand=f32[20,8]"));

  replace_entry(*state, STREW_ENTRY_check, [](const strew_args*, int64_t, int64_t, strew_fault*) -> int32_t { return STREW_OK; });
  data.indices[3] = 99;
  status = Kernel(state).run(data.views(result));
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_THAT(status.message(), HasSubstr("'' against 'index out of bounds: update position [3]"));
}

// A permutation of all rows into another buffer: the operand is not even read. Without a promise or a check it is copied first.
TEST(Kernel, OperandsThatAreOverwrittenWholeAreNotCopied) {
  Rows data(32, 8, 32);
  for (size_t i = 0; i < data.indices.size(); ++i) data.indices[i] = static_cast<int32_t>(i * 5 % 32);
  const auto text = [&](const std::string& rest) {
    std::string op = data.op(rest);
    return op.replace(op.find(" init=in_place"), std::string(" init=in_place").size(), "");
  };
  const auto inits = [&](const std::string& rest) {
    static int calls;
    calls = 0;
    const auto state = state_of(text(rest));
    replace_entry(*state, STREW_ENTRY_init,
                  [](const strew_args*, int64_t, int64_t, strew_fault*) -> int32_t { return ++calls, STREW_OK; });
    std::vector<float> result(data.table.size(), -1.0f);
    Views views = Views()
                      .add(result.data(), DType::f32, {32, 8})
                      .add(data.table.data(), DType::f32, {32, 8})
                      .add(data.indices.data(), DType::i32, {32})
                      .add(data.updates.data(), DType::f32, {32, 8});
    EXPECT_TRUE(Kernel(state).run(views).ok()) << rest;
    for (size_t row = 0; row < 32; ++row)
      for (size_t c = 0; c < 8; ++c)
        EXPECT_EQ(result[static_cast<size_t>(data.indices[row]) * 8 + c], data.updates[row * 8 + c]) << rest;
    return calls;
  };
  EXPECT_EQ(inits(" unique_indices=true oob=error"), 0);
  EXPECT_EQ(inits(" unique_indices=true oob=undefined"), 0);
  EXPECT_EQ(inits(" unique_indices=true oob=skip_window"), 1);
  EXPECT_EQ(inits(" unique_indices=true oob=clamp"), 1);
  EXPECT_EQ(inits(" oob=error"), 1);
}

TEST(Linker, NamesAMissingSymbolInItsStatus) {
  auto compiled = compile(op_of(Rows(20, 8, 5).op("")), with("llvm"));
  ASSERT_TRUE(compiled.ok());
  compiled->symbol = "strew_absent";
  testing::internal::CaptureStderr();
  const auto state = make_kernel(std::move(*compiled), std::make_shared<ThreadPool>(1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.status().code(), Code::internal);
  EXPECT_THAT(state.status().message(), HasSubstr("strew_absent"));
}

TEST(SameBits, NansAreOneClassOnlyWhereComputed) {
  const uint32_t quiet[] = {0x7fc00000, 0x80000000}, other[] = {0xffc00001, 0};
  EXPECT_TRUE(test::same_bits(DType::f32, quiet, other, 0, true));
  EXPECT_FALSE(test::same_bits(DType::f32, quiet, other, 0, false));
  EXPECT_FALSE(test::same_bits(DType::f32, quiet, other, 1, true));  // -0 is not 0
}

}  // namespace
}  // namespace strew
