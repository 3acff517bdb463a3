// The hot loops as instructions: their kind, not their text, which is LLVM's to choose. What is asked of each is what its speed hangs on
// (bench/suite): straight vector code without calls or scalar tails, the right stores, no prefetch of lines that streaming stores throw out,
// no gather, scatter or conflict instructions, bf16 rounded by integer code (the instruction flushes subnormals).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "backends/backend.h"
#include "strew/forms.h"
#include "strew/text.h"
#include "tests/support/ops.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

using test::verified;
using testing::HasSubstr;
using testing::Not;
using types::f32;
using types::i32;
using types::tensor;

/// The instructions of one entry, one per line; empty (and a failure) when there are none.
std::string code(const Op& op, EntryKind entry, const std::string& knobs = "", const std::string& cpu = "x86-64-v3") {
  const VerifiedOp legal = verified(op);
  const auto plan = canonical_plan(legal);
  const auto target = parse_target(cpu);
  if (!plan.ok() || !target.ok()) return ADD_FAILURE() << plan.status().message() << target.status().message(), "";
  const auto schedule = parse_schedule(knobs, choose_schedule(*plan, *target, 1));
  if (!schedule.ok()) return ADD_FAILURE() << schedule.status().message(), "";
  const auto text = find_backend("llvm")->emit_text({tensor_slots(legal), *plan, *schedule, *target, "kernel"}, "asm");
  if (!text.ok()) return ADD_FAILURE() << text.status().message(), "";
  const std::string label = "\nkernel_" + std::string(name(entry)) + ":";
  const size_t begin = text->find(label), end = text->find(".size\tkernel_" + std::string(name(entry)), begin);
  if (begin == std::string::npos || end == std::string::npos)
    return ADD_FAILURE() << "no entry " << label << " in\n" << *text, "";
  return text->substr(begin + label.size(), end - begin - label.size());
}

/// How many instructions whose mnemonic matches.
int count(const std::string& code, const std::string& mnemonic) {
  const std::regex line("\n\t(?:" + mnemonic + ")(?=\\s)");
  return static_cast<int>(std::distance(std::sregex_iterator(code.begin(), code.end(), line), std::sregex_iterator()));
}

template <class Builder>
Op built(const Builder& builder) {
  const auto op = builder.build();
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *op;
}

constexpr int64_t kTable = 500'000, kUpdates = 100'000;
Op rows_set() { return built(scatter_rows(f32({kTable, 64}), i32({kUpdates}), f32({kUpdates, 64})).in_place().unique_indices()); }
Op rows_combined(CombinerKind combiner, DType dtype, int64_t width) {
  return built(scatter_rows(tensor(dtype, {kTable, width}), i32({kUpdates}), tensor(dtype, {kUpdates, width}))
                   .combine(combiner)
                   .in_place());
}
Op rows_add(DType dtype, int64_t width) { return rows_combined(CombinerKind::add, dtype, width); }

class MachineCode : public testing::Test {
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer instruments the kernels of this build, so that their instructions are not those users run";
#endif
  }
};

TEST_F(MachineCode, DecodeIsStraightVectorCode) {
  const Op op = built(tensor_scatter(types::bf16({1, 8, 8192, 128}), types::i64({1}), types::bf16({1, 8, 1, 128})).in_place());
  const std::string range = code(op, EntryKind::range);
  EXPECT_EQ(count(range, "vmovup[sd]"), 16) << range;  // eight vectors, loaded and stored
  EXPECT_EQ(count(range, "callq?"), 0) << range;
}

TEST_F(MachineCode, RowAddsAreWholeVectors) {
  const std::string range = code(rows_add(DType::f32, 64), EntryKind::range, "prefetch=0");
  EXPECT_EQ(count(range, "vaddps"), 8) << range;
  EXPECT_EQ(count(range, "vaddss|callq?"), 0) << range;
}

