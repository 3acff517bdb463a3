// The table of docs/sources.md, source x feature x backend, is made here: every row's examples are imported and run on every backend of
// its head, and give the reference's bits. STREW_UPDATE_GOLDEN=1 writes it into the document.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/number.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"
#include "tests/support/tflite_writer.h"

namespace strew {
namespace {

using namespace testing;  // NOLINT: the writers of ONNX and TFLite files

constexpr const char* kBackends[] = {"llvm", "reference"};
const std::filesystem::path kDocument = test::source_folder() / "docs/sources.md";
constexpr const char *kBegin = "<!-- made by tests/golden/sources_table_test.cc -->\n", *kEnd = "<!-- end -->\n";

struct Example {
  std::string name, ending, bytes;
};
struct Row {
  std::string source, feature;
  std::vector<Example> examples;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// --- ONNX

Example onnx(OnnxModel model, const std::vector<ProtoWriter>& attributes = {}, int64_t opset = 18, int type = kFloat) {
  model.opset = opset;
  model.nodes[0].attributes = attributes;
  for (OnnxValue* value : {&model.inputs.front(), &model.inputs.back(), &model.outputs.front()})
    if (value->type == kFloat) value->type = type;
  return {model.nodes[0].op_type, ".onnx", model.bytes()};
}

std::vector<Row> onnx_rows() {
  const auto tensor_scatter = [](const char* mode, int type) {
    OnnxModel model = tensor_scatter_model();
    for (OnnxValue* v : {&model.inputs[0], &model.inputs[1], &model.outputs[0]}) v->type = type;
    return onnx(model, {onnx_string("mode", mode)}, 24, type);
  };
  Row linear{"ONNX", "TensorScatter linear, 23 element types", {}}, circular{"ONNX", "TensorScatter circular", {}};
  for (const int type : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
    linear.examples.push_back(tensor_scatter("linear", type));
  for (const int type : {1, 16, 22}) circular.examples.push_back(tensor_scatter("circular", type));
  Row nd{"ONNX", "ScatterND: none, add, mul, max, min", {}},
      elements{"ONNX", "ScatterElements: the same; axes; smaller indices", {}};
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    for (const int type : {1, 16, 11, 3})
      nd.examples.push_back(
          onnx(onnx_scatter_model("ScatterND", {4, 5, 6}, {7, 2}, {7, 6}), {onnx_string("reduction", reduction)}, 18, type));
    elements.examples.push_back(onnx(onnx_scatter_model("ScatterElements", {4, 5, 6}, {2, 9, 3}, {2, 9, 3}),
                                     {onnx_int("axis", 1), onnx_string("reduction", reduction)}));
  }
  Row open{"ONNX", "open dims", {onnx(onnx_scatter_model("ScatterND", {kSymbolic, 5}, {kSymbolic, 1}, {kSymbolic, 5}))}};
  return {linear,
          circular,
          nd,
          elements,
          {"ONNX", "Scatter (opset 9)", {onnx(onnx_scatter_model("Scatter", {4, 5}, {2, 5}, {2, 5}), {onnx_int("axis", 1)}, 9)}},
          {"ONNX",
           "Gather, GatherElements, GatherND with batch_dims",
           {onnx(onnx_gather_model("Gather", {4, 5, 6}, {3, 2}), {onnx_int("axis", 1)}),
            onnx(onnx_gather_model("GatherElements", {4, 5}, {3, 2}), {onnx_int("axis", 1)}),
            onnx(onnx_gather_model("GatherND", {2, 3, 4}, {2, 5, 1}), {onnx_int("batch_dims", 1)})}},
          open};
}

// --- StableHLO and MLIR's tensor dialect

const std::vector<std::string> kNumbers{"f32",        "f64",  "f16",  "bf16", "f8E4M3FN", "f8E5M2",      "f8E4M3FNUZ",
                                        "f8E5M2FNUZ", "i4",   "i8",   "i16",  "i32",      "i64",         "ui4",
                                        "ui8",        "ui16", "ui32", "ui64", "i1",       "complex<f32>"};

/// `text` once for each type in place of T.
std::vector<Example> typed(const std::string& text, const std::vector<std::string>& types = kNumbers) {
  std::vector<Example> out;
  for (const std::string& type : types)
    out.push_back({type, ".mlir", replaced(replaced(text, "xT>", "x" + type + ">"), "<T>", "<" + type + ">")});
  return out;
}

std::string scatter(const std::string& region) {
  return "func.func @main(%x: tensor<4x3xT>, %i: tensor<5x1xi32>, %u: tensor<5x3xT>) -> tensor<4x3xT> {\n"
         "  %r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
         "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n  ^bb0(%a: tensor<T>, %b: "
         "tensor<T>):\n" +
         region + "\n  }) : (tensor<4x3xT>, tensor<5x1xi32>, tensor<5x3xT>) -> tensor<4x3xT>\n  return %r : tensor<4x3xT>\n}\n";
}

Example golden(const std::string& name) {
  std::ifstream in(test::source_folder() / "tests/golden/jax" / (name + ".mlir"));
  std::stringstream text;
  text << in.rdbuf();
  return {name, ".mlir", text.str()};
}

std::vector<Row> stablehlo_rows() {
  const std::string ret = "\n    stablehlo.return %s : tensor<T>";
  const std::string variadic =
      "func.func @main(%x: tensor<4xf32>, %y: tensor<4xi32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>, %v: tensor<5xi32>) -> "
      "(tensor<4xf32>, "
      "tensor<4xi32>) {\n  %r:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = "
      "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):\n    %p = stablehlo.compare GT, %c, %a, FLOAT "
      ": "
      "(tensor<f32>, tensor<f32>) -> tensor<i1>\n    %s = stablehlo.select %p, %c, %a : tensor<i1>, tensor<f32>\n    %t = "
      "stablehlo.select "
      "%p, %d, %b : tensor<i1>, tensor<i32>\n    stablehlo.return %s, %t : tensor<f32>, tensor<i32>\n"
      "  }) : (tensor<4xf32>, tensor<4xi32>, tensor<5x1xi32>, tensor<5xf32>, tensor<5xi32>) -> (tensor<4xf32>, tensor<4xi32>)\n"
      "  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>\n}\n";
  const std::string dynamic_gather =
      "func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {\n  %n = stablehlo.constant dense<[1, 2]> : "
      "tensor<2xi32>\n"
      "  %r = \"stablehlo.dynamic_gather\"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
      "collapsed_slice_dims = "
      "[0], start_index_map = [0, 1]>}> : (tensor<4x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>\n  return %r : "
      "tensor<2xf32>\n}\n";
  const std::string open =
      replaced(replaced(scatter("    %s = stablehlo.add %a, %b : tensor<T>" + ret), "4x3xT", "?x3xT"), "5x3xT", "?x3xT");
  return {
      {"StableHLO", "scatter, assign", typed(scatter("    stablehlo.return %b : tensor<T>"))},
      {"StableHLO", "scatter, add", typed(scatter("    %s = stablehlo.add %a, %b : tensor<T>" + ret))},
      {"StableHLO", "scatter, any region (here tanh of a product)",
       typed(scatter("    %m = stablehlo.multiply %a, %b : tensor<T>\n    %s = stablehlo.tanh %m : tensor<T>" + ret),
             {"f32", "f64", "bf16"})},
      {"StableHLO", "scatter, N operands", {{"argmax", ".mlir", variadic}}},
      {"StableHLO", "scatter, open dims", typed(replaced(open, "5x1xi32", "?x1xi32"), {"f32", "i8"})},
      {"StableHLO",
       "gather, batching dims (as JAX lowers them)",
       {golden("vmap_indices"), golden("vmap_take_along_axis"), golden("vmap_add")}},
      {"StableHLO", "dynamic_gather", {{"sizes", ".mlir", dynamic_gather}}},
      {"StableHLO", "dynamic_slice, dynamic_update_slice", {golden("dynamic_slice"), golden("dynamic_update_slice_i32")}},
      {"StableHLO",
       "folded: negative indices, clips, fill masks",
       {golden("set_clip_i32"), golden("get_fill_i32"), golden("get_two_components_fill")}},
      {"StableHLO", "folded: splat operands", {golden("segment_sum"), golden("segment_max")}},
      {"StableHLO",
       "fused: updates with bias, row weight, scalar, second tensor",
       {golden("fuse_scale_bias"), golden("fuse_row_weight"), golden("fuse_scalar"), golden("fuse_two_tensors"),
        golden("fuse_convert")}},
      {"StableHLO",
       "fused: what is gathered",
       {golden("fuse_epilogue"), golden("fuse_epilogue_after_fill"), golden("fuse_two_gathers")}},
  };
}

std::vector<Row> tensor_rows() {
  const std::vector<std::string> types{"f32", "f64", "bf16", "f16", "i1", "i4", "i8", "i64", "f8E4M3FN", "complex<f64>"};
  const std::string
      head = "func.func @main(%d: tensor<4x3xT>, %i: tensor<2x1xindex>, %u: tensor<2x3xT>) -> ",
      gather = "  %g = tensor.gather %d[%i] gather_dims([0]) unique : (tensor<4x3xT>, tensor<2x1xindex>) -> tensor<2x3xT>\n";
  const auto update = [&](const std::string& value, const std::string& unique) {
    return "  %r = tensor.scatter " + value + " into %d[%i] coordinates = [0] " + unique +
           " : tensor<2x3xT> into tensor<4x3xT>[tensor<2x1xindex>] -> tensor<4x3xT>\n  return %r : tensor<4x3xT>\n}\n";
  };
  const std::string idiom = head + "tensor<4x3xT> {\n" + gather + "  %c = stablehlo.add %g, %u : tensor<2x3xT>\n";
  return {
      {"tensor", "gather", typed(head + "tensor<2x3xT> {\n" + gather + "  return %g : tensor<2x3xT>\n}\n", types)},
      {"tensor", "scatter, last update stays", typed(head + "tensor<4x3xT> {\n" + update("%u", ""), types)},
      {"tensor", "gather, compute, scatter with `unique`: one kernel",
       typed(idiom + update("%c", "unique"), {"f32", "bf16", "i32"})},
      {"tensor", "the same without: two kernels", typed(idiom + update("%c", ""), {"f32", "bf16", "i32"})},
  };
}

std::vector<Row> tflite_rows() {
  const auto example = [](const char* name, TfliteModel model) { return Example{name, ".tflite", model.bytes()}; };
  return {
      {"TFLite", "DYNAMIC_UPDATE_SLICE", {example("slice", update_slice_model())}},
      {"TFLite", "GATHER, GATHER_ND", {example("gather", gather_model()), example("gather_nd", gather_nd_model())}},
      {"TFLite", "SCATTER_ND", {example("scatter_nd", scatter_nd_model())}},
      {"TFLite",
       "STABLEHLO_SCATTER, STABLEHLO_GATHER",
       {example("assign", stablehlo_scatter_model({})), example("add", stablehlo_scatter_model(TfliteCode::STABLEHLO_ADD)),
        example("gather", stablehlo_gather_model())}},
  };
}

// --- the table

/// Zeros and ones are inside every example's dims; open dims are 4.
std::vector<Tensor> inputs_for(const Program& imported, test::Rng& rng) {
  std::vector<Tensor> out;
  for (const ProgramInput& input : imported.inputs()) {
    TensorType type = input.type;
    for (int64_t& d : type.dims) d = d == kDynamic ? 4 : d;
    Tensor tensor = test::random_tensor(type, rng);
    for (int64_t i = 0; i < tensor.elements() && !is_float(type.dtype); ++i) {
      const uint64_t bit = encode_i64(part_dtype(type.dtype), rng.below(2));
      const bool complex = is_complex(type.dtype);
      store_element(type.dtype, tensor.data.data(), i,
                    complex ? make_complex(type.dtype, bit, bit) : Scalar{type.dtype, {bit, 0}});
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

Expected<Program> import_example(const Example& example) {
  const auto path = std::filesystem::temp_directory_path() / ("strew_table_" + std::to_string(getpid()) + example.ending);
  std::ofstream(path, std::ios::binary) << example.bytes;
  Expected<Program> imported = import_file(path.string(), {});
  std::filesystem::remove(path);
  return imported;
}

/// "yes", or which examples the backend leaves to the next one.
std::string cell(const Row& row, const std::string& backend) {
  std::string declined;
  for (const Example& example : row.examples) {
    const std::string what = row.source + ", " + row.feature + ", " + example.name + " on " + backend;
    const auto imported = import_example(example);
    EXPECT_TRUE(imported.ok()) << what << ": " << imported.status().message();
    if (!imported.ok()) return "?";
    test::Rng rng(3);
    const std::vector<Tensor> inputs = inputs_for(*imported, rng);
    const auto got = test::run_copy(*imported, inputs, backend);
    if (!got.ok() && got.status().code() == Code::unsupported) {
      declined += (declined.empty() ? "" : ", ") + example.name;
      continue;
    }
    EXPECT_EQ(test::difference(got, test::run_copy(*imported, inputs, "reference")), "") << what;
  }
  return declined.empty() ? "yes" : "all but " + declined;
}

std::string table() {
  std::string out = "| source | feature | examples |", rule = "|---|---|---|";
  for (const char* backend : kBackends) {
    out += " " + std::string(backend) + " |";
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& rows : {onnx_rows(), stablehlo_rows(), tensor_rows(), tflite_rows()}) {
    for (const Row& row : rows) {
      out += "| " + row.source + " | " + row.feature + " | " + std::to_string(row.examples.size()) + " |";
      for (const char* backend : kBackends) out += " " + cell(row, backend) + " |";
      out += "\n";
    }
  }
  return out;
}

TEST(SourcesTable, IsWhatRuns) {
  std::ifstream in(kDocument);
  std::stringstream text;
  text << in.rdbuf();
  std::string document = text.str();
  const size_t begin = document.find(kBegin), end = document.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + std::string(kBegin).size();
  const std::string made = "\n" + table() + "\n";
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kDocument) << document.substr(0, from) + made + document.substr(end);
    return;
  }
  EXPECT_EQ(document.substr(from, end - from), made) << "STREW_UPDATE_GOLDEN=1 rewrites " << kDocument;
}

/// Every test and script the document names is there.
TEST(SourcesTable, NamesTestsThatExist) {
  std::ifstream in(kDocument);
  std::stringstream text;
  text << in.rdbuf();
  const std::string document = text.str();
  int named = 0;
  for (size_t at = 0; (at = document.find("`tests/", at)) != std::string::npos; ++named) {
    const size_t end = document.find('`', at + 1);
    const std::string path = document.substr(at + 1, end - at - 1);
    EXPECT_TRUE(std::filesystem::exists(test::source_folder() / path)) << path;
    at = end;
  }
  EXPECT_GE(named, 8);
}

}  // namespace
}  // namespace strew
