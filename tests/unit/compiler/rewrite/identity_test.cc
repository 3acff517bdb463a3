// What kernels are told apart by: spellings of one op share code, symbol and cache entry where whatever a call binds and is told is the same,
// and only there; threads belong to the handle; and an object depends on op, schedule, target and generator, not on the machine that builds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/halide/can_build/can_build.h"
#include "backends/pipeline.h"
#include "base/machine.h"
#include "compiler/op/ordered.h"
#include "compiler/rewrite/rewrites.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/paths.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::op_of;
using testing::HasSubstr;

const std::string kDims =
    " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place";

std::string scatter(const std::string& rest, const std::string& indices = "i32[3]", const std::string& dtype = "f32") {
  return "strew1.scatter(operand=" + dtype + "[20,8] indices=" + indices + " updates=" + dtype + "[3,8]" + kDims + rest + ")";
}

std::string gather(const std::string& rest) {
  return "strew1.gather(operand=f32[20,8] indices=i32[3] result=f32[3,8] offset_dims=[1] collapsed_slice_dims=[0] "
         "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,8]" +
         rest + ")";
}

std::string region(const std::string& nodes) { return " combiner=expr expr={" + nodes + "}"; }

Kernel get(Runtime& runtime, const std::string& text, const KernelOptions& options = {}) {
  const auto kernel = runtime.get(op_of(text), options);
  EXPECT_TRUE(kernel.ok()) << text << ": " << kernel.status().message();
  return kernel.ok() ? *kernel : Kernel();
}

/// How many kernels these texts are.
uint64_t kernels(const std::vector<std::string>& texts, const std::string& backend = "auto") {
  Runtime runtime;
  KernelOptions options;
  options.backend = test::backend(backend);
  for (const std::string& text : texts) get(runtime, text, options);
  return runtime.stats().built;
}

TEST(Identity, SpellingsOfOneOpShareAKernel) {
  const std::string add = scatter(" combiner=add");
  const std::vector<std::vector<std::string>> groups = {
      // The order of the fields, and defaults that are spelled out.
      {add,
       "strew1.scatter(indices=i32[3] operand=f32[20,8] init=in_place combiner=add updates=f32[3,8] index_vector_dim=1 "
       "scatter_dims_to_operand_dims=[0] inserted_window_dims=[0] update_window_dims=[1])",
       scatter(" combiner=add oob=skip_element order=in_order accumulate=native unique_indices=false input_batching_dims=[]")},
      // A region that says what a name says, in other orders of its nodes, with nodes that are written twice or not used.
      {add, scatter(region("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2")),
       scatter(region("%0=update(0):f32; %1=current(0):f32; %2=add(%1,%0):f32; return %2")),
       scatter(region("%0=update(0):f32; %1=current(0):f32; %2=add(%0,%1):f32; return %2")),
       scatter(
           region("%0=constant(1):f32; %1=update(0):f32; %2=current(0):f32; %3=current(0):f32; %4=add(%3,%1):f32; return %4"))},
      // With its arguments in the other order, where the operator commutes: the bits of a NaN that it computes are unspecified.
      {scatter(" combiner=max"), scatter(region("%0=current(0):f32; %1=update(0):f32; %2=maximum(%1,%0):f32; return %2"))},
      {scatter(""), scatter(" combiner=assign"), scatter(region("%0=update(0):f32; return %0"))},
      {gather(""), gather(" expr={%0=current(0):f32; return %0}")},
      // What changes nothing: negative indices where there are none, a promise that one position cannot break.
      {scatter(" combiner=add oob=error", "u32[3]"), scatter(" combiner=add oob=error normalize_negative=true", "u32[3]")},
      {scatter(" combiner=add oob=wrap"), scatter(" combiner=add oob=wrap normalize_negative=true")},
      // Any expression, in any order of its nodes.
      {scatter(region("%0=current(0):f32; %1=update(0):f32; %2=tanh(%1):f32; %3=add(%0,%2):f32; return %3")),
       scatter(region("%0=update(0):f32; %1=tanh(%0):f32; %2=current(0):f32; %3=add(%2,%1):f32; return %3"))},
  };
  for (const std::vector<std::string>& group : groups) {
    EXPECT_EQ(kernels(group), 1U) << group.back();
    EXPECT_EQ(kernels(group, "reference"), 1U) << group.back();
  }
}

TEST(Identity, WhatACallBindsOrIsToldIsNotShared) {
  const std::string add = scatter(" combiner=add oob=error");
  const std::vector<std::vector<std::string>> groups = {
      // Indices of another rank, though they hold the same numbers.
      {add, scatter(" combiner=add oob=error", "i32[3,1]")},
      // One plan, which moves 32 bits, but tensors of another dtype to bind and to name.
      {scatter(""), scatter("", "i32[3]", "i32"), scatter("", "i32[3]", "u32")},
      // Another meaning.
      {add, scatter(" combiner=mul oob=error"), scatter(" combiner=add oob=clamp"),
       scatter(" combiner=add oob=error normalize_negative=true"), scatter(" combiner=add oob=error", "i64[3]")},
  };
  for (const std::vector<std::string>& group : groups) EXPECT_EQ(kernels(group), group.size()) << group.back();
}