TEST_F(MachineCode, RestsOfRowsAreOneMaskedVector) {
  const std::string range = code(rows_add(DType::f32, 31), EntryKind::range, "prefetch=0", "znver5");
  EXPECT_EQ(count(range, "vaddps"), 2) << range;  // sixteen numbers, and fifteen
  EXPECT_THAT(range, HasSubstr("{%k1}")) << range;
  EXPECT_EQ(count(range, "vaddss"), 0) << range;
  const std::string without = code(rows_add(DType::f32, 31), EntryKind::range, "prefetch=0", "haswell");
  EXPECT_EQ(count(without, "vaddps"), 5) << without;  // 8, 8, 8, 4 and 2, and then a single one
  EXPECT_THAT(without, Not(HasSubstr("%k1")));
}

TEST_F(MachineCode, ShortRowsAreMovedSeveralAtATime) {
  const Op read = built(gather_rows(f32({4096, 2}), i32({kUpdates})));
  const std::string get = code(read, EntryKind::range, "prefetch=0");
  EXPECT_EQ(count(get, "vmovhps"), 4) << get;  // eight rows of 8 bytes, two in a vector
  EXPECT_EQ(count(get, "vmovups"), 4) << get;
  const Op write = built(scatter_rows(f32({4096, 4}), i32({kUpdates}), f32({kUpdates, 4})).in_place());
  const std::string set = code(write, EntryKind::range, "prefetch=0,strategy=sequential");
  EXPECT_EQ(count(set, "vextractf128"), 4) << set;
  EXPECT_EQ(count(code(read, EntryKind::range, "prefetch=16"), "vmovhps"), 0);  // memory is waited for, whatever the code
}

TEST_F(MachineCode, FilledRowsAreChosenNotBranchedTo) {
  const Op op = built(gather_rows(f32({4096, 2}), i32({kUpdates})).fill(OobPolicy::fill_element, Scalar::of(1.0F)));
  const std::string range = code(op, EntryKind::range, "prefetch=0");
  EXPECT_EQ(count(range, "cmov\\w*"), 8) << range;
}

TEST_F(MachineCode, PositionsOfOneVectorShareAnIteration) {
  const std::string range = code(rows_add(DType::f32, 8), EntryKind::range, "prefetch=0,unroll=4");
  EXPECT_EQ(count(range, "vaddps"), 4 + 1) << range;  // the rest is done one by one
  EXPECT_EQ(count(code(rows_add(DType::f32, 8), EntryKind::range, "prefetch=0,unroll=1"), "vaddps"), 1);
  EXPECT_EQ(count(code(rows_add(DType::f32, 16), EntryKind::range, "prefetch=0,unroll=4"), "vaddps"), 2);
}

TEST_F(MachineCode, TheLastPositionsHaveALoopOfTheirOwnWithoutPrefetches) {
  const std::string range = code(rows_add(DType::f32, 64), EntryKind::range, "prefetch=16");
  EXPECT_EQ(count(range, "vaddps"), 16) << range;
  EXPECT_EQ(count(range, "prefetch\\S*"), 4) << range;  // the four lines of a row some positions ahead
  EXPECT_EQ(count(range, "cmov\\S*"), 1) << range;      // finds the border; no position asks where the row ends
}

TEST_F(MachineCode, TablesAreMergedByBlends) {
  Op op = built(scatter_rows(f32({65536}), i32({4'000'000}), f32({4'000'000})).combine(CombinerKind::add).in_place());
  std::get<Scatter>(op).order = Order::relaxed;
  EXPECT_THAT(code(op, EntryKind::merge, "strategy=private", "skylake-avx512"), HasSubstr(") {%k1}"));  // a masked store
  const std::string merge = code(op, EntryKind::merge, "strategy=private");
  EXPECT_GE(count(merge, "vblendvps"), 8) << merge;
  EXPECT_EQ(count(merge, "vp?maskmov\\S*"), 0) << merge;  // microcode on AMD
}

