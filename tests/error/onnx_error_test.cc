// Broken ONNX files through `strew check` and `strew run`: exit status 1, one line that names the file, the place, what is wrong and what
// was expected, in bounded time (3 s of processor time each) and memory (256 MiB). Each row changes one thing of a model that imports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/support/limited.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;
using Dims = std::vector<int64_t>;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int kComplex64 = 14, kInt32 = 6, kUint8 = 2, kFloat8 = 17;

OnnxModel scatter_nd() { return onnx_scatter_model("ScatterND", {4, 5, 6}, {7, 2}, {7, 6}); }
OnnxModel scatter_elements() { return onnx_scatter_model("ScatterElements", {4, 5}, {3, 5}, {3, 5}); }
OnnxModel gather() { return onnx_gather_model("Gather", {4, 5}, {3}); }
OnnxModel gather_elements() { return onnx_gather_model("GatherElements", {4, 5}, {3, 2}); }
OnnxModel gather_nd() { return onnx_gather_model("GatherND", {2, 3, 4}, {2, 5, 1}); }

using Base = OnnxModel (*)();
using Change = std::function<void(OnnxModel&)>;

Change attribute(ProtoWriter a) {
  return [a](OnnxModel& m) { m.nodes[0].attributes = {a}; };
}
Change attribute_at(int64_t opset, ProtoWriter a) {
  return [=](OnnxModel& m) {
    m.opset = opset;
    m.nodes[0].attributes = {a};
  };
}
Change opset(int64_t v) {
  return [=](OnnxModel& m) { m.opset = v; };
}
Change dims(size_t input, Dims d) {
  return [=](OnnxModel& m) { m.inputs[input].dims = d; };
}
Change type(size_t input, int t) {
  return [=](OnnxModel& m) { m.inputs[input].type = t; };
}
/// Both tensors that carry elements, at `opset`.
Change data_type(int t, int64_t opset) {
  return [=](OnnxModel& m) {
    m.opset = opset;
    m.inputs[0].type = t;
    if (m.inputs.size() > 2) m.inputs[2].type = t;
  };
}
/// Indices become an initializer.
Change initializer(OnnxTensor t) {
  return [t](OnnxModel& m) {
    m.inputs.erase(m.inputs.begin() + 1);
    m.initializers = {t};
  };
}
OnnxTensor tensor(int type, Dims dims, std::vector<ProtoWriter> more) {
  return {"indices", type, std::move(dims), "", std::move(more), false};
}

class OnnxError : public ::testing::Test {
 protected:
  /// What `strew COMMAND` says of the model.
  static std::string message(const std::string& bytes, const char* command = "check") {
    const test::Refusal cli = test::refusal(bytes, ".onnx", command);
    EXPECT_EQ(cli.wrong, "") << cli.message;
    EXPECT_THAT(cli.message, HasSubstr("FILE: "));
    return cli.message;
  }

  struct Row {
    Base base;
    Change change;
    std::string expected;
  };
  void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      OnnxModel model = row.base();
      row.change(model);
      EXPECT_THAT(message(model.bytes()), HasSubstr(row.expected));
    }
  }
};

