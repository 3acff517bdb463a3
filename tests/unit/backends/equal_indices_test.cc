// Indices for each element that are equal along rows, as broadcasting makes them: what generated code then does by rows (Walk::Way::equal_lanes) has the bits of the
// reference, also where only some rows, or parts of rows, have equal indices, on every level of the CPU, for every policy and number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "tests/support/levels.h"
#include "tests/support/options.h"
#include "tests/support/rng.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::Rng;
using test::Views;

constexpr int64_t kTable = 37, kRows = 23;

/// [kRows, columns]: most rows have one index, some another from a column on, and the others one per element. `beyond`: some are out of bounds.
std::vector<int64_t> indices_of(Rng& rng, int64_t columns, bool beyond) {
  std::vector<int64_t> out;
  const auto draw = [&] { return beyond && rng.chance(20) ? kTable + 3 - rng.below(2 * kTable + 9) : rng.below(kTable); };
  for (int64_t r = 0; r < kRows; ++r) {
    const int64_t kind = rng.below(4), from = rng.below(columns);
    int64_t index = draw();
    for (int64_t c = 0; c < columns; ++c) {
      if (kind == 0 || (kind == 1 && c == from)) index = draw();
      out.push_back(index);
    }
  }
  return out;
}

struct Case {
  DType dtype;
  CombinerKind combiner;
  OobPolicy oob;
};

class EqualIndices : public testing::TestWithParam<int64_t> {
 protected:
  static bool is_gather(const Op& op) { return std::holds_alternative<Gather>(op); }

  /// Runs the op on the tensors, of which the first is written, and compares it with the reference.
  void compare(const Op& op, const std::vector<TensorType>& types, std::vector<std::vector<uint8_t>> data,
               const std::string& what) {
    const auto run = [&](KernelOptions options, std::vector<uint8_t>& result) {
      const Expected<Kernel> kernel = runtime_.get(op, options);
      ASSERT_TRUE(kernel.ok()) << what << ": " << kernel.status().message();
      std::vector<std::vector<uint8_t>> copy = data;
      Views views;
      for (size_t t = 0; t < types.size(); ++t) views.add(copy[t].data(), types[t].dtype, types[t].dims);
      const Status status = kernel->run(views);
      result = copy.front();
      if (!status.ok()) {
        EXPECT_EQ(status.code(), Code::out_of_bounds) << what << ": " << status.message();
        EXPECT_EQ(result, data.front()) << what << ": written although an index is out of bounds";
      }
    };
    KernelOptions reference;
    reference.backend = test::backend("reference");
    std::vector<uint8_t> want, got;
    run(reference, want);
    std::vector<std::string> targets = {"native"};
    for (const std::string_view level : test::runnable_x86_64_levels()) targets.emplace_back(level);
    for (const std::string& target : targets)
      for (const char* const schedule : {"", "strategy=sequential", "strategy=window", "strategy=owner"}) {
        if (is_gather(op) && *schedule != 0) continue;
        KernelOptions options;
        options.backend = test::backend("llvm");
        options.target = *parse_target(target);
        options.threads = 3;
        test::set_schedule(options, schedule);
        run(options, got);
        EXPECT_EQ(want, got) << what << ", " << target << ", " << schedule;
      }
  }

  static std::vector<uint8_t> random_bytes(Rng& rng, int64_t count, DType dtype) {
    std::vector<uint8_t> out;
    for (int64_t i = 0; i < count; ++i) {
      if (dtype == DType::f32) {
        const float value = static_cast<float>(rng.below(2000) - 1000) / 7.0F;
        const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
        out.insert(out.end(), bytes, bytes + sizeof(value));
      } else {
        for (int b = 0; b < bits(dtype) / 8; ++b) out.push_back(static_cast<uint8_t>(rng.below(60)));
      }
    }
    return out;
  }

  template <class Integer>
  static std::vector<uint8_t> bytes_of(const std::vector<int64_t>& values) {
    std::vector<Integer> narrow(values.begin(), values.end());
    const auto* bytes = reinterpret_cast<const uint8_t*>(narrow.data());
    return {bytes, bytes + narrow.size() * sizeof(Integer)};
  }

  Runtime runtime_;
};

TEST_P(EqualIndices, ScattersHaveTheBitsOfTheReference) {
  const int64_t columns = GetParam();
  const TensorType indices = types::i64({kRows, columns});
  Rng rng(static_cast<uint64_t>(columns));
  for (const Case& each :
       {Case{DType::f32, CombinerKind::add, OobPolicy::error}, Case{DType::f32, CombinerKind::assign, OobPolicy::skip_element},
        Case{DType::bf16, CombinerKind::add, OobPolicy::skip_window}, Case{DType::u8, CombinerKind::max, OobPolicy::clamp},
        Case{DType::f64, CombinerKind::mul, OobPolicy::wrap}, Case{DType::i16, CombinerKind::assign, OobPolicy::error}})
    for (const bool beyond : {false, true}) {
      const TensorType table = types::tensor(each.dtype, {kTable, columns}),
                       updates = types::tensor(each.dtype, {kRows, columns});
      const Expected<Scatter> op =
          scatter_elements(table, indices, updates, 0).combine(each.combiner).oob(each.oob).in_place().build();
      ASSERT_TRUE(op.ok()) << op.status().message();
      const std::vector<std::vector<uint8_t>> data = {random_bytes(rng, kTable * columns, each.dtype),
                                                      bytes_of<int64_t>(indices_of(rng, columns, beyond)),
                                                      random_bytes(rng, kRows * columns, each.dtype)};
      compare(Op(*op), {table, indices, updates}, data, print(Op(*op)));
    }
}

TEST_P(EqualIndices, GathersHaveTheBitsOfTheReference) {
  const int64_t columns = GetParam();
  Rng rng(static_cast<uint64_t>(columns) + 1000);
  for (const DType index : {DType::i32, DType::i64})
    for (const OobPolicy oob : {OobPolicy::error, OobPolicy::clamp, OobPolicy::wrap})
      for (const bool beyond : {false, true}) {
        const TensorType table = types::f32({kTable, columns}), result = types::f32({kRows, columns});
        const TensorType indices = types::tensor(index, {kRows, columns});
        const Expected<Gather> op = gather_elements(table, indices, 0).oob(oob).build();
        ASSERT_TRUE(op.ok()) << op.status().message();
        const std::vector<int64_t> values = indices_of(rng, columns, beyond);
        const std::vector<std::vector<uint8_t>> data = {
            random_bytes(rng, kRows * columns, DType::f32), random_bytes(rng, kTable * columns, DType::f32),
            index == DType::i32 ? bytes_of<int32_t>(values) : bytes_of<int64_t>(values)};
        compare(Op(*op), {result, table, indices}, data, print(Op(*op)));
      }
}

INSTANTIATE_TEST_SUITE_P(Columns, EqualIndices, testing::Values(15, 16, 17, 32, 47, 64, 70));

}  // namespace
}  // namespace strew