TEST_F(MachineCode, MinimumIsThreeOperationsAndMaximumBlendsNothing) {
  const std::string least = code(rows_combined(CombinerKind::min, DType::f32, 64), EntryKind::range, "prefetch=0");
  EXPECT_EQ(count(least, "vminps"), 16) << least;  // 64 numbers in eight vectors, both ways round
  EXPECT_EQ(count(least, "vorps"), 8);
  EXPECT_EQ(count(least, "v(cmp|blend|and)\\w*"), 0);
  const std::string most = code(rows_combined(CombinerKind::max, DType::f32, 64), EntryKind::range, "prefetch=0");
  EXPECT_EQ(count(most, "vmaxps"), 16) << most;
  EXPECT_EQ(count(most, "vcmp\\w*"), 8);
  EXPECT_EQ(count(most, "vblend\\w*"), 0);
}

TEST_F(MachineCode, Aarch64BodiesAreNeon) {
  const std::string range = code(rows_add(DType::f32, 64), EntryKind::range, "unroll=4", "armv8.2-a");
  EXPECT_THAT(range, testing::ContainsRegex("fadd\tv[0-9]+\\.4s"));
  EXPECT_THAT(range, Not(testing::ContainsRegex("fadd\ts[0-9]+")));
  EXPECT_GE(count(range, "ldp"), 2) << range;  // two vectors at a time, addressed from one register
  EXPECT_EQ(count(range, "bl"), 0) << range;
  EXPECT_GE(count(range, "prfm"), 4) << range;
  const std::string least = code(rows_combined(CombinerKind::min, DType::f32, 64), EntryKind::range, "", "armv8.2-a");
  EXPECT_THAT(least, testing::ContainsRegex("fmin\tv[0-9]+\\.4s"));
  EXPECT_EQ(count(least, "fcm\\w*|bit|bif|bsl"), 0) << least;
}

TEST_F(MachineCode, SveMultipliesWideIntegers) {
  const Op op = rows_combined(CombinerKind::mul, DType::i64, 64);
  EXPECT_THAT(code(op, EntryKind::range, "", "armv8.2-a+sve"), testing::ContainsRegex("mul\tz[0-9]+\\.d"));
  EXPECT_THAT(code(op, EntryKind::range, "", "armv8.2-a"), Not(HasSubstr("\tz")));
}

TEST_F(MachineCode, StreamingStoresWantNoPrefetch) {
  const std::string range = code(rows_set(), EntryKind::range, "nontemporal=true,prefetch=16");
  EXPECT_GT(count(range, "vmovnt\\S*"), 0) << range;
  EXPECT_EQ(count(range, "sfence"), 1) << range;
  EXPECT_EQ(count(range, "prefetch\\S*"), 0) << range;
  const std::string plain = code(rows_set(), EntryKind::range, "nontemporal=false,prefetch=16");
  EXPECT_GT(count(plain, "prefetch\\S*"), 0) << plain;
  EXPECT_EQ(count(plain, "vmovnt\\S*|sfence"), 0) << plain;
}

TEST_F(MachineCode, StreamingGathersStillPrefetchTheirSource) {
  const Op op = built(gather_rows(f32({kTable, 64}), i32({kUpdates})));
  const std::string range = code(op, EntryKind::range, "nontemporal=true,prefetch=16");
  EXPECT_GT(count(range, "vmovnt\\S*"), 0) << range;
  EXPECT_GT(count(range, "prefetch\\S*"), 0) << range;
}

TEST_F(MachineCode, ElementAddsAreScalar) {
  const Op op = built(scatter_rows(f32({kTable}), i32({kUpdates}), f32({kUpdates})).combine(CombinerKind::add).in_place());
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    const std::string range = code(op, EntryKind::range, "", cpu);
    EXPECT_GE(count(range, "vaddss"), 4) << range;  // unrolled
    EXPECT_EQ(count(range, "\\S*(gather|scatter|conflict|cmpxchg)\\S*"), 0) << range;
  }
}