TEST_F(OnnxError, Attributes) {
  check({
      {scatter_elements, attribute(onnx_int("axis", 2)), "node scatter (ScatterElements): axis is 2, expected -2 to 1"},
      {scatter_elements, attribute(onnx_int("axis", -3)), "axis is -3, expected -2 to 1"},
      {scatter_elements, attribute(onnx_string("axis", "0")), "attribute 'axis' has type 3, expected INT (2)"},
      {gather, attribute(onnx_int("axis", kLeast)), "node scatter (Gather): axis is -9223372036854775808, expected -2 to 1"},
      {gather_elements, attribute(onnx_int("axis", 2)), "node scatter (GatherElements): axis is 2"},
      {scatter_nd, attribute(onnx_string("reduction", "sum")), "reduction is 'sum', expected none, add, mul, max or min"},
      {scatter_nd, attribute(onnx_string("reduction", "")), "reduction is '', expected"},
      {scatter_nd, attribute(onnx_int("reduction", 1)), "attribute 'reduction' has type 2, expected STRING (3)"},
      {scatter_nd, attribute_at(13, onnx_string("reduction", "add")),
       "attribute 'reduction' came with opset 16, the model's is 13"},
      {scatter_elements, attribute_at(16, onnx_string("reduction", "max")), "reduction is 'max', which came with opset 18"},
      {scatter_nd, attribute(onnx_int("axis", 0)), "attribute 'axis' is unknown, expected one of: reduction"},
      {gather_nd, attribute_at(11, onnx_int("batch_dims", 1)), "attribute 'batch_dims' came with opset 12, the model's is 11"},
      {gather_nd, attribute(onnx_int("batch_dims", -1)), "batch_dims is -1, expected 0 to 2"},
      {gather_nd, attribute(onnx_int("batch_dims", 3)), "batch_dims is 3, expected 0 to 2, less than the ranks of data [2,3,4]"},
      {gather_nd, attribute(onnx_int("batch_dims", int64_t{1} << 62)), "batch_dims is 4611686018427387904"},
      {gather,
       [](OnnxModel& m) {
         m.nodes[0].attributes = {onnx_int("axis", 0), onnx_int("axis", 0)};
       },
       "'axis' is given twice"},
      {gather, attribute(ProtoWriter().text(1, "axis").text(21, "outer").varint(20, 2)), "refers to a function's attribute"},
  });
}

TEST_F(OnnxError, Opsets) {
  const Base scatter = [] { return onnx_scatter_model("Scatter", {4, 5}, {3, 5}, {3, 5}); };
  check({
      {scatter_nd, opset(10), "the model's opset is 10, expected at least 11"},
      {scatter_elements, opset(10), "the model's opset is 10, expected at least 11"},
      {scatter, opset(11), "the model's opset is 11, expected at most 10; since 11 it is called ScatterElements"},
      {scatter, opset(8), "the model's opset is 8, expected at least 9"},
      {gather_nd, opset(10), "expected at least 11"},
      {gather_elements, opset(1), "expected at least 11"},
      {gather, opset(-5), "opset_import has no version of ai.onnx"},
      {gather, opset(0), "opset_import has no version of ai.onnx"},
  });
  EXPECT_THAT(message(gather().bytes() + ProtoWriter().message(8, ProtoWriter().varint(2, 11)).bytes()),
              HasSubstr("opset_import has ai.onnx versions 18 and 11, expected one"));
}

TEST_F(OnnxError, ElementTypes) {
  check({
      {gather, type(0, kFloat8), "data has dtype f8e4m3fn, expected bool, i8 to i64"},
      {gather, type(0, kInt4), "data has dtype i4, expected"},
      {gather, type(0, 0), "input data: element type is 0, expected a TensorProto.DataType"},
      {gather, type(0, 99), "input data: element type is 99"},
      {scatter_nd, data_type(kBfloat16, 11), "data has dtype bf16, expected a type of opset 11; bf16 came with opset 13"},
      {scatter_nd, type(1, kInt32), "indices has dtype i32, expected i64"},
      {gather_nd, type(1, kInt32), "indices has dtype i32, expected i64"},
      {gather, type(1, kFloat), "indices has dtype f32, expected i32 or i64"},
      {scatter_elements, type(1, kUint8), "indices has dtype u8, expected i32 or i64"},
      {scatter_elements, type(2, kInt64), "updates has dtype i64, expected data's f32"},
      {[] {
         OnnxModel m = scatter_nd();
         m.nodes[0].attributes = {onnx_string("reduction", "add")};
         return m;
       },
       data_type(kString, 18), "reduction is 'add' and data is string, expected none: it has no arithmetic"},
      {[] {
         OnnxModel m = scatter_nd();
         m.nodes[0].attributes = {onnx_string("reduction", "max")};
         return m;
       },
       data_type(kComplex64, 18), "reduction is 'max' and data is complex64, expected none, add or mul"},
  });
}

