// What is computed between a gather and a scatter: where it ends up, why, and that its values are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/options.h"
#include "tests/support/small_stack.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

struct Data {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<double> values;
};

Tensor tensor_from(const Data& data) {
  Tensor out = make_tensor(data.dtype, data.dims).value();
  for (size_t i = 0; i < data.values.size(); ++i)
    store_element(data.dtype, out.data.data(), static_cast<int64_t>(i),
                  Scalar{data.dtype, {encode(data.dtype, data.values[i]), 0}});
  return out;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    out.push_back(decode(tensor.dtype, load_element(tensor.dtype, tensor.data.data(), i).bits[0]));
  return out;
}

/// The first output of `text` on every backend, with folding and without; they must agree.
std::vector<double> run(const std::string& text, const std::vector<Data>& inputs) {
  std::vector<double> first;
  for (const bool fold : {true, false}) {
    ImportOptions import_options;
    import_options.fuse = fold;
    const auto imported = import_mlir_text(text, import_options);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
    if (!imported.ok()) return {};
    for (const char* backend : {"reference", "auto"}) {
      std::vector<std::unique_ptr<Tensor>> copies;
      for (const Data& input : inputs) copies.push_back(std::make_unique<Tensor>(tensor_from(input)));
      Runtime runtime;
      ProgramOptions options;
      options.kernel.backend = test::backend(backend);
      const auto outputs = run_program(runtime, *imported, std::move(copies), options);
      EXPECT_TRUE(outputs.ok()) << outputs.status().message();
      if (!outputs.ok()) return {};
      if (first.empty()) first = values_of(outputs->front());
      EXPECT_EQ(values_of(outputs->front()), first) << "fold " << fold << " on " << backend << "\n" << text;
    }
  }
  return first;
}

/// %d: 4 i32, %i: 3 positions, %u: 3 i32. `compute` defines %c from %g and %u.
std::string idiom(const std::string& compute, const std::string& unique, const std::string& more = "") {
  return "func.func @main(%d: tensor<4xi32>, %i: tensor<3x1xindex>, %u: tensor<3xi32>, %e: tensor<4xi32>, %j: tensor<3x1xindex>)"
         " -> tensor<4xi32> {\n"
         "  %g = tensor.gather %d[%i] gather_dims([0]) : (tensor<4xi32>, tensor<3x1xindex>) -> tensor<3xi32>\n" +
         compute + "\n" + more + "\n  %r = tensor.scatter %c into %d[%i] coordinates = [0] " + unique +
         " : tensor<3xi32> into tensor<4xi32>[tensor<3x1xindex>] -> tensor<4xi32>\n  return %r : tensor<4xi32>\n}\n";
}
const std::string kAdd = "  %c = arith.addi %g, %u : tensor<3xi32>";