TEST(Identity, MessagesAreRightForEverySpelling) {
  Runtime runtime;
  const std::string region_text = region("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2") + " oob=error";
  const Kernel first = get(runtime, scatter(region_text)), second = get(runtime, scatter(" combiner=add oob=error"));
  EXPECT_EQ(&first.descriptor(), &second.descriptor());
  EXPECT_EQ(first.symbol(), second.symbol());
  EXPECT_EQ(first.descriptor().identity, second.op_text());
  EXPECT_THAT(first.op_text(), HasSubstr("combiner=expr"));
  std::vector<float> table(160, 0), updates(24, 1);
  std::vector<int32_t> indices = {3, 20, 3};
  const auto views = test::Views()
                         .add(table.data(), DType::f32, {20, 8})
                         .add(indices.data(), DType::i32, {3})
                         .add(updates.data(), DType::f32, {3, 8});
  for (const Kernel& kernel : {first, second}) {
    EXPECT_EQ(kernel.run(views).message(),
              "index out of bounds: update position [1] (linear 1), component 0: value 20, expected 0 <= v <= 19");
  }
  const auto other = test::Views()
                         .add(table.data(), DType::i32, {20, 8})
                         .add(indices.data(), DType::i32, {3})
                         .add(updates.data(), DType::f32, {3, 8});
  EXPECT_THAT(first.run(other).message(), HasSubstr("result 0"));
  EXPECT_EQ(first.run(other).message(), second.run(other).message());
}

TEST(Identity, AGraphGetsItsNameHoweverItIsSpelled) {
  const auto applied = [](const std::string& text) {
    const auto canonical = canonicalise(test::verified(op_of(text)));
    EXPECT_TRUE(canonical.ok()) << text;
    std::string names = std::string(print(*canonical->identity).find(" combiner=add") != std::string::npos ? "add" : "expr");
    for (const Rewrite* rewrite : canonical->applied) names += " " + std::string(rewrite->name);
    return names;
  };
  EXPECT_EQ(applied(scatter(" combiner=add")), "add");
  EXPECT_EQ(applied(scatter(region("%0=update(0):f32; %1=current(0):f32; %2=add(%1,%0):f32; return %2"))), "add name_combiner");
  EXPECT_EQ(applied(scatter(region("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2"))), "add name_combiner");
  EXPECT_EQ(applied(scatter(region("%0=update(0):f32; %1=current(0):f32; %2=add(%0,%1):f32; return %2"))), "add name_combiner");
  EXPECT_EQ(applied(scatter(region("%0=update(0):f32; %1=current(0):f32; %2=subtract(%0,%1):f32; return %2"))), "expr");
  // An extra input that nothing reads stays bound, so such a graph never becomes that of a name.
  EXPECT_EQ(
      applied(scatter(" extras=[scalar:f32[]]" + region("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2"))),
      "expr");
}

TEST(Identity, ARequestThatWasMadeBeforeIsNotPlannedAgain) {
  Runtime runtime;
  const std::string one = scatter(" combiner=add"),
                    other = scatter(region("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2"));
  get(runtime, one);
  EXPECT_FALSE(runtime.find(kernel_key(op_of(other))));
  get(runtime, other);
  EXPECT_TRUE(runtime.find(kernel_key(op_of(other))));
  const uint64_t misses = runtime.stats().misses;
  EXPECT_EQ(misses, 2U);
  for (const std::string& text : {one, other, one}) get(runtime, text);
  EXPECT_EQ(runtime.stats().misses, misses);
  runtime.clear();
  get(runtime, other);
  EXPECT_EQ(runtime.stats().built, 2U);
}

TEST(Identity, ThreadsBelongToTheHandle) {
  Runtime runtime;
  const std::string text = scatter(" combiner=add");
  KernelOptions one, eight, written;
  one.threads = 1;
  eight.threads = 8;
  test::set_schedule(written, "threads=3");
  const Kernel first = get(runtime, text, one), second = get(runtime, text, eight), third = get(runtime, text, written);
  EXPECT_EQ(runtime.stats().built, 1U);
  EXPECT_EQ(first.threads(), 1);
  EXPECT_EQ(second.threads(), 8);
  EXPECT_EQ(third.threads(), 3);
  EXPECT_EQ(&first.descriptor(), &third.descriptor());
  EXPECT_THAT(print(first.schedule()), testing::Not(HasSubstr("threads")));
  // The parts of a wide sum are called with as many.
  const std::string wide = scatter(" combiner=add accumulate=wide", "i32[3]", "f16");
  EXPECT_EQ(get(runtime, wide, one).symbol(), get(runtime, wide, eight).symbol());
  EXPECT_EQ(runtime.stats().built, 2U);
}