TEST_F(OnnxError, Shapes) {
  check({
      {scatter_elements, dims(1, {3}), "indices has rank 1, expected 2, data's"},
      {scatter_elements, dims(2, {3, 4}),
       "dim 1 of updates is 4, expected 5, dim 1 of indices: updates is [3,4] and indices is [3,5]"},
      {scatter_elements,
       [](OnnxModel& m) {
         m.inputs[1].dims = m.inputs[2].dims = {3, 6};
       },
       "dim 1 of indices is 6, expected at most 5"},
      {scatter_elements, dims(0, {}), "data has rank 0, expected at least 1"},
      {gather_elements, dims(1, {3, 6}), "dim 1 of indices is 6, expected at most 5, dim 1 of data"},
      {gather, dims(0, {}), "data has rank 0, expected at least 1"},
      {scatter_nd, dims(1, {7, 4}), "the last dim of indices, the length of its index vectors, is 4, expected 0 to 3"},
      {scatter_nd, dims(2, {7}), "updates has rank 1, expected 2, the rank of indices [7,2] - 1 + the rank of data [4,5,6] - 2"},
      {scatter_nd, dims(2, {8, 6}), "dim 0 of updates is 8, expected 7, dim 0 of indices"},
      {scatter_nd, dims(2, {7, 5}), "dim 1 of updates is 5, expected 6, dim 2 of data"},
      {scatter_nd, dims(1, {}), "indices has rank 0, expected at least 1"},
      {scatter_nd, dims(0, {}), "data has rank 0, expected at least 1"},
      {[] {
         OnnxModel m = gather_nd();
         m.nodes[0].attributes = {onnx_int("batch_dims", 1)};
         return m;
       },
       dims(1, {3, 5, 1}), "dim 0 of indices is 3, expected 2, dim 0 of data"},
      {gather_nd, dims(1, {2, 4}), "the length of its index vectors, is 4, expected 0 to 3"},
      {gather_nd, dims(1, {2, kSymbolic}), "is open in [2,?], expected a number or a declared output shape"},
      {gather, dims(0, {4, -2}), "input data: dim 1 is -2, expected at least 0"},
      {gather, dims(0, {int64_t{1} << 40, int64_t{1} << 40}), "the number of elements does not fit 63 bits"},
      {gather,
       [](OnnxModel& m) {
         m.inputs[0].dims = {4, int64_t{1} << 40}, m.inputs[1].dims = {int64_t{1} << 40};
       },
       "result is f32[1099511627776,1099511627776]; expected a size in bits that fits 64-bit signed integers"},
      {gather, dims(0, Dims(65, 1)), "input data: rank is 65, expected at most 64"},
      {gather, [](OnnxModel& m) { m.inputs[0].dims = Dims(40, 1), m.inputs[1].dims = Dims(40, 1); },
       "result has rank 79; expected at most 64"},
      {gather, [](OnnxModel& m) { m.inputs[0].has_shape = false; }, "input data: it has no shape"},
      {gather,
       [](OnnxModel& m) {
         m.outputs[0] = {"output", kFloat, {3, 4}};
       },
       "output output: it is declared as f32[3,4], expected what the graph"},
  });
}

TEST_F(OnnxError, Graphs) {
  check({
      {gather, [](OnnxModel& m) { m.nodes[0].inputs.pop_back(); }, "it has 1 inputs, expected 2"},
      {scatter_nd, [](OnnxModel& m) { m.nodes[0].inputs.push_back("data"); }, "it has 4 inputs, expected 3"},
      {scatter_nd, [](OnnxModel& m) { m.nodes[0].inputs[1] = ""; }, "input 1 (indices) is missing"},
      {scatter_nd, [](OnnxModel& m) { m.nodes[0].inputs[1] = "output"; },
       "input 1 (indices) is 'output', expected the name of a graph input"},
      {gather, [](OnnxModel& m) { m.nodes[0].outputs.clear(); }, "it has 0 outputs, expected 1"},
      {gather, [](OnnxModel& m) { m.nodes[0].outputs = {""}; }, "output 0: the name is empty"},
      {gather, [](OnnxModel& m) { m.nodes.push_back(m.nodes[0]); }, "output 0: the name 'output' is defined twice"},
      {gather, [](OnnxModel& m) { m.inputs.push_back(m.inputs[0]); }, "input data: the name 'data' is defined twice"},
      {gather, [](OnnxModel& m) { m.nodes[0].op_type = "If"; },
       "node scatter (If): the operator is not supported, and the graph has no indexed write or read; expected at least one of: "
       "Gather"},
      {gather, [](OnnxModel& m) { m.nodes[0].domain = "com.microsoft"; }, "not supported (domain com.microsoft)"},
      {gather, [](OnnxModel& m) { m.outputs[0].name = "x"; }, "output x: nothing in the graph computes it"},
  });
}