std::vector<Data> inputs(const std::vector<double>& positions) {
  return {Data{DType::i32, {4}, {10, 20, 30, 40}}, Data{DType::i64, {3, 1}, positions}, Data{DType::i32, {3}, {1, 2, 4}},
          Data{DType::i32, {4}, {5, 6, 7, 8}}, Data{DType::i64, {3, 1}, {3, 1, 0}}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.rfind(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Kernel count and the last kernel's notes.
std::string outcome(const std::string& text) {
  const auto imported = import_mlir_text(text);
  if (!imported.ok()) return imported.status().message();
  std::string out = std::to_string(imported->kernels().size());
  for (const std::string& note : imported->kernels().back().notes) out += "; " + note;
  return out;
}

TEST(TensorCompute, DuplicatesTellTheFusedFromTheTwo) {
  // Positions 2, 2, 0: a fold would make 30 + 1 + 2; the text says 30 + 2, the last update, and so do two kernels.
  EXPECT_EQ(run(idiom(kAdd, ""), inputs({2, 2, 0})), (std::vector<double>{14, 20, 32, 40}));
  // Without duplicates both are right.
  EXPECT_EQ(run(idiom(kAdd, ""), inputs({2, 1, 0})), (std::vector<double>{14, 22, 31, 40}));
  EXPECT_EQ(run(idiom(kAdd, "unique"), inputs({2, 1, 0})), (std::vector<double>{14, 22, 31, 40}));
  const auto fused = import_mlir_text(idiom(kAdd, "unique"));
  ASSERT_TRUE(fused.ok());
  ASSERT_EQ(fused->kernels().size(), 1U);
  EXPECT_EQ(std::get<Scatter>(*fused->kernel(0).op).combiner, CombinerKind::add);
}

TEST(TensorCompute, NotesSayWhich) {
  const std::string joined = "; fused: 1 elementwise operation on the updates";
  const std::string looked_up =
      joined + "; fused with tensor.gather of line 2: its result (extra 0) is looked up, and not stored";
  EXPECT_EQ(
      outcome(idiom(kAdd, "unique")),
      "1; fused with tensor.gather of line 2 and 1 elementwise operation: 'unique', the same destination and indices, no other "
      "reader");
  EXPECT_EQ(outcome(idiom(kAdd, "")),
            "1; not one update in place: no 'unique': where indices repeat, each update is computed from the value before the "
            "scatter and the last one stays, which is no fold" +
                looked_up);
  EXPECT_EQ(outcome(replaced(idiom(kAdd, "unique"), "into %d[", "into %e[")),
            "1; not one update in place: tensor.gather of line 2 reads another tensor than the destination" + looked_up);
  EXPECT_EQ(outcome(replaced(idiom(kAdd, "unique"), "%d[%i] coord", "%d[%j] coord")),
            "1; not one update in place: tensor.gather of line 2 has other indices" + looked_up);
  // Nothing but what was gathered is read: the scatter's updates are zeros that nobody reads.
  EXPECT_EQ(outcome(idiom("  %c = arith.muli %g, %g : tensor<3xi32>", "unique")).substr(0, 9), "1; fused ");
  const std::string other_reader =
      "  %o = tensor.scatter %c into %e[%i] scatter_dims([0]) unique : "
      "(tensor<3xi32>, tensor<4xi32>, tensor<3x1xindex>) -> tensor<4xi32>";
  const std::string looked_up_twice =
      joined +
      "; fused with tensor.gather of line 2: its result (extra 0) is looked up, and not stored, by 2 scatters: 8 bytes for each "
      "row, where stored rows cost 16";
  EXPECT_EQ(outcome(idiom(kAdd, "unique", other_reader)), "2" + looked_up_twice);
  const std::string gathered_too =
      "  %o = tensor.scatter %g into %e[%i] scatter_dims([0]) unique : "
      "(tensor<3xi32>, tensor<4xi32>, tensor<3x1xindex>) -> tensor<4xi32>";
  EXPECT_EQ(
      outcome(idiom(kAdd, "unique", gathered_too)),
      "2; not one update in place: the result of tensor.gather of line 2 is read by another operation too" + looked_up_twice);
}

TEST(TensorCompute, TheFusedKernelHasTheFirstName) {
  const auto imported = import_mlir_text(idiom(kAdd, "unique"));
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->kernel(0).name, "main");
  ImportOptions options;
  options.fuse = false;
  const auto plain = import_mlir_text(idiom(kAdd, "unique"), options);
  ASSERT_EQ(plain->kernels().size(), 2U);
  EXPECT_EQ(plain->kernel(1).name, "main_2");
}

TEST(TensorCompute, EachWayGivesTheSameValues) {
  // (g * 3 - u) ^ u, with a splat, a value used twice, and operands in the order that is no named combiner.
  const std::string compute = R"(  %k = arith.constant dense<3> : tensor<3xi32>
  %x = stablehlo.multiply %g, %k : tensor<3xi32>
  %y = arith.subi %x, %u : tensor<3xi32>
  %c = arith.xori %y, %u : tensor<3xi32>)";
  const std::vector<double> expected{(30 - 4) ^ 4, (60 - 2) ^ 2, (90 - 1) ^ 1, 40};
  EXPECT_EQ(run(idiom(compute, "unique"), inputs({2, 1, 0})), expected);
  EXPECT_EQ(run(idiom(compute, ""), inputs({2, 1, 0})), expected);
  // No gather feeds the source: the scatter computes it from its updates, the last of which stays.
  EXPECT_EQ(run(idiom("  %c = arith.muli %u, %u : tensor<3xi32>", ""), inputs({2, 2, 0})), (std::vector<double>{16, 20, 4, 40}));
  EXPECT_EQ(outcome(idiom("  %c = arith.muli %u, %u : tensor<3xi32>", "")), "2; fused: 1 elementwise operation on the updates");
  // Two gathers: one is computed on as it gathers, the other is its second tensor.
  const std::string two = R"(  %h = tensor.gather %e[%j] gather_dims([0]) : (tensor<4xi32>, tensor<3x1xindex>) -> tensor<3xi32>
  %c = arith.subi %g, %h : tensor<3xi32>)";
  EXPECT_EQ(run(idiom(two, ""), inputs({2, 1, 0})), (std::vector<double>{10 - 5, 20 - 6, 30 - 8, 40}));
  EXPECT_EQ(run(idiom(two, "unique"), inputs({2, 1, 0})), (std::vector<double>{10 - 5, 20 - 6, 30 - 8, 40}));
  // Nothing but what was gathered.
  EXPECT_EQ(run(idiom("  %c = arith.muli %g, %g : tensor<3xi32>", "unique"), inputs({2, 1, 0})),
            (std::vector<double>{100, 400, 900, 40}));
}

