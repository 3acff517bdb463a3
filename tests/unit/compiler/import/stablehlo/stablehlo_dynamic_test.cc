// Shapes that are known at the call only, and the operations around kernels that became Computes with them: reverse, pad, scans, barriers.
// Each file reads its result through a gather of all rows, so that there is a kernel.
#include <gmock/gmock.h>

#include <cstring>

#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/kernel_arguments.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Tensor> floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  auto out = std::make_unique<Tensor>(make_tensor(DType::f32, std::move(dims)).value());
  std::memcpy(out->data.data(), values.data(), values.size() * sizeof(float));
  return out;
}

/// The result of @main(%x) with `body`, which defines %y of `type`, read at start 0.
std::vector<float> run(const std::string& argument, const std::string& body, const std::string& type, std::unique_ptr<Tensor> x) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: " + argument + ") -> " + type + " {\n" + body +
      "\n  %zero = stablehlo.constant dense<0> : tensor<1xi32>\n  %r = \"stablehlo.gather\"(%y, %zero) <{dimension_numbers = "
      "#stablehlo.gather<offset_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: " +
      type.substr(7, type.find('x') - 7) + ">}> : (" + type + ", tensor<1xi32>) -> " + type + "\n  return %r : " + type +
      "\n}\n");
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  for (const Opaque& opaque : imported->opaques()) ADD_FAILURE() << opaque.location << ": " << opaque.reason;
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(std::move(x));
  const auto out = run_program(runtime, *imported, std::move(inputs), options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  std::vector<float> values(static_cast<size_t>((*out)[0].elements()));
  std::memcpy(values.data(), (*out)[0].data.data(), values.size() * sizeof(float));
  return values;
}

/// Why the first operation of `body` is opaque; "" if none is.
std::string reason(const std::string& body) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: tensor<4xf32>, %u: tensor<?x3xf32>, %i: tensor<i32>, %s: tensor<f32>, %d: tensor<2xi32>) -> "
      "tensor<1xf32> {\n" +
      body +
      "\n  %r = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>\n  return %r : "
      "tensor<1xf32>\n}\n");
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  return !imported.ok() || imported->opaques().empty() ? "" : imported->opaque(0).reason;
}