TEST_F(OnnxError, Tensors) {
  const std::string three(24, '\0');
  check({
      {gather, initializer({"indices", kInt64, {4}, three}),
       "initializer indices: raw_data has 24 bytes, expected 32 for 4 elements of i64"},
      {gather, initializer({"indices", kInt64, {int64_t{1} << 50}, three}), "raw_data has 24 bytes, expected 9007199254740992"},
      {gather, initializer({"indices", kInt64, {int64_t{1} << 40, int64_t{1} << 40}, three}), "does not fit 63 bits"},
      {gather, initializer({"indices", kInt64, {-3}, three}), "initializer indices: dim 0 is -3"},
      {gather, initializer({"indices", kInt64, Dims(100, 1), three}), "rank is 100, expected at most 64"},
      {gather, initializer({"indices", 0, {3}, three}), "initializer indices: element type is 0"},
      {gather, initializer({"indices", kString, {3}, three}), "strings are in raw_data, expected string_data"},
      {gather, initializer(tensor(kInt64, {3}, {ProtoWriter().packed(7, {0, 1})})), "int64_data has 2 entries, expected 3"},
      {gather, initializer(tensor(kInt64, {3}, {ProtoWriter().packed(5, {0, 1, 2})})), "int64_data has 0 entries, expected 3"},
      {gather, initializer(tensor(kInt64, {1}, {ProtoWriter().packed(7, {0}).text(9, "12345678")})), "more than one data field"},
      {gather, initializer(tensor(kInt64, {3}, {ProtoWriter().message(3, ProtoWriter().varint(1, 0)).text(9, three)})),
       "stored in segments"},
      {gather, initializer(tensor(kInt64, {1}, {ProtoWriter().text(7, std::string(11, '\xFF'))})),
       "initializer indices: not a TensorProto"},
      {gather, initializer(tensor(kInt64, {1}, {ProtoWriter().varint(14, 1)})), "data_location is EXTERNAL without a location"},
      {gather,
       [](OnnxModel& m) {
         m.initializers = {{"", kInt64, {1}, "12345678"}};
       },
       "an initializer has no name"},
      {gather,
       [](OnnxModel& m) {
         m.initializers = {{"w", kInt64, {0}, ""}, {"w", kInt64, {0}, ""}};
       },
       "'w' has two initializers"},
  });
}

TEST_F(OnnxError, DamagedFiles) {
  const std::string good = gather().bytes();
  const std::vector<std::pair<std::string, const char*>> rows = {
      {"", "the model has no graph"},
      {"this is not a model", "not an ONNX model (19 bytes)"},
      {good.substr(0, good.size() / 2), "truncated or damaged"},
      {good + "\x3A", "truncated or damaged"},
      {good + std::string(11, '\xFF'), "truncated or damaged"},
      {good + std::string("\0\1", 2), "truncated or damaged"},
      {good + "\x0B\x0C", "truncated or damaged"},
      {good + ProtoWriter().message(7, ProtoWriter()).bytes(), "the model has two graphs"},
      {ProtoWriter().varint(7, 1).bytes(), "the model has no graph"},
      {ProtoWriter().message(7, ProtoWriter().text(1, "\x0A\x7F")).message(8, ProtoWriter().varint(2, 18)).bytes(),
       "node 0: damaged (2 bytes)"},
      {ProtoWriter().message(7, ProtoWriter().text(11, "\x12\x7F")).message(8, ProtoWriter().varint(2, 18)).bytes(),
       "input 0: damaged"},
      {ProtoWriter().message(7, ProtoWriter().text(5, "\x4A\x7F")).message(8, ProtoWriter().varint(2, 18)).bytes(),
       "initializer : damaged"},
      {ProtoWriter().message(7, ProtoWriter().append("\x0A\x7F")).message(8, ProtoWriter().varint(2, 18)).bytes(),
       "truncated or damaged"},
      {ProtoWriter().text(8, "\x10").message(7, ProtoWriter()).bytes(), "opset_import: damaged"},
  };
  for (const auto& [bytes, expected] : rows) EXPECT_THAT(message(bytes), HasSubstr(expected));
}