/// With a length of the indices that is known at the call only, the updates that nobody reads have it too.
TEST(TensorCompute, OpenLengthsFuseToo) {
  const auto open = [](std::string text) {
    for (const auto& [from, to] : {std::pair("tensor<3x1x", "tensor<?x1x"), std::pair("tensor<3xi32>", "tensor<?xi32>")})
      for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, std::string(from).size(), to);
    return text;
  };
  for (const std::string compute : {"  %c = arith.addi %g, %u : tensor<3xi32>", "  %c = arith.addi %g, %g : tensor<3xi32>"}) {
    EXPECT_EQ(outcome(open(idiom(compute, "unique"))).substr(0, 9), "1; fused ");
    run(open(idiom(compute, "unique")), inputs({2, 1, 0}));
  }
}

/// Gathers that feed each other through arithmetic: nothing recurses over them.
TEST(TensorCompute, GathersInARow) {
  const auto chain = [](int gathers) {
    std::string text =
        "func.func @main(%s: tensor<3xi32>, %i: tensor<3x1xindex>) -> tensor<3xi32> {\n"
        "  %c0 = tensor.gather %s[%i] gather_dims([0]) : (tensor<3xi32>, tensor<3x1xindex>) -> tensor<3xi32>\n";
    for (int n = 1; n <= gathers; ++n) {
      const std::string number = std::to_string(n), last = std::to_string(n - 1);
      text += "  %g" + number + " = tensor.gather %c" + last +
              "[%i] gather_dims([0]) : (tensor<3xi32>, tensor<3x1xindex>) -> tensor<3xi32>\n  %c" + number + " = arith.addi %g" +
              number + ", %g" + number + " : tensor<3xi32>\n";
    }
    return text + "  return %g" + std::to_string(gathers) + " : tensor<3xi32>\n}\n";
  };
  test::on_small_stack(test::kSmallStack, [&] { EXPECT_EQ(import_message(chain(4000)), "imported"); });
}

