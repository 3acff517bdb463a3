// The portable backend: how its kernels are made and kept, that its loops agree between the levels of the CPU and with base/number, and that blocks
// of elements keep the order of updates. Random ops of every kind are tests/differential's part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

#include "backends/backend.h"
#include "backends/portable/loops.h"
#include "backends/portable/program.h"
#include "base/number.h"
#include "runtime/kernel_state.h"
#include "strew/runtime.h"
#include "tests/support/again.h"
#include "tests/support/interpret_lowered.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"
#include "tests/support/rng.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::op_of;
using test::Rng;
using test::Views;
using testing::HasSubstr;
using testing::Not;

KernelOptions on(const std::string& backend, const std::string& schedule = "") {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  return options;
}

std::string elements_op(const std::string& rest, const std::string& dtype = "f32") {
  return "strew1.scatter(operand=" + dtype + "[16] indices=i32[1000] updates=" + dtype +
         "[1000] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window" +
         rest + ")";
}

/// The table after `op` (of elements_op) on updates that repeat their destinations.
std::vector<float> run_elements(Runtime& runtime, const std::string& op, const KernelOptions& options, int32_t spread = 19) {
  std::vector<float> table(16, 0.25F), updates(1000);
  std::vector<int32_t> indices(1000);
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = 1.0F / static_cast<float>(1 + i % 31);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<int32_t>(i * 2654435761U % static_cast<uint32_t>(spread)) - 1;
  const auto kernel = runtime.get(op_of(op), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  Views views;
  views.add(table.data(), DType::f32, {16}).add(indices.data(), DType::i32, {1000}).add(updates.data(), DType::f32, {1000});
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return table;
}

std::string mapped_files() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

TEST(Portable, IsRunFromItsDescriptor) {
  Runtime runtime;
  const auto kernel = runtime.get(op_of(elements_op(" combiner=add")), on("portable"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(kernel->backend(), "portable");
  EXPECT_NE(kernel->entry(STREW_ENTRY_range), nullptr);
  EXPECT_NE(kernel->descriptor().program, nullptr);
  EXPECT_STREQ(kernel->descriptor().features, "") << "its loops are chosen at run time";
  EXPECT_TRUE(kernel->state()->is_plain);
}

TEST(Portable, GeneratedCodeHasNoProgram) {
  Runtime runtime;
  const auto kernel = runtime.get(op_of(elements_op(" combiner=add")), on("llvm"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(kernel->descriptor().program, nullptr);
}

TEST(Portable, DoesNotOpenLlvm) {
  if (!test::is_again()) {
    EXPECT_EQ(test::run_again(""), 0);
    return;
  }
  Runtime runtime;
  EXPECT_EQ(run_elements(runtime, elements_op(" combiner=add"), on("portable")).size(), 16U);
  EXPECT_THAT(mapped_files(), Not(HasSubstr("libLLVM")));
}

TEST(Portable, TheProgramLivesAsLongAsAHandle) {
  std::optional<Runtime> runtime(std::in_place);
  const auto kernel = runtime->get(op_of(elements_op(" combiner=add")), on("portable"));
  ASSERT_TRUE(kernel.ok());
  const std::vector<float> expected = run_elements(*runtime, elements_op(" combiner=add"), on("portable"));
  runtime.reset();
  std::vector<float> table(16, 0.25F), updates(1000, 1.0F);
  std::vector<int32_t> indices(1000, 3);
  Views views;
  views.add(table.data(), DType::f32, {16}).add(indices.data(), DType::i32, {1000}).add(updates.data(), DType::f32, {1000});
  ASSERT_TRUE(kernel->run(views).ok());
  EXPECT_EQ(table[3], 1000.25F);
}

TEST(Portable, APartOfAWideSumHasItsOwnProgram) {
  Runtime runtime;
  const auto kernel = runtime.get(op_of(elements_op(" combiner=add accumulate=wide", "bf16")), on("portable"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const strew_kernel& whole = kernel->descriptor();
  EXPECT_EQ(whole.program, nullptr);
  ASSERT_EQ(whole.part_count, 2);
  for (const int part : {STREW_FOLD, STREW_NARROW}) EXPECT_NE(whole.parts[part]->program, nullptr) << part;
  EXPECT_NE(whole.parts[STREW_FOLD]->program, whole.parts[STREW_NARROW]->program);
}

TEST(Portable, HasNoObjectCode) {
  const Expected<std::string> text =
      portable_backend()->emit_text({{}, Plan{}, Schedule{}, *parse_target("x86-64-v3"), "kernel"}, "asm");
  EXPECT_EQ(text.status().message(), "--emit asm: the portable backend generates no code");
}

TEST(Portable, DeclinesWithTheReason) {
  const std::string op =
      "strew1.scatter(operand=f8e8m0[4] indices=i64[3] updates=f8e8m0[3] extras=[per_position:bool[3]] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f8e8m0; %1=current(0):f8e8m0; "
      "%2=extra(0):bool; %3=select(%2,%0,%1):f8e8m0; return %3} oob=skip_window)";
  EXPECT_EQ(portable::portable_can_build(*test::plan_of(op_of(op))).message(),
            "backend portable: node 1 of the combiner, update, has dtype f8e8m0");
}

/// A combiner that no loop knows: it is evaluated in blocks, in which two updates of one element must not meet.
constexpr const char* kClipped =
    " combiner=expr expr={%0=current(0):f32; %1=update(0):f32; %2=constant(0.75):f32; %3=multiply(%0,%2):f32; %4=add(%3,%1):f32; "
    "return %4}";

TEST(Portable, EvaluatedUpdatesOfOneElementKeepTheirOrder) {
  Runtime runtime;
  for (const int32_t spread : {1, 2, 5, 19})
    EXPECT_EQ(run_elements(runtime, elements_op(kClipped), on("portable"), spread + 1),
              run_elements(runtime, elements_op(kClipped), on("reference"), spread + 1))
        << spread;
}

TEST(Portable, EveryStrategyGivesTheSameBits) {
  Runtime runtime;
  for (const std::string& combiner : {std::string(" combiner=add"), std::string(kClipped)}) {
    const std::vector<float> expected = run_elements(runtime, elements_op(combiner), on("reference"));
    for (const char* strategy : {"sequential", "owner", "radix"})
      EXPECT_EQ(run_elements(runtime, elements_op(combiner), on("portable", std::string("threads=2,strategy=") + strategy)),
                expected)
          << strategy << combiner;
  }
}

// --- The loops.

class PortableLoops : public testing::Test {
 protected:
  static constexpr int64_t kCount = 67;  // no multiple of a vector

  /// Bytes in which every type finds numbers of all kinds.
  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> out(count);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(rng_.chance(30) ? (rng_.chance(50) ? 0 : 0xff) : rng_.below(256));
    return out;
  }
  std::vector<uint8_t> run(portable::StepLoop loop, const void* extra = nullptr) const {
    std::vector<uint8_t> out(static_cast<size_t>(kCount) * 16, 0x55);
    loop(out.data(), a_.data(), b_.data(), a_.data() + 1, kCount, extra);
    return out;
  }
  Rng rng_{7};
  std::vector<uint8_t> a_ = bytes(static_cast<size_t>(kCount) * 16 + 16), b_ = bytes(static_cast<size_t>(kCount) * 16 + 16);
};

/// Equal but for the bits of NaNs. `width`: of the floats in `a`; 0: there are none.
bool same(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, size_t width) {
  if (a == b) return true;
  if (width == 0) return false;
  const DType dtype = width == 2 ? DType::f16 : width == 4 ? DType::f32 : DType::f64;
  for (size_t at = 0; at + width <= a.size(); at += width) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, width);
    std::memcpy(&y, b.data() + at, width);
    if (x != y && !(is_nan(dtype, x) && is_nan(dtype, y))) return false;
  }
  return true;
}

/// The dtype whose elements are numbers of this type, and whose parts are.
DType dtype_of(lowered::Machine type) {
  constexpr DType kDTypes[] = {DType::boolean, DType::u8, DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};
  return kDTypes[static_cast<size_t>(type)];
}
size_t float_width(lowered::Machine type) { return is_float(type) ? static_cast<size_t>(width(type)) / 8 : 0; }

/// Calls visit(op, from, to, loops of the levels, null where a level is not there) for all steps that are not casts of codes, nor calls.
template <class Visit>
void for_steps(const Visit& visit) {
  for (size_t number = 0; number < lowered::kPrimitives; ++number) {
    const auto op = static_cast<lowered::Primitive>(number);
    const bool is_code = op >= lowered::Primitive::half_to_float;
    const bool is_call = op >= lowered::Primitive::call1 && op <= lowered::Primitive::call3;
    for (const lowered::Machine from : lowered::kMachines)
      for (const lowered::Machine to : lowered::kMachines)
        if (!is_code && !is_call) visit(op, from, to);
  }
}

/// Bytes of numbers for which the operation is defined: those of `given`, if it is for all.
std::vector<uint8_t> second_arguments(lowered::Domain domain, const std::vector<uint8_t>& given) {
  std::vector<uint8_t> out = given;
  for (uint8_t& byte : out)
    if (domain != lowered::Domain::all) byte = domain == lowered::Domain::amount ? 0 : byte | 1;
  return out;
}

TEST_F(PortableLoops, TheLevelsAgreeOnSteps) {
  const auto levels = portable::all_loops();
  if (levels[1] == nullptr) GTEST_SKIP() << "this machine runs the baseline's loops only";
  size_t compared = 0;
  for_steps([&](lowered::Primitive op, lowered::Machine from, lowered::Machine to) {
    const lowered::Domain domain = info(op).domain;
    const portable::StepLoop first = levels[0]->step(op, from, to), second = levels[1]->step(op, from, to);
    ASSERT_EQ(first == nullptr, second == nullptr);
    if (first == nullptr || domain == lowered::Domain::range) return;
    const std::vector<uint8_t> b = b_;
    b_ = second_arguments(domain, b_);
    for (uint8_t& byte : b_) byte &= domain == lowered::Domain::quotient ? 0x7f : 0xff;
    EXPECT_TRUE(same(run(first), run(second), float_width(info(op).gives == lowered::Gives::i1 ? lowered::Machine::i8 : to)))
        << info(op).name << " " << name(from) << " " << name(to);
    b_ = b;
    ++compared;
  });
  EXPECT_GT(compared, 200U);
}

/// Every step computes what its primitive, or its compound's rule, means.
TEST_F(PortableLoops, StepsComputeWhatPrimitivesMean) {
  size_t compared = 0;
  for_steps([&](lowered::Primitive op, lowered::Machine from, lowered::Machine to) {
    const lowered::PrimitiveInfo& row = info(op);
    if (from == lowered::Machine::i1 || op == lowered::Primitive::select || row.domain != lowered::Domain::all) return;
    const portable::StepLoop loop = portable::loops().step(op, from, to);
    if (loop == nullptr) return;
    lowered::Graph graph;
    for (int32_t i = 0; i < row.arity; ++i) {
      graph.inputs.push_back({ExprOp::update, i, dtype_of(from)});
      graph.nodes.push_back({.op = lowered::Primitive::input, .type = from, .input = i});
    }
    lowered::Node node{.op = op, .type = to};
    for (int32_t i = 0; i < row.arity; ++i) node.args[static_cast<size_t>(i)] = i;
    graph.nodes.push_back(node);
    int32_t result = row.arity;
    if (to == lowered::Machine::i1) {
      graph.nodes.push_back({.op = lowered::Primitive::zext, .type = lowered::Machine::i8, .args = {result++, -1, -1}});
    }
    graph.results.push_back({dtype_of(to == lowered::Machine::i1 ? lowered::Machine::i8 : to), {result, -1}});
    const size_t bytes = static_cast<size_t>(width(from)) / 8, out_bytes = static_cast<size_t>(std::max(8, width(to))) / 8;
    std::vector<std::vector<Scalar>> inputs;
    const std::vector<uint8_t> third(a_.begin() + 1, a_.end());
    for (int i = 0; i < row.arity; ++i) {
      const std::vector<uint8_t>& given = i == 0 ? a_ : i == 1 ? b_ : third;
      auto& elements = inputs.emplace_back();
      for (size_t k = 0; k < kCount; ++k) {
        elements.push_back({dtype_of(from), {0, 0}});
        std::memcpy(elements.back().bits.data(), given.data() + k * bytes, bytes);
      }
    }
    const test::Interpreted expected = test::interpret(graph, inputs, kCount);
    ASSERT_EQ(expected.wrong, "") << row.name << " " << name(from) << " " << name(to);
    const std::vector<uint8_t> got = run(loop);
    for (size_t k = 0; k < kCount; ++k) {
      uint64_t bits = 0;
      std::memcpy(&bits, got.data() + k * out_bytes, out_bytes);
      const Scalar& want = expected.results[0][k];
      const bool nan = is_float(to) && is_nan(dtype_of(to), bits) && is_nan(dtype_of(to), want.bits[0]);
      EXPECT_TRUE(bits == want.bits[0] || nan) << row.name << " " << name(from) << " " << name(to) << " element " << k;
    }
    ++compared;
  });
  EXPECT_GT(compared, 150U);
}

TEST_F(PortableLoops, TheLevelsAgreeOnCombiners) {
  const auto levels = portable::all_loops();
  if (levels[1] == nullptr) GTEST_SKIP() << "this machine runs the baseline's loops only";
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    const int64_t bytes = std::max(1, bits(dtype) / 8);
    for (size_t op = 0; op < portable::kOps; ++op) {
      if (levels[0]->combine[static_cast<size_t>(d)][op] == nullptr) continue;
      for (const int64_t length : {int64_t{1}, int64_t{16}, kCount}) {
        std::vector<std::vector<uint8_t>> results;
        for (const portable::Loops* level : levels) {
          std::vector<uint8_t> table = a_;
          const int64_t factor = bits(dtype) < 8 ? 2 : 1;
          portable::Rows rows;
          rows.to = {nullptr, static_cast<int64_t>(reinterpret_cast<intptr_t>(table.data())) * factor, bytes, bytes};
          rows.from = {nullptr, static_cast<int64_t>(reinterpret_cast<intptr_t>(b_.data())) * factor, bytes, bytes};
          rows.count = length == 1 ? kCount : 1;
          rows.length = length;
          rows.format = is_float(dtype) && bits(dtype) <= 16 ? &portable::small_float(dtype) : nullptr;
          level->combine[static_cast<size_t>(d)][op](rows);
          results.push_back(std::move(table));
        }
        const size_t width = is_complex(dtype)              ? static_cast<size_t>(bytes) / 2
                             : is_float(dtype) && bytes > 1 ? static_cast<size_t>(bytes)
                                                            : 0;
        if (dtype == DType::bf16) continue;  // its NaNs are not those of f16; both levels have the same code
        EXPECT_TRUE(same(results[0], results[1], width)) << name(dtype) << " " << op << " " << length;
      }
    }
  }
}

/// The floats of at most 16 bits that have arithmetic.
std::vector<DType> narrow_floats() {
  std::vector<DType> list;
  for (int d = 0; d < kDTypeCount; ++d)
    if (const auto dtype = static_cast<DType>(d); is_float(dtype) && bits(dtype) <= 16 && info(dtype).arithmetic)
      list.push_back(dtype);
  return list;
}

lowered::Primitive code_op(DType dtype, bool decodes) {
  using enum lowered::Primitive;
  if (dtype == DType::f16) return decodes ? half_to_float : float_to_half;
  return decodes ? code_to_float : float_to_code;
}

TEST(PortableFloats, EveryCodeIsDecodedAsBaseNumberSays) {
  for (const portable::Loops* level : portable::all_loops()) {
    if (level == nullptr) continue;
    for (const DType dtype : narrow_floats()) {
      const size_t count = size_t{1} << bits(dtype), width = static_cast<size_t>(std::max(1, bits(dtype) / 8));
      std::vector<uint8_t> codes(count * width);
      for (size_t code = 0; code < count; ++code) std::memcpy(codes.data() + code * width, &code, width);
      std::vector<float> decoded(count);
      const portable::StepLoop loop = level->step(code_op(dtype, true), lowered::part_type(dtype), lowered::Machine::f32);
      loop(decoded.data(), codes.data(), nullptr, nullptr, static_cast<int64_t>(count), &portable::small_float(dtype));
      for (size_t code = 0; code < count; ++code) {
        const double expected = decode(dtype, code);
        const bool agrees = std::isnan(expected)
                                ? std::isnan(decoded[code])
                                : std::bit_cast<uint32_t>(decoded[code]) == std::bit_cast<uint32_t>(static_cast<float>(expected));
        ASSERT_TRUE(agrees) << level->level << " " << name(dtype) << " code " << code;
      }
    }
  }
}

TEST(PortableFloats, FloatsAreRoundedAsBaseNumberSays) {
  constexpr size_t kFloats = 20000;
  Rng rng(3);
  std::vector<float> numbers(kFloats);
  for (float& number : numbers) {
    const double exact = std::ldexp(static_cast<double>(rng.below(1 << 13)) / (rng.chance(50) ? 1.0 : 3.0),
                                    static_cast<int>(rng.between(-40, 20)));
    number = rng.chance(10) ? std::bit_cast<float>(static_cast<uint32_t>(rng.next()))
                            : static_cast<float>(rng.chance(50) ? exact : -exact);
  }
  for (const portable::Loops* level : portable::all_loops()) {
    if (level == nullptr) continue;
    for (const DType dtype : narrow_floats()) {
      const size_t width = static_cast<size_t>(std::max(1, bits(dtype) / 8));
      std::vector<uint8_t> codes(kFloats * width);
      const portable::StepLoop loop = level->step(code_op(dtype, false), lowered::Machine::f32, lowered::part_type(dtype));
      loop(codes.data(), numbers.data(), nullptr, nullptr, kFloats, &portable::small_float(dtype));
      for (size_t i = 0; i < kFloats; ++i) {
        uint64_t code = 0;
        std::memcpy(&code, codes.data() + i * width, width);
        const uint64_t expected = encode(dtype, static_cast<double>(numbers[i]));
        ASSERT_TRUE(code == expected || (is_nan(dtype, code) && is_nan(dtype, expected)))
            << level->level << " " << name(dtype) << " " << numbers[i] << ": " << code << ", expected " << expected;
      }
    }
  }
}

}  // namespace
}  // namespace strew