TEST_F(MachineCode, ElementsWithEqualIndicesAreRows) {
  const auto sum = [](int64_t axis) {
    const Op op = built(
        scatter_elements(f32({4096, 64}), types::i64({4096, 64}), f32({4096, 64}), axis).combine(CombinerKind::add).in_place());
    return code(op, EntryKind::range, "strategy=sequential,prefetch=0", "x86-64-v3");
  };
  const std::string rows = sum(0), columns = sum(1);
  EXPECT_EQ(count(rows, "vaddps"), 2) << rows;
  EXPECT_GE(count(rows, "vaddss"), 1) << rows;
  EXPECT_EQ(count(rows, "vptest|vpmovmskb|vmovmskp[sd]"), 1) << rows;
  EXPECT_EQ(count(columns, "vaddps"), 0) << "equal indices along a row name one element";
}

TEST_F(MachineCode, DroppedElementsAreParkedNotBranchedOver) {
  const auto sum = [](int64_t elements, const std::string& knobs) {
    const Op op = built(scatter_rows(f32({elements}), i32({kUpdates}), f32({kUpdates}))
                            .combine(CombinerKind::add)
                            .in_place()
                            .oob(OobPolicy::skip_element));
    return code(op, EntryKind::range, knobs);
  };
  const std::string text = sum(4096, "prefetch=0");
  const int updates = count(text, "vaddss");
  EXPECT_GE(updates, 4) << text;
  EXPECT_EQ(count(text, "cmov\\w*"), updates) << text;
  EXPECT_LE(count(text, "j\\w*"), 5);  // of the loop itself
  const std::string large = sum(1'000'000, "prefetch=0");
  EXPECT_EQ(count(large, "vaddss"), 9) << large;               // eight, and one of those that are left over at the end
  EXPECT_GE(count(large, "vblendvpd|vpblendvb"), 2) << large;  // four addresses each: of elements, or of sinks
  EXPECT_EQ(count(large, "cmov\\w*"), 1) << large;             // of what is left over
  EXPECT_EQ(count(sum(1'000'000, "prefetch=32"), "vblendvpd|vpblendvb"), 0) << "what is prefetched is done one after the other";
}

TEST_F(MachineCode, RunsOfEqualIndicesStayInARegister) {
  const auto sum = [](bool sorted, int64_t elements = 4096) {
    auto builder = scatter_rows(f32({elements}), i32({kUpdates}), f32({kUpdates}));
    builder.combine(CombinerKind::add).in_place().oob(OobPolicy::undefined);
    if (sorted) builder.indices_are_sorted();
    return code(built(builder), EntryKind::range, "strategy=sequential");
  };
  const std::string text = sum(true);
  const int adds = count(text, "vaddss");
  EXPECT_GE(adds, 8) << text;
  EXPECT_GE(count(text, "jne"), adds) << text;  // is it the same element?
  EXPECT_LE(count(sum(false), "j\\w*"), 5);
  EXPECT_LE(count(sum(true, kUpdates), "j\\w*"), 5);  // an update or two per element
}