/// One row per operation whose meaning in arith is not the node of the same name.
TEST(TensorCompute, ArithMeansWhatItSays) {
  struct Row {
    std::string compute;
    std::vector<double> expected;  ///< at positions 0, 1, 2, from -7, 2, 3 and 2, -3, 3
  };
  const std::string i1 = "tensor<3xi1>", i32 = "tensor<3xi32>";
  const auto bits = [&](const std::string& op) {  // op on (g < 0), (u < 0)
    return "  %z = arith.constant dense<0> : tensor<3xi32>\n  %a = arith.cmpi slt, %g, %z : tensor<3xi32>\n"
           "  %b = arith.cmpi slt, %u, %z : tensor<3xi32>\n" +
           op;
  };
  const std::vector<Row> rows{
      {"  %c = arith.divui %g, %u : tensor<3xi32>", {2147483644, 0, 1}},
      {"  %c = arith.divsi %g, %u : tensor<3xi32>", {-3, 0, 1}},
      {"  %c = arith.remui %g, %u : tensor<3xi32>", {1, 2, 0}},
      {"  %c = arith.maxui %g, %u : tensor<3xi32>", {-7, -3, 3}},
      {"  %c = arith.minsi %g, %u : tensor<3xi32>", {-7, -3, 3}},
      {"  %c = arith.shrui %g, %u : tensor<3xi32>", {1073741822, 0, 0}},
      {bits("  %x = arith.addi %a, %b : tensor<3xi1>\n  %c = arith.extui %x : tensor<3xi1> to tensor<3xi32>"), {1, 1, 0}},
      {bits("  %x = arith.muli %a, %a : tensor<3xi1>\n  %c = arith.extsi %x : tensor<3xi1> to tensor<3xi32>"), {-1, 0, 0}},
      {bits("  %c = arith.select %a, %u, %g : tensor<3xi1>, tensor<3xi32>"), {2, 2, 3}},
      {"  %x = arith.cmpi ult, %g, %u : tensor<3xi32>\n  %c = arith.extui %x : tensor<3xi1> to tensor<3xi32>", {0, 1, 0}},
      {"  %x = arith.trunci %g : tensor<3xi32> to tensor<3xi1>\n  %c = arith.extui %x : tensor<3xi1> to tensor<3xi32>",
       {1, 0, 1}},
      {"  %x = arith.uitofp %g : tensor<3xi32> to tensor<3xf64>\n  %c = arith.fptoui %x : tensor<3xf64> to tensor<3xi32>",
       {-7, 2, 3}},
      {"  %x = arith.trunci %g : tensor<3xi32> to tensor<3xi8>\n  %c = arith.extui %x : tensor<3xi8> to tensor<3xi32>",
       {249, 2, 3}},
      {"  %x = arith.sitofp %g : tensor<3xi32> to tensor<3xf32>\n  %s = math.sqrt %x : tensor<3xf32>\n"
       "  %k = arith.constant dense<9.0> : tensor<3xf32>\n  %m = arith.minnumf %s, %k : tensor<3xf32>\n"
       "  %c = arith.fptosi %m : tensor<3xf32> to tensor<3xi32>",
       {9, 1, 1}},
      {"  %x = arith.sitofp %g : tensor<3xi32> to tensor<3xf32>\n  %s = math.sqrt %x : tensor<3xf32>\n"
       "  %b = arith.cmpf uge, %s, %x : tensor<3xf32>\n  %c = arith.extui %b : tensor<3xi1> to tensor<3xi32>",
       {1, 0, 0}},
      {"  %x = arith.sitofp %g : tensor<3xi32> to tensor<3xf32>\n  %s = math.sqrt %x : tensor<3xf32>\n"
       "  %b = arith.cmpf one, %s, %x : tensor<3xf32>\n  %c = arith.extui %b : tensor<3xi1> to tensor<3xi32>",
       {0, 1, 1}},
      {"  %x = arith.sitofp %g : tensor<3xi32> to tensor<3xf32>\n  %s = math.sqrt %x : tensor<3xf32>\n"
       "  %b = arith.cmpf uno, %s, %x : tensor<3xf32>\n  %c = arith.extui %b : tensor<3xi1> to tensor<3xi32>",
       {1, 0, 0}},
      {"  %x = stablehlo.maximum %g, %u : tensor<3xi32>\n  %c = \"stablehlo.negate\"(%x) : (tensor<3xi32>) -> tensor<3xi32>",
       {-2, -2, -3}},
  };
  for (const Row& row : rows) {
    std::vector<double> expected = row.expected;
    expected.push_back(40);
    std::vector<Data> data = inputs({0, 1, 2});
    data[0] = Data{DType::i32, {4}, {-7, 2, 3, 40}};
    data[2] = Data{DType::i32, {3}, {2, -3, 3}};
    EXPECT_EQ(run(idiom(row.compute, "unique"), data), expected) << row.compute;
    EXPECT_EQ(run(idiom(row.compute, ""), data), expected) << row.compute;
  }
}

TEST(TensorCompute, WiderArithmeticBetweenNarrowRows) {
  const std::string text =
      R"(func.func @main(%d: tensor<3x2xbf16>, %i: tensor<2x1xindex>, %u: tensor<2x2xf32>) -> tensor<3x2xbf16> {
  %g = tensor.gather %d[%i] gather_dims([0]) : (tensor<3x2xbf16>, tensor<2x1xindex>) -> tensor<2x2xbf16>
  %w = arith.extf %g : tensor<2x2xbf16> to tensor<2x2xf32>
  %s = arith.addf %w, %u : tensor<2x2xf32>
  %c = arith.truncf %s : tensor<2x2xf32> to tensor<2x2xbf16>
  %r = tensor.scatter %c into %d[%i] scatter_dims([0]) unique : (tensor<2x2xbf16>, tensor<3x2xbf16>, tensor<2x1xindex>) -> tensor<3x2xbf16>
  return %r : tensor<3x2xbf16>
})";
  EXPECT_EQ(outcome(text).substr(0, 8), "1; fused");
  EXPECT_EQ(run(text, {Data{DType::bf16, {3, 2}, {256, 1, 2, 3, 4, 5}}, Data{DType::i64, {2, 1}, {2, 0}},
                       Data{DType::f32, {2, 2}, {0.5, 0.25, 0.75, 1}}}),
            (std::vector<double>{256, 2, 2, 3, 4.5, 5.25}));  // 256.75 has no bf16: to nearest, 256
}

}  // namespace
}  // namespace strew