TEST(StablehloDynamic, TheExtentsOfWhatIsConcatenatedAreAddedWithoutOverflow) {
  const std::string type = "tensor<576460752303423488xi8>";  // 2^59 elements, of which sixteen are 2^63
  std::string operands = "%x", types = type;
  for (int i = 1; i < 16; ++i) {
    operands += ", %x";
    types += ", " + type;
  }
  const auto imported = import_mlir_text(
      "func.func @main(%x: " + type + ", %i: tensor<i32>) -> tensor<1xi8> {\n  %y = " + "\"stablehlo.concatenate\"(" + operands +
      ") <{dimension = 0 : i64}> : (" + types + ") -> tensor<?xi8>\n  %r = stablehlo.dynamic_slice %y, %i, sizes = [1] : " +
      "(tensor<?xi8>, tensor<i32>) -> tensor<1xi8>\n  return %r : tensor<1xi8>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->opaques().size(), 1U);
  EXPECT_THAT(imported->opaque(0).reason, HasSubstr("the sum of the extents in dim 0 does not fit 63 bits"));
}

TEST(StablehloDynamic, ReverseAndBarrier) {
  EXPECT_THAT(run("tensor<3xf32>",
                  "  %a = stablehlo.reverse %x, dims = [0] : tensor<3xf32>\n  %b:2 = stablehlo.optimization_barrier %a, %x : "
                  "tensor<3xf32>, tensor<3xf32>\n  %y = stablehlo.add %b#0, %b#0 : tensor<3xf32>",
                  "tensor<3xf32>", floats({3}, {1, 2, 3})),
              ElementsAre(6, 4, 2));
  EXPECT_THAT(reason("  %k = stablehlo.reverse %x, dims = [0, 0] : tensor<4xf32>"), HasSubstr("dimensions holds 0"));
  EXPECT_THAT(reason("  %k = stablehlo.reverse %x, dims = [1] : tensor<4xf32>"), HasSubstr("dimensions holds 1"));
}

TEST(StablehloDynamic, PadsOfEveryKind) {
  const auto pad = [](const std::string& low, const std::string& high, const std::string& interior, const std::string& type) {
    return "  %z = stablehlo.constant dense<9.0> : tensor<f32>\n  %y = stablehlo.pad %x, %z, low = [" + low + "], high = [" +
           high + "], interior = [" + interior + "] : (tensor<3xf32>, tensor<f32>) -> " + type;
  };
  const auto x = [] { return floats({3}, {1, 2, 3}); };
  EXPECT_THAT(run("tensor<3xf32>", pad("1", "2", "0", "tensor<6xf32>"), "tensor<6xf32>", x()), ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(run("tensor<3xf32>", pad("0", "0", "1", "tensor<5xf32>"), "tensor<5xf32>", x()), ElementsAre(1, 9, 2, 9, 3));
  EXPECT_THAT(run("tensor<3xf32>", pad("-1", "1", "2", "tensor<7xf32>"), "tensor<7xf32>", x()), ElementsAre(9, 9, 2, 9, 9, 3, 9));
  EXPECT_THAT(run("tensor<3xf32>", pad("-1", "-1", "0", "tensor<1xf32>"), "tensor<1xf32>", x()), ElementsAre(2));
  EXPECT_THAT(run("tensor<3xf32>", pad("0", "0", "0", "tensor<3xf32>"), "tensor<3xf32>", x()), ElementsAre(1, 2, 3));
  const std::string types = "] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>";
  EXPECT_THAT(reason("  %k = stablehlo.pad %x, %s, low = [2], high = [0], interior = [0" + types), HasSubstr("expected [6]"));
  EXPECT_THAT(reason("  %k = stablehlo.pad %x, %s, low = [1], high = [0], interior = [-1" + types), HasSubstr("interior -1"));
  EXPECT_THAT(reason("  %k = stablehlo.pad %x, %s, low = [9223372036854775807], high = [0], interior = [0" + types),
              HasSubstr("2^31"));
  EXPECT_THAT(reason("  %k = stablehlo.pad %x, %s, low = [-9223372036854775808], high = [0], interior = [0" + types),
              testing::Not(""));
  EXPECT_THAT(
      reason("  %k = stablehlo.pad %u, %s, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<?x3xf32>, tensor<f32>) -> "
             "tensor<?x4xf32>"),
      HasSubstr("open dims"));
}

std::string window(const std::string& size, const std::string& padding, const std::string& op, const std::string& initial) {
  return "  %z = stablehlo.constant dense<" + initial +
         "> : tensor<f32>\n  %y = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: " + size +
         ">, padding = dense<[[" + padding +
         "]]> : tensor<1x2xi64>}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %c = stablehlo." + op +
         " %a, %b : tensor<f32>\n    stablehlo.return %c : tensor<f32>\n  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>";
}

TEST(StablehloDynamic, WindowsThatAreScans) {
  const auto x = [] { return floats({4}, {1, 3, 2, 4}); };
  const std::string type = "tensor<4xf32>";
  EXPECT_THAT(run(type, window("4", "3, 0", "add", "0.0"), type, x()), ElementsAre(1, 4, 6, 10));
  EXPECT_THAT(run(type, window("4", "3, 0", "multiply", "1.0"), type, x()), ElementsAre(1, 3, 6, 24));
  EXPECT_THAT(run(type, window("4", "3, 0", "maximum", "2.0"), type, x()), ElementsAre(2, 3, 3, 4));
  EXPECT_THAT(run(type, window("4", "0, 3", "minimum", "9.0"), type, x()), ElementsAre(1, 2, 2, 4));
  // JAX broadcasts the initial value to rank 0, where it was.
  const auto as_jax = [](const std::string& initial) {
    std::string text = window("4", "3, 0", "add", initial);
    const size_t first = text.find("%z");
    text.replace(first, 2, "%nothing");
    return text.insert(text.find('\n') + 1,
                       "  %scalar = stablehlo.reshape %nothing : (tensor<f32>) -> tensor<f32>\n  %z = stablehlo.broadcast_in_dim "
                       "%scalar, dims = [] : "
                       "(tensor<f32>) -> tensor<f32>\n");
  };
  EXPECT_THAT(run(type, as_jax("0.0"), type, x()), ElementsAre(1, 4, 6, 10));
  EXPECT_THAT(reason(as_jax("2.0")), HasSubstr("initial value"));
  EXPECT_THAT(reason(window("4", "3, 0", "add", "1.0")), HasSubstr("initial value"));
  EXPECT_THAT(reason(window("4", "0, 3", "add", "0.0")), HasSubstr("order matters"));
  EXPECT_THAT(reason(window("2", "1, 0", "add", "0.0")), HasSubstr("a window of 2"));
  EXPECT_THAT(reason(window("4", "2, 1", "add", "0.0")), HasSubstr("padding [2, 1]"));
  EXPECT_THAT(reason(window("4", "3, 0", "subtract", "0.0")), HasSubstr("initial value"));
}

TEST(StablehloDynamic, ShapesThatAreKnownAtTheCall) {
  const std::string body =
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>\n"
      "  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "  %j = stablehlo.dynamic_iota %m, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
      "  %f = stablehlo.convert %j : (tensor<?xi32>) -> tensor<?xf32>\n"
      "  %two = stablehlo.constant dense<2> : tensor<1xi32>\n"
      "  %s = stablehlo.concatenate %m, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
      "  %g = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>\n"
      "  %h = stablehlo.add %g, %x : tensor<?x2xf32>\n"
      "  %six = stablehlo.constant dense<6> : tensor<1xi32>\n"
      "  %y = stablehlo.dynamic_reshape %h, %six : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<6xf32>";
  EXPECT_THAT(run("tensor<?x2xf32>", body, "tensor<6xf32>", floats({3, 2}, {10, 20, 30, 40, 50, 60})),
              ElementsAre(10, 20, 31, 41, 52, 62));
  EXPECT_THAT(reason("  %k = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4xf32>) -> tensor<i32>"),
              HasSubstr("expected 0 to 0"));
  EXPECT_THAT(reason("  %k = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<f32>"),
              HasSubstr("tensor<i32>"));
  EXPECT_THAT(reason("  %k = stablehlo.dynamic_iota %d, dim = 2 : (tensor<2xi32>) -> tensor<?x?xi32>"),
              HasSubstr("iota_dimension"));
  EXPECT_THAT(reason("  %k = stablehlo.dynamic_iota %i, dim = 0 : (tensor<i32>) -> tensor<?xi32>"), HasSubstr("the shape is"));
  EXPECT_THAT(reason("  %k = stablehlo.dynamic_reshape %x, %d : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?x?xf32>"),
              HasSubstr("expected one integer per dim"));
  EXPECT_THAT(
      reason(
          "  %c = stablehlo.constant dense<[-2, 2]> : tensor<2xi32>\n  %k = stablehlo.dynamic_reshape %x, %c : (tensor<4xf32>, "
          "tensor<2xi32>) -> tensor<?x?xf32>"),
      HasSubstr("dim 0 of the shape is -2"));
  EXPECT_THAT(
      reason("  %k = stablehlo.dynamic_broadcast_in_dim %x, %d, dims = [2] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>"),
      HasSubstr("broadcast_dimensions holds 2"));
}

TEST(StablehloDynamic, ShapeAssertionsAreChecked) {
  const auto imported =
      import_mlir_text(R"(func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %i: tensor<i32>) -> tensor<1xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %a = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%a, %n) {api_version = 2 : i32, error_message = "n is {0}, below 2. Using the following"} : (tensor<i1>, tensor<i32>) -> ()
  %b = stablehlo.compare EQ, %n, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%b) {error_message = "n differs"} : (tensor<i1>) -> ()
  %r = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<?xf32>, tensor<i32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}
)");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_TRUE(imported->opaques().empty());
  ASSERT_EQ(test::arguments_for(imported->kernel(0), ArgumentUse::equal_scalars).size(), 1U) << "the kernel does not read y";
  Runtime runtime;
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(floats({1}, {1}));
  inputs.push_back(floats({1}, {1}));
  inputs.push_back(std::make_unique<Tensor>(make_tensor(DType::i32, {}).value()));
  const auto out = run_program(runtime, *imported, std::move(inputs), {});
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.status().message(), HasSubstr("stablehlo.custom_call: the condition is 0, expected 1: n is {0}, below 2."));
}

}  // namespace
}  // namespace strew