TEST_F(MachineCode, RunsOfEqualRowsStayInRegisters) {
  const auto sum = [](bool sorted, int64_t width, int64_t rows = 4096) {
    auto builder = scatter_rows(f32({rows, width}), i32({kUpdates}), f32({kUpdates, width}));
    builder.combine(CombinerKind::add).in_place().oob(OobPolicy::undefined);
    if (sorted) builder.indices_are_sorted();
    return code(built(builder), EntryKind::range, "strategy=sequential,prefetch=0,vector_bytes=32");
  };
  const std::string text = sum(true, 64);
  EXPECT_EQ(count(text, "vaddps"), 8) << text;  // of an update, which is all that its iteration does with floats
  EXPECT_EQ(count(text, "vmovups"), 24)
      << text;  // a row is stored and the next one loaded; after the loop the last one is stored
  EXPECT_EQ(count(sum(false, 64), "vmovups"), 16);
  EXPECT_EQ(count(sum(true, 128), "vmovups"), count(sum(false, 128), "vmovups"));  // more than the registers hold
  const auto looked_up = [](int64_t width) {
    return code(
        built(scatter_rows(f32({kUpdates / 8, width}), i32({kUpdates}), f32({kUpdates, width}))
                  .combine(CombinerKind::add)
                  .in_place()
                  .oob(OobPolicy::undefined)
                  .indices_are_sorted()
                  .look_up(Role::updates, 0, gather_rows(f32({kTable, width}), i32({kUpdates})).oob(OobPolicy::undefined))),
        EntryKind::range, "strategy=sequential,prefetch=0,vector_bytes=32");
  };
  EXPECT_EQ(count(looked_up(256), "vaddps"), 8);  // 32 vectors in four panels, which are one loop
  EXPECT_EQ(count(looked_up(256), "vmovups"), 24);
  EXPECT_EQ(count(sum(true, 8, kUpdates), "jne"), count(sum(false, 8, kUpdates), "jne"));  // a short row with an update or two
}

TEST_F(MachineCode, WideSumsOfRowsStayInRegisters) {
  const auto sum = [](DType dtype, int64_t width) {
    return code(built(scatter_rows(tensor(dtype, {kUpdates / 32, width}), i32({kUpdates}), tensor(dtype, {kUpdates, width}))
                          .combine(CombinerKind::add)
                          .accumulate(Accumulate::wide)
                          .indices_are_sorted()
                          .fill({Scalar{dtype, {0, 0}}})
                          .oob(OobPolicy::skip_window)
                          .look_up(Role::updates, 0,
                                   gather_rows(tensor(dtype, {kTable, width}), i32({kUpdates})).oob(OobPolicy::undefined))),
                EntryKind::range, "strategy=sequential,prefetch=0,vector_bytes=32");
  };
  for (const int64_t width : {64, 128}) {  // the second is done in two panels, which are one loop
    const std::string f16 = sum(DType::f16, width);
    EXPECT_EQ(count(f16, "vcvtph2ps"), 8) << f16;  // of an update; a row starts from the fill value, which is not loaded
    EXPECT_EQ(count(f16, "vaddps"), 8) << f16;
    EXPECT_EQ(count(f16, "vcvtps2ph"), 16) << f16;  // where a row is stored: when another one follows, and after the loop
    EXPECT_EQ(count(f16, "vmovup[sd].*%ymm\\d+, .*\\(.*"), 0) << "sums are not stored: " << f16;
  }
  const std::string bf16 = sum(DType::bf16, 64);
  EXPECT_EQ(count(bf16, "vaddps"), 8) << bf16;
  EXPECT_EQ(count(bf16, "vpmovzxwd"), 8) << bf16;
}

TEST_F(MachineCode, ReductionsOverTheLastDimFoldEightRowsSideBySide) {
  const auto sum = [](const std::string& indices, const std::string& updates, const std::string& batching) {
    const Expected<Op> op = parse_op("strew1.scatter(operand=f32[1024] indices=i32[" + indices + ",0] updates=f32[" + updates +
                                     "] " + batching + " combiner=add init=fill fill=0:f32)");
    EXPECT_TRUE(op.ok()) << op.status().message();
    return code(*op, EntryKind::range, "strategy=sequential");
  };
  const std::string rows =
      sum("1024,512", "1024,512", "input_batching_dims=[0] scatter_indices_batching_dims=[0] index_vector_dim=2");
  EXPECT_GE(count(rows, "vaddss"), 8) << rows;
  EXPECT_LE(count(rows, "vaddss"), 11) << "eight rows, one row, and a part of a row at either end";
  const std::string columns = sum("512", "512,1024", "update_window_dims=[1] index_vector_dim=1");
  EXPECT_GE(count(columns, "vaddps"), 1) << "the dim that is kept lies in vectors: " << columns;
}