Machine machine_like(int cores, int64_t l2_bytes, int64_t l3_bytes) {
  Machine other = machine();
  other.cpu = find_cpu("znver1");
  other.features = other.cpu->features;
  other.cores = cores;
  other.l1d_bytes = l2_bytes / 16;
  other.l2_bytes = l2_bytes;
  other.l3_bytes = l3_bytes;
  return other;
}

TEST(Identity, ObjectsDoNotDependOnTheMachineThatBuilds) {
  const Machine small = machine_like(2, 128 << 10, 1 << 20), large = machine_like(64, 4 << 20, 256 << 20);
  const std::string big_rows =
      "strew1.scatter(operand=f32[200000,16] indices=i32[20000] updates=f32[20000,16]" + kDims + " combiner=add)";
  std::string copied = scatter(" combiner=add"), wide = big_rows;
  copied.replace(copied.find(" init=in_place"), 14, "");
  for (size_t at; (at = copied.find("20,8")) != std::string::npos;)
    copied.replace(at, 4, "50000,8");  // 1.6 MB: is its copy streamed?
  for (size_t at; (at = wide.find("f32")) != std::string::npos;) wide.replace(at, 3, "bf16");
  wide.insert(wide.size() - 1, " accumulate=wide");
  for (const std::string backend : {"llvm", "halide"}) {
    if (backend == "halide" && !has_halide()) continue;
    for (const std::string& text : {big_rows, copied, wide, gather("")}) {
      for (const char* target : {"x86-64", "x86-64-v3", "x86-64-v4", "znver3-avx2"}) {
        const KernelOptions options{.backend = test::backend(backend), .target = test::target(target)};
        const VerifiedOp op = test::verified(op_of(text));
        auto one = plan_kernel(op, options, small), two = plan_kernel(op, options, large);
        ASSERT_TRUE(one.ok() && two.ok());
        EXPECT_EQ(one->symbol, two->symbol) << text << target;
        EXPECT_EQ(one->schedule, two->schedule) << text << target;
        if (backend == "halide" && std::string_view(target) != "x86-64-v3") continue;  // it compiles for seconds
        ASSERT_TRUE(build(*one).ok() && build(*two).ok());
        EXPECT_EQ(one->artifact.object, two->artifact.object) << text << target;
        EXPECT_THAT(one->artifact.object, testing::Not(HasSubstr(test::source_folder().string())));
      }
    }
  }
  // `native` is the machine, its heuristic included.
  const VerifiedOp op = test::verified(op_of(big_rows));
  EXPECT_NE(plan_kernel(op, {}, small)->schedule, plan_kernel(op, {}, large)->schedule);
}

TEST(Identity, SymbolsNameTheGeneratorAndTheBackend) {
  EXPECT_THAT(std::string(generator_version()), testing::MatchesRegex("strew [0-9.]+, LLVM [0-9.]+"));
  const Target target = *parse_target("x86-64-v3");
  EXPECT_NE(kernel_symbol("op", {}, target, "llvm"), kernel_symbol("op", {}, target, "halide"));
  EXPECT_NE(kernel_symbol("op", {}, target, "llvm"), kernel_symbol("op", {}, *parse_target("x86-64-v2"), "llvm"));
  Schedule other;
  other.unroll = 1;
  EXPECT_NE(kernel_symbol("op", {}, target, "llvm"), kernel_symbol("op", other, target, "llvm"));
}

TEST(OrderExpression, PlacesDeepExpressionsWithoutRecursion) {
  Expr expr;
  expr.nodes.push_back({ExprOp::current, DType::f32, {}, 0, {}});
  for (int32_t i = 0; i < 100000; ++i) expr.nodes.push_back({ExprOp::neg, DType::f32, {i}, 0, {}});
  expr.results = {100000};
  EXPECT_EQ(ordered(expr), expr);
  // a*a + a*a: the product once.
  const Expr twice{{{ExprOp::current, DType::f32, {}, 0, {}},
                    {ExprOp::mul, DType::f32, {0, 0}, 0, {}},
                    {ExprOp::mul, DType::f32, {0, 0}, 0, {}},
                    {ExprOp::add, DType::f32, {1, 2}, 0, {}}},
                   {3}};
  const Expr made = ordered(twice);
  EXPECT_EQ(made.nodes.size(), 3U);
  EXPECT_EQ(made.nodes[2].args, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(ordered(made), made);
}

}  // namespace
}  // namespace strew
