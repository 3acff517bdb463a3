// Indices that repeat along the elements of a row (torch's i[:, None].expand(-1, F)): where elements become rows, where they must not; and each
// form runs with and without folding to the same bits, and to the same message where an index is out of bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/number.h"
#include "compiler/import/import_bytes.h"
#include "strew/text.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Dims = std::vector<int64_t>;

std::string list(const Dims& dims) {
  std::string out;
  for (size_t d = 0; d < dims.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(dims[d]);
  return "[" + out + "]";
}
std::string type(const Dims& dims, const std::string& dtype) {
  std::string out = "tensor<";
  for (const int64_t d : dims) out += std::to_string(d) + "x";
  return out + dtype + ">";
}

/// A scatter into x, or a gather of x, of elements. Along `axis` the index is read; along each dim of `counted` an iota is a component of its
/// own; all other dims are batching dims. The index, an input, has dim d of the positions where repeats[d] is false.
struct Form {
  Dims operand, indices;
  int64_t axis = 0;
  std::vector<bool> repeats;
  Dims counted;
  bool gather = false;
  std::string dtype = "f32";
  std::string body = "%b";  ///< what the combiner returns
  bool iota_first = false;

  Dims batching() const {
    Dims out;
    for (int64_t d = 0; d < static_cast<int64_t>(operand.size()); ++d)
      if (d != axis && std::find(counted.begin(), counted.end(), d) == counted.end()) out.push_back(d);
    return out;
  }
  Dims components() const {
    Dims out = counted;
    out.insert(iota_first ? out.end() : out.begin(), axis);
    return out;
  }

  std::string text() const {
    Dims small, to, column = indices, vectors = indices;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (repeats[d]) continue;
      small.push_back(indices[d]);
      to.push_back(static_cast<int64_t>(d));
    }
    column.push_back(1);
    vectors.push_back(static_cast<int64_t>(components().size()));
    const std::string x = type(operand, dtype), u = type(indices, dtype), i = type(small, "i32"), c = type(column, "i32"),
                      v = type(vectors, "i32");
    std::string head =
        "func.func @main(%x: " + x + ", %i: " + i + (gather ? "" : ", %u: " + u) + ") -> " + (gather ? u : x) + " {\n";
    std::string out = head + "  %c = stablehlo.broadcast_in_dim %i, dims = " + list(to) + " : (" + i + ") -> " + c + "\n";
    std::string names, types;
    for (const int64_t d : components()) {
      const std::string name = d == axis ? "%c" : "%n" + std::to_string(d);
      if (d != axis) out += "  " + name + " = stablehlo.iota dim = " + std::to_string(d) + " : " + c + "\n";
      names += (names.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + c;
    }
    out += "  %v = stablehlo.concatenate " + names + ", dim = " + std::to_string(indices.size()) + " : (" + types + ") -> " + v +
           "\n";
    Dims removed = components();
    std::sort(removed.begin(), removed.end());
    const std::string vector_dim = ", index_vector_dim = " + std::to_string(indices.size());
    if (gather) {
      const Dims ones(operand.size(), 1);
      const std::string sizes = list(ones).substr(1);
      return out + "  %r = \"stablehlo.gather\"(%x, %v) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = " +
             list(removed) + ", operand_batching_dims = " + list(batching()) +
             ", start_indices_batching_dims = " + list(batching()) + ", start_index_map = " + list(components()) + vector_dim +
             ">, slice_sizes = array<i64: " + sizes.substr(0, sizes.size() - 1) + ">}> : (" + x + ", " + v + ") -> " + u +
             "\n  return %r : " + u + "\n}\n";
    }
    const std::string element = "tensor<" + dtype + ">";
    return out +
           "  %r = \"stablehlo.scatter\"(%x, %v, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = " +
           list(removed) + ", input_batching_dims = " + list(batching()) +
           ", scatter_indices_batching_dims = " + list(batching()) + ", scatter_dims_to_operand_dims = " + list(components()) +
           vector_dim + ">}> ({\n  ^bb0(%a: " + element + ", %b: " + element + "):\n" +
           (body == "%b" ? "" : "    %s = stablehlo." + body + " %a, %b : " + element + "\n") + "    stablehlo.return " +
           (body == "%b" ? "%b" : "%s") + " : " + element + "\n  }) : (" + x + ", " + v + ", " + u + ") -> " + x +
           "\n  return %r : " + x + "\n}\n";
  }
};

/// Inputs of floats hold any bits, NaNs of all payloads among them; those of integers are near [0, most), in bounds only if `valid`.
std::vector<Tensor> inputs_of(const Program& imported, int64_t most, bool valid, test::Rng& rng) {
  std::vector<Tensor> inputs = test::random_inputs(imported, rng);
  for (Tensor& input : inputs)
    for (int64_t e = 0; e < input.elements(); ++e) {
      if (is_integer(input.dtype)) {
        const int64_t index = valid || rng.below(5) != 0 ? rng.below(std::max<int64_t>(most, 1)) : rng.between(-3, most + 2);
        store_element(input.dtype, input.data.data(), e, {input.dtype, {encode_i64(input.dtype, index), 0}});
      } else if (rng.below(6) == 0) {
        store_element(input.dtype, input.data.data(), e,
                      {input.dtype, {0x7fa00000U | static_cast<uint64_t>(rng.below(1000)), 0}});
      }
    }
  return inputs;
}

/// The kernel's op, after runs both ways under every policy.
std::string folded(const Form& form, test::Rng& rng) {
  std::string out;
  const std::vector<OobPolicy> policies =
      form.gather
          ? std::vector{OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error, OobPolicy::fill_element, OobPolicy::fill_window}
          : std::vector{OobPolicy::skip_element, OobPolicy::skip_window, OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error};
  for (const OobPolicy policy : policies) {
    ImportOptions options;
    options.override_oob = true;
    options.oob = policy;
    const auto folded = import_mlir_text(form.text(), options);
    options.fuse = false;
    const auto plain = import_mlir_text(form.text(), options);
    EXPECT_TRUE(plain.ok()) << plain.status().message() << "\n" << form.text();
    EXPECT_TRUE(folded.ok()) << folded.status().message() << "\n" << form.text();
    if (!plain.ok() || !folded.ok()) return "";
    for (int round = 0; round < 3; ++round) {
      const auto inputs = inputs_of(*plain, form.operand[static_cast<size_t>(form.axis)], round == 0, rng);
      const auto want = test::run_copy(*plain, inputs, "reference");
      for (const char* backend : {"reference", "portable"}) {
        const auto got = test::run_copy(*folded, inputs, backend);
        const bool moves = form.gather || form.body == "%b";
        const bool same = moves || !got.ok() || !want.ok() ? test::is_same_bytes(got, want) : test::difference(got, want).empty();
        EXPECT_TRUE(same) << name(policy) << " on " << backend << "\n"
                          << (got.ok() ? "" : got.status().message()) << "\n"
                          << (want.ok() ? "" : want.status().message()) << "\n"
                          << form.text() << print(folded->kernel(0).op);
      }
    }
    out = print(folded->kernel(0).op);
  }
  return out;
}

TEST(FusionRows, AnIndexThatRepeatsMakesARow) {
  test::Rng rng(1);
  Form form{.operand = {7, 4}, .indices = {5, 4}, .repeats = {false, true}, .body = "add"};
  EXPECT_THAT(folded(form, rng), HasSubstr("indices=i32[5] updates=f32[5,4] update_window_dims=[1] inserted_window_dims=[0] "
                                           "scatter_dims_to_operand_dims=[0] index_vector_dim=1"));
  form.gather = true;
  EXPECT_THAT(folded(form, rng), HasSubstr("indices=i32[5] result=f32[5,4] offset_dims=[1] collapsed_slice_dims=[0]"));
  form = {.operand = {7, 2, 3}, .indices = {5, 2, 3}, .repeats = {false, true, true}};
  EXPECT_THAT(folded(form, rng), HasSubstr("update_window_dims=[1,2]"));
  // Rows in each batch.
  form = {.operand = {2, 7, 3}, .indices = {2, 5, 3}, .axis = 1, .repeats = {true, false, true}};
  EXPECT_THAT(folded(form, rng),
              HasSubstr("indices=i32[2,5,1] updates=f32[2,5,3] update_window_dims=[2] inserted_window_dims=[1] "
                        "input_batching_dims=[0] scatter_indices_batching_dims=[0]"));
}

TEST(FusionRows, ACoordinateThatIsAComponentMakesARow) {
  test::Rng rng(2);
  Form form{.operand = {7, 4}, .indices = {5, 4}, .repeats = {false, true}, .counted = {1}};
  EXPECT_THAT(folded(form, rng), HasSubstr("indices=i32[5] updates=f32[5,4] update_window_dims=[1] inserted_window_dims=[0]"));
  form.iota_first = true;  // the index is component 1 of the file
  EXPECT_THAT(folded(form, rng), HasSubstr("indices=i32[5] updates=f32[5,4] update_window_dims=[1] inserted_window_dims=[0]"));
  form.gather = true;
  EXPECT_THAT(folded(form, rng), HasSubstr("indices=i32[5] result=f32[5,4] offset_dims=[1]"));
  form.indices = {5, 3};  // not the whole dim
  EXPECT_THAT(folded(form, rng), HasSubstr("slice_sizes=[1,3]"));
  form.indices = {5, 6};  // more than the dim: some are out of bounds
  form.gather = false;
  EXPECT_THAT(folded(form, rng), Not(HasSubstr("update_window_dims")));
}

TEST(FusionRows, WhatIsNoRowStays) {
  test::Rng rng(3);
  Form form{.operand = {7, 4}, .indices = {5, 4}, .repeats = {false, false}};
  EXPECT_THAT(folded(form, rng), Not(HasSubstr("update_window_dims")));
  form = {.operand = {7, 4}, .indices = {7, 5}, .axis = 1, .repeats = {true, false}};  // columns
  EXPECT_THAT(folded(form, rng), Not(HasSubstr("update_window_dims")));
  form = {
      .operand = {3, 7, 2}, .indices = {3, 5, 2}, .axis = 1, .repeats = {true, false, false}};  // the last dim does not repeat
  EXPECT_THAT(folded(form, rng), Not(HasSubstr("update_window_dims")));
}

TEST(FusionRows, TheMessageHasTheFilesCoordinates) {
  const Form form{.operand = {7, 4}, .indices = {5, 4}, .repeats = {false, true}, .counted = {1}, .iota_first = true};
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::error;
  const auto imported = import_mlir_text(form.text(), options);
  ASSERT_TRUE(imported.ok());
  test::Rng rng(4);
  auto inputs = inputs_of(*imported, 7, true, rng);
  store_element(DType::i32, inputs[1].data.data(), 3, {DType::i32, {encode_i64(DType::i32, 9), 0}});
  EXPECT_THAT(test::run_copy(*imported, inputs, "auto").status().message(),
              HasSubstr("update position [3,0] (linear 12), component 1: value 9, expected 0 <= v <= 6"));
}

/// ONNX, with a number of rows that is known at the call: `op` of indices [n] that Expand brings to [n,3]. `rows`: how many updates there are, if only the number of
/// the indices is known at the call. `into_zeros`: a scatter's operand is ConstantOfShape of the shape of `data`, whose rows are then known at the call, too.
Expected<Program> expanded(const std::string& op, bool fold, int64_t rows = testing::kSymbolic, bool into_zeros = false) {
  testing::OnnxModel m;
  m.opset = 18;
  m.inputs = {{"data", testing::kFloat, {7, 3}},
              {"i", testing::kInt64, {testing::kSymbolic}, true, {"n"}},
              {"u", testing::kFloat, {rows, 3}, true, {"n"}}};
  if (into_zeros) m.inputs[0] = {"data", testing::kFloat, {testing::kSymbolic, 3}, true, {"rows"}};
  m.outputs = {{"y", testing::kFloat, {}, false}};
  const int64_t one = 1;
  m.initializers = {{"axes", testing::kInt64, {1}, std::string(reinterpret_cast<const char*>(&one), sizeof one)}};
  m.nodes = {{"Unsqueeze", "column", "", {"i", "axes"}, {"c"}, {}},
             {"Shape", "shape", "", {"u"}, {"s"}, {}},
             {"Expand", "expand", "", {"c", "s"}, {"e"}, {}}};
  if (into_zeros) {
    m.nodes.push_back({"Shape", "shape_of_data", "", {"data"}, {"s2"}, {}});
    m.nodes.push_back({"ConstantOfShape", "zeros", "", {"s2"}, {"z"}, {}});
  }
  if (op == "GatherElements")
    m.nodes.push_back({op, "op", "", {"data", "e"}, {"y"}, {}});
  else
    m.nodes.push_back({op, "op", "", {into_zeros ? "z" : "data", "e", "u"}, {"y"}, {testing::onnx_string("reduction", "add")}});
  ImportOptions options;
  options.fuse = fold;
  return import_bytes(m.bytes(), "m.onnx", options);
}

TEST(FusionRows, AnOpenNumberOfRows) {
  test::Rng rng(6);
  for (const std::string op : {"ScatterElements", "GatherElements"}) {
    const auto folded = expanded(op, true), plain = expanded(op, false);
    ASSERT_TRUE(folded.ok() && plain.ok()) << folded.status().message() << plain.status().message();
    EXPECT_THAT(print(folded->kernel(0).op), HasSubstr("indices=i64[?,1]"));
    EXPECT_THAT(folded->kernel(0).notes[0], HasSubstr("which are a row here"));
    for (const int64_t n : {5, 1, 0}) {
      for (const bool valid : {true, false}) {
        std::vector<Tensor> inputs;
        inputs.push_back(test::random_tensor({DType::f32, {7, 3}, {}}, rng));
        inputs.push_back(test::random_tensor({DType::i64, {n}, {}}, rng));
        inputs.push_back(test::random_tensor({DType::f32, {n, 3}, {}}, rng));
        for (int64_t e = 0; e < n; ++e)
          store_element(DType::i64, inputs[1].data.data(), e,
                        {DType::i64, {encode_i64(DType::i64, valid || e < 2 ? rng.below(7) - 7 : 9), 0}});
        const auto want = test::run_copy(*plain, inputs, "reference");
        for (const char* backend : {"reference", "auto"})
          EXPECT_TRUE(test::is_same_bytes(test::run_copy(*folded, inputs, backend), want))
              << op << " of " << n << " rows on " << backend;
        if (!valid && n == 5) {
          EXPECT_THAT(want.status().message(), HasSubstr("position [2,0] (linear 6)"));
        }
      }
    }
  }
}

TEST(FusionRows, AnOpenNumberOfIndicesForAKnownNumberOfRows) {
  test::Rng rng(7);
  for (const std::string op : {"ScatterElements", "GatherElements"}) {
    const auto folded = expanded(op, true, 5), plain = expanded(op, false, 5);
    ASSERT_TRUE(folded.ok() && plain.ok()) << folded.status().message() << plain.status().message();
    EXPECT_THAT(folded->kernel(0).notes[0], HasSubstr("which are a row here"));
    for (const int64_t n : {5, 1}) {  // one index is for all rows
      std::vector<Tensor> inputs;
      inputs.push_back(test::random_tensor({DType::f32, {7, 3}, {}}, rng));
      inputs.push_back(test::random_tensor({DType::i64, {n}, {}}, rng));
      inputs.push_back(test::random_tensor({DType::f32, {5, 3}, {}}, rng));
      for (int64_t e = 0; e < n; ++e)
        store_element(DType::i64, inputs[1].data.data(), e, {DType::i64, {encode_i64(DType::i64, rng.below(7) - 7), 0}});
      const auto want = test::run_copy(*plain, inputs, "reference");
      for (const char* backend : {"reference", "auto"})
        EXPECT_TRUE(test::is_same_bytes(test::run_copy(*folded, inputs, backend), want))
            << op << " of " << n << " on " << backend;
    }
  }
}

TEST(FusionRows, ZerosOfAnOpenShapeAreAFill) {
  test::Rng rng(8);
  const auto folded = expanded("ScatterElements", true, testing::kSymbolic, true);
  const auto plain = expanded("ScatterElements", false, testing::kSymbolic, true);
  ASSERT_TRUE(folded.ok() && plain.ok()) << folded.status().message() << plain.status().message();
  EXPECT_THAT(print(folded->kernel(0).op), HasSubstr("init=fill fill=0:f32"));
  for (const int64_t rows : {7, 1, 0}) {
    std::vector<Tensor> inputs;
    inputs.push_back(test::random_tensor({DType::f32, {rows, 3}, {}}, rng));
    inputs.push_back(test::random_tensor({DType::i64, {5}, {}}, rng));
    inputs.push_back(test::random_tensor({DType::f32, {5, 3}, {}}, rng));
    for (int64_t e = 0; e < 5; ++e)
      store_element(DType::i64, inputs[1].data.data(), e,
                    {DType::i64, {encode_i64(DType::i64, rows == 0 ? 0 : rng.below(rows)), 0}});
    const auto want = test::run_copy(*plain, inputs, "reference");
    for (const char* backend : {"reference", "auto"})
      EXPECT_TRUE(test::is_same_bytes(test::run_copy(*folded, inputs, backend), want)) << rows << " rows on " << backend;
  }
}

TEST(FusionRows, RandomForms) {
  test::Rng rng(5);
  int rows = 0;
  for (int round = 0; round < 60; ++round) {
    Form form;
    const auto rank = static_cast<size_t>(rng.between(2, 4));
    form.axis = rng.below(static_cast<int64_t>(rank));
    for (size_t d = 0; d < rank; ++d) {
      const bool is_axis = static_cast<int64_t>(d) == form.axis;
      form.operand.push_back(rng.below(12) == 0 && round > 30 ? 0 : rng.between(1, 5));
      form.indices.push_back(is_axis ? rng.between(1, 6) : form.operand.back());
      form.repeats.push_back(rng.below(3) != 0 && !is_axis);
      if (!is_axis && rng.below(4) == 0) form.counted.push_back(static_cast<int64_t>(d));
    }
    form.gather = rng.below(2) == 0;
    form.iota_first = rng.below(2) == 0;
    if (form.gather && std::count(form.operand.begin(), form.operand.end(), 0) > 0) form.gather = false;  // has no slice of 1
    form.body = rng.below(2) == 0 ? "%b" : rng.below(2) == 0 ? "add" : "maximum";
    const std::string op = folded(form, rng);
    if (op.find("update_window_dims") != std::string::npos || op.find("offset_dims") != std::string::npos) ++rows;
    if (HasFailure()) return;
  }
  EXPECT_GT(rows, 15);
}

}  // namespace
}  // namespace strew