std::string repeated(const std::string& piece, int times) {
  std::string out;
  out.reserve(piece.size() * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

/// A model whose graph is gather()'s with `fields` behind it.
std::string with_graph_fields(const std::string& fields) {
  const std::string good = gather().bytes();
  // ir_version takes two bytes, then the graph: its tag, its length and its contents, then opset_import in six.
  const std::string tail = ProtoWriter().message(8, ProtoWriter().text(1, "").varint(2, 18)).bytes();
  const std::string head = good.substr(0, 2);
  std::string graph = good.substr(2, good.size() - 2 - tail.size());
  graph.erase(0, 1);
  while (static_cast<unsigned char>(graph[0]) >= 0x80) graph.erase(0, 1);
  graph.erase(0, 1);
  return head + ProtoWriter().text(7, graph + fields).bytes() + tail;
}

TEST_F(OnnxError, Bombs) {
  const int many = 1 << 21;  // 4 MiB of two-byte messages, each of which would parse into a hundred bytes and more
  EXPECT_THAT(message(with_graph_fields(repeated(std::string("\x0A\0", 2), many))), HasSubstr("more than 65536 nodes"));
  EXPECT_THAT(message(with_graph_fields(repeated(std::string("\x5A\0", 2), many))), HasSubstr("input : the name is empty"));
  EXPECT_THAT(message(with_graph_fields(repeated(std::string("\x62\0", 2), many))), HasSubstr("output : nothing in the graph"));
  EXPECT_THAT(message(with_graph_fields(repeated(std::string("\x2A\0", 2), many))), HasSubstr("an initializer has no name"));
  for (const char* piece : {"\x0A\0", "\x12\0", "\x2A\0"}) {  // inputs, outputs, attributes of one node
    const std::string node = ProtoWriter().text(4, "Gather").append(repeated(std::string(piece, 2), many)).bytes();
    EXPECT_THAT(message(with_graph_fields(ProtoWriter().text(1, node).bytes())),
                HasSubstr("node 1: it has more than 65536 fields"));
  }
  // Lists inside lists, as attributes with subgraphs nest, and as groups, which have no length.
  std::string deep;
  for (int level = 0; level < 2000; ++level)
    deep = ProtoWriter().text(6, ProtoWriter().text(1, ProtoWriter().text(5, deep).bytes()).bytes()).bytes();
  OnnxModel nested = gather();
  nested.nodes[0].attributes = {ProtoWriter().text(1, "body").append(deep)};
  EXPECT_THAT(message(nested.bytes()), HasSubstr("graphs are nested more than 32 deep"));
  EXPECT_THAT(message(with_graph_fields(std::string(many, '\x0B'))), HasSubstr("truncated or damaged"));
  // 65537 nodes, each with a kernel.
  std::string kernels;
  for (int i = 0; i < (1 << 16); ++i) {
    kernels +=
        ProtoWriter()
            .message(1, ProtoWriter().text(1, "data").text(1, "indices").text(2, "o" + std::to_string(i)).text(4, "Gather"))
            .bytes();
  }
  EXPECT_THAT(message(with_graph_fields(kernels)), HasSubstr("the graph has more than 65536 nodes"));
}

TEST_F(OnnxError, ResultsPastMemory) {
  // No element of indices is needed to ask for 2^42 rows.
  OnnxModel model = onnx_gather_model("GatherND", {4}, {int64_t{1} << 42, 0});
  model.inputs.clear();
  model.initializers = {{"data", kFloat, {4}, std::string(16, '\0')}, {"indices", kInt64, {int64_t{1} << 42, 0}, ""}};
  EXPECT_THAT(message(model.bytes(), "run"), HasSubstr("does not fit this machine's memory"));
}

}  // namespace
}  // namespace strew::testing