TEST_F(MachineCode, CopiesInAnotherOrderOfDimsGoInTiles) {
  const auto copy = [](const std::string& strides) {
    const Expected<Op> op = parse_op("strew1.scatter(operand=f32[1000,1000] indices=i32[0] updates=f32[1000,1000]" + strides +
                                     " update_window_dims=[0,1] init=in_place)");
    EXPECT_TRUE(op.ok()) << op.status().message();
    return code(*op, EntryKind::range, "strategy=sequential");
  };
  EXPECT_GE(count(copy("{1,1000}"), "j\\w*"), count(copy("{2000,2}"), "j\\w*") + 2) << copy("{1,1000}");  // two loops more
}

TEST_F(MachineCode, OwnersKeysAreMadeEightAtATime) {
  const auto keys = [](OobPolicy oob) {
    return code(
        built(scatter_rows(f32({kTable}), i32({kUpdates}), f32({kUpdates})).combine(CombinerKind::add).in_place().oob(oob)),
        EntryKind::keys, "strategy=owner");
  };
  EXPECT_GE(count(keys(OobPolicy::skip_element), "vpminud|vpmaxud"), 1);  // compares unsigned
  EXPECT_GE(count(keys(OobPolicy::clamp), "vpminsd"), 1);
  const std::string wrap = keys(OobPolicy::wrap);
  EXPECT_GE(count(wrap, "vpmuldq"), 2) << wrap;   // by the reciprocal
  EXPECT_LE(count(wrap, "idiv\\w?"), 2) << wrap;  // what is left over at the end is done one by one
}

TEST_F(MachineCode, ElementsAreClampedAndWrappedEightAtATime) {
  const auto gather = [](OobPolicy oob) {
    return code(*gather_rows(f32({4000}), i32({kUpdates})).oob(oob).normalize_negative(false).build(), EntryKind::range);
  };
  EXPECT_GE(count(gather(OobPolicy::clamp), "vpminsd"), 1);
  const std::string wrap = gather(OobPolicy::wrap);
  EXPECT_GE(count(wrap, "vpmuldq"), 2) << wrap;
  EXPECT_GE(count(wrap, "vpextrq|vmovq"), 8) << wrap;
  EXPECT_LE(count(wrap, "j\\w*"), 8) << wrap;  // of the loops, and of what is left over at the end
}

TEST_F(MachineCode, FilledElementsAreChosenNotBranchedTo) {
  const auto gather = [](bool from_end) {
    const Op op = built(
        gather_rows(f32({4096}), i32({kUpdates})).fill(OobPolicy::fill_element, Scalar::of(0.0F)).normalize_negative(from_end));
    return code(op, EntryKind::range, "prefetch=0");
  };
  const std::string text = gather(false), lanes = gather(true);
  const int chosen = count(text, "cmov\\w*");
  EXPECT_GE(chosen, 8) << text;
  EXPECT_LE(count(text, "j\\w*"), 5) << text;                  // of the loop itself
  EXPECT_GE(count(lanes, "vblendvpd|vpblendvb"), 2) << lanes;  // four addresses each: of elements, or of the fill value
  EXPECT_GE(count(lanes, "vpextrq|vmovq"), 8) << lanes;
  EXPECT_LE(count(lanes, "j\\w*"), 8) << lanes;  // of the loops, and of what is left over at the end
}

TEST_F(MachineCode, Bf16IsRoundedByIntegerCode) {
  for (const char* cpu : {"x86-64-v3", "znver5"}) {
    const std::string range = code(rows_add(DType::bf16, 64), EntryKind::range, "", cpu);
    EXPECT_GE(count(range, "vaddps"), 4) << range;
    EXPECT_EQ(count(range, "vcvtne\\S*|vaddss|callq?"), 0) << range;
  }
}

