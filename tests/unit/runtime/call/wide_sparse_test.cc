// Wide accumulation of few updates: bits of the reference for rows and elements, every init and thread count, and where scratch is too
// little for it (then accumulators of everything).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/call/wide.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

struct Case {
  int64_t rows, width, updates;  ///< width 0: elements
  std::string dtype, init;
};

std::string op_text(const Case& c) {
  const std::string w = c.width == 0 ? "" : "," + std::to_string(c.width);
  const std::string rows = std::to_string(c.rows), updates = std::to_string(c.updates);
  return "strew1.scatter(operand=" + c.dtype + "[" + rows + w + "] indices=i32[" + updates + "] updates=" + c.dtype + "[" +
         updates + w + "]" + (c.width == 0 ? "" : " update_window_dims=[1]") +
         " inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add accumulate=wide "
         "oob=skip_window "
         "init=" +
         c.init + ")";
}

std::vector<uint16_t> run(const Case& c, const std::string& backend, const std::string& schedule, int threads) {
  auto op = parse_op(op_text(c));
  EXPECT_TRUE(op.ok()) << op.status().message();
  Runtime runtime;
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  options.threads = threads;
  auto kernel = runtime.get(*op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  const int64_t width = c.width == 0 ? 1 : c.width;
  const auto elements = static_cast<size_t>(c.rows * width);
  std::vector<uint16_t> operand(elements), values(static_cast<size_t>(c.updates * width)), result(elements, 0x1234);
  std::vector<int32_t> indices(static_cast<size_t>(c.updates));
  uint32_t state = 11;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  const auto number = [&] { return static_cast<uint16_t>(0x3c00u + next() % 0x300u); };
  for (uint16_t& v : operand) v = number();
  operand[3] = 0x7f81;  // a signalling NaN in both dtypes, in a row that nothing touches
  for (uint16_t& v : values) v = number();
  for (int32_t& i : indices)
    i = static_cast<int32_t>(next() % 5 == 0 ? 1 + next() % 7 : 1 + next() % static_cast<uint32_t>(c.rows + 20));
  for (int32_t& i : indices) i += width == 1 && i == 3;
  const int64_t table_dims[] = {c.rows, width}, update_dims[] = {c.updates, width};
  const int32_t rank = c.width == 0 ? 1 : 2;
  const DType dtype = *dtype_from_name(c.dtype);
  std::vector<TensorView> views = {{result.data(), dtype, rank, table_dims, nullptr}};
  if (c.init == "in_place") views[0].data = operand.data();
  if (c.init == "copy") views.push_back({operand.data(), dtype, rank, table_dims, nullptr});
  views.push_back({indices.data(), DType::i32, 1, update_dims, nullptr});
  views.push_back({values.data(), dtype, rank, update_dims, nullptr});
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return c.init == "in_place" ? operand : result;
}

TEST(WideSparse, BitsOfTheReference) {
  const std::string fill = "fill fill=1:";
  for (const std::string dtype : {"bf16", "f16"}) {
    for (const Case& c :
         {Case{40000, 20, 15000, dtype, "in_place"}, Case{9001, 5, 3000, dtype, "copy"}, Case{3000, 64, 900, dtype, fill + dtype},
          Case{400003, 0, 150000, dtype, "in_place"}, Case{50001, 0, 20000, dtype, "copy"}}) {
      const std::vector<uint16_t> expected = run(c, "reference", "", 0);
      for (const int threads : {1, 2, 3, 8}) {
        EXPECT_EQ(run(c, "llvm",
                      std::string(threads == 3 ? "scratch_mib=1," : "") + "strategy=owner,threads=" + std::to_string(threads), 0),
                  expected)
            << op_text(c) << " threads " << threads;
      }
      EXPECT_EQ(run(c, "llvm", "", 0), expected) << op_text(c);
    }
  }
}

}  // namespace
}  // namespace strew