TEST_F(MachineCode, InverseRootsAreVectorsAndOtherMathIsCalls) {
  const auto combined = [](ExprOp function) {
    ExprBuilder e;
    const int32_t value = e.apply(function, {e.update(0, DType::f32)});
    const Expr sum = e.returns({e.add(e.current(0, DType::f32), value)});
    return code(built(scatter_rows(f32({kTable, 64}), i32({kUpdates}), f32({kUpdates, 64})).combine(sum).in_place()),
                EntryKind::range);
  };
  const std::string root = combined(ExprOp::rsqrt), exponential = combined(ExprOp::exp);
  EXPECT_GT(count(root, "vsqrtpd"), 0) << root;
  EXPECT_GT(count(root, "vdivpd"), 0) << "one rounding from f64, no approximation: " << root;
  EXPECT_EQ(count(root, "callq?|vsqrtsd|vdivsd"), 0) << root;
  EXPECT_GT(count(exponential, "callq?"), 0) << "the C library has no vector form with the same bits: " << exponential;
}

// The window is known to lie inside only after optimisation: an index of four bits reaches no further than element 15 + 8 of 47. LLVM 22.1 stored
// four bytes for the ninth element, and three elements beside the window were lost.
TEST_F(MachineCode, TheOneLaneLeftOfAWindowIsStoredAlone) {
  const auto op = parse_op(
      "strew1.scatter(operand=f8e4m3fn[47] indices=u4[] updates=f8e4m3fn[9] update_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] "
      "combiner=add)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  const std::string range = code(*op, EntryKind::range, "vector_bytes=32", "x86-64-v4");
  EXPECT_EQ(count(range, "vpextrb|movb"), 1) << range;
  EXPECT_THAT(range, Not(testing::ContainsRegex("vmovd\t%xmm[0-9]+, [0-9]*\\(")));
}

// Both copies are there: the call says which.
TEST_F(MachineCode, OperandsAreCopiedThroughAndPastTheCaches) {
  const Op op = built(scatter_rows(f32({kTable, 64}), i32({8}), f32({8, 64})));
  const std::string init = code(op, EntryKind::init);
  EXPECT_GT(count(init, "vmovnt\\S*"), 0) << init;
  EXPECT_EQ(count(init, "sfence"), 1) << init;
  EXPECT_THAT(init, HasSubstr("memcpy"));
}

// Eight vectors of eight elements are loaded, transposed by three steps of shuffles and stored.
TEST_F(MachineCode, CopiesInAnotherOrderOfDimsAreTransposedInRegisters) {
  const auto op = parse_op(
      "strew1.scatter(operand=f32[2000,64] indices=i32[0] updates=f32[2000,64]{1,2000} update_window_dims=[0,1] init=in_place "
      "oob=undefined index_vector_dim=0)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  const std::string range = code(*op, EntryKind::range, "strategy=sequential");
  EXPECT_EQ(count(range, "vunpck[lh]ps"), 16) << range;
  EXPECT_EQ(count(range, "vperm2f128|vinsertf128"), 8) << range;
  EXPECT_EQ(count(range, "vmovups"), 16) << range;
  EXPECT_EQ(count(range, "vmovss|vinsertps|vgather\\S*"), 0) << range;
  const std::string wide = code(*op, EntryKind::range, "strategy=sequential", "znver5");
  EXPECT_EQ(count(wide, "vpunpck[lh]dq"), 32) << wide;
  EXPECT_EQ(count(wide, "vshuf[if]64x2"), 32) << wide;
}

TEST_F(MachineCode, ShortSlicesAreLoopsNotCalls) {
  const Op op = built(dynamic_update_slice(f32({384, 1024}), i32({2}), f32({10, 1024})).in_place());
  EXPECT_THAT(code(op, EntryKind::range), Not(HasSubstr("memcpy")));
}

}  // namespace
}  // namespace strew
