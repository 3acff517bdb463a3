// docs/sources.md's ONNX table against the importer: operators and their opsets, and for every opset each element type, index type and
// attribute is taken exactly where the table says so.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "strew/import.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/paths.h"

namespace strew::testing {
namespace {

constexpr int64_t kNewestOpset = 27;
constexpr int kTypes = 28;

struct Row {
  int64_t first = 0, last = kNewestOpset;
  std::string types;
  std::set<std::string> indices;
  std::map<std::string, int64_t> attributes;  ///< name -> first opset
};

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> out;
  size_t begin = 0;
  for (size_t end; (end = text.find(at, begin)) != std::string::npos; begin = end + at.size())
    out.push_back(text.substr(begin, end - begin));
  out.push_back(text.substr(begin));
  return out;
}

struct Documented {
  std::map<std::string, Row> operators;
  std::map<std::string, std::set<std::string>> types;  ///< "basic" -> dtypes
  std::set<std::string> around;                        ///< operators around the kernels
};

Documented read_document() {
  Documented out;
  std::ifstream file(test::source_folder() / "docs/sources.md");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) here = line.starts_with("## ONNX");
    if (!here) continue;
    for (const char* list : {"basic", "cache"}) {
      const std::string head = std::string("- ") + list + ": ";
      if (!line.starts_with(head)) continue;
      for (const std::string& t : split(line.substr(head.size()), ", ")) out.types[list].insert(t);
    }
    const std::vector<std::string> cells = split(line, " | ");
    if (line.starts_with("| around: ")) {
      const std::vector<std::string> words = split(cells[0], "`");
      for (size_t i = 1; i < words.size(); i += 2) out.around.insert(words[i]);
    }
    if (cells.size() != 6 || !line.starts_with("| `")) continue;
    Row& row = out.operators[cells[0].substr(3, cells[0].size() - 4)];
    const std::vector<std::string> opsets = split(cells[1], "-");
    row.first = std::stoll(opsets.at(0));
    if (!opsets.at(1).empty()) row.last = std::stoll(opsets[1]);
    row.types = cells[2];
    for (const std::string& t : split(cells[3], ", ")) row.indices.insert(t);
    for (const std::string& a : split(cells[4], ", ")) row.attributes[split(a, "`").at(1)] = std::stoll(split(a, " ").at(1));
  }
  return out;
}

/// A model of the operator that imports, when types and opset allow.
OnnxModel model_of(const std::string& op) {
  if (op == "TensorScatter") return tensor_scatter_model();
  if (op == "ScatterND") return onnx_scatter_model(op, {4, 5}, {3, 1}, {3, 5});
  if (op.starts_with("Scatter")) return onnx_scatter_model(op, {4, 5}, {3, 5}, {3, 5});
  return onnx_gather_model(op, {4, 5}, {3, 1});
}

bool imports(const OnnxModel& model) {
  Expected<Program> out = onnx::import_model(model.bytes(), "m.onnx", {});
  return out.ok();
}

TEST(OnnxSources, TheTableListsTheOperators) {
  const Documented doc = read_document();
  std::set<std::string> names, around;
  std::string list;
  for (const onnx::Operator& op : onnx::operators()) {
    if (!op.indexed) {
      around.insert(std::string(op.op_type));
      list += (list.empty() ? "`" : ", `") + std::string(op.op_type) + "`";
      continue;
    }
    names.insert(std::string(op.op_type));
    ASSERT_EQ(doc.operators.count(std::string(op.op_type)), 1u) << op.op_type;
    const Row& row = doc.operators.at(std::string(op.op_type));
    EXPECT_EQ(row.first, op.min_opset) << op.op_type;
    EXPECT_EQ(row.last, op.max_opset == onnx::kEveryLater ? kNewestOpset : op.max_opset) << op.op_type;
  }
  EXPECT_EQ(names.size(), doc.operators.size());
  EXPECT_EQ(doc.around, around) << "those around the kernels are " << list;
}

TEST(OnnxSources, ElementTypes) {
  const Documented doc = read_document();
  ASSERT_EQ(doc.operators.size(), 7u);
  for (const auto& [op, row] : doc.operators) {
    ASSERT_EQ(doc.types.count(row.types), 1u) << op;
    for (int64_t opset = 1; opset <= kNewestOpset; ++opset) {
      for (int type = 1; type <= kTypes; ++type) {
        OnnxModel model = model_of(op);
        model.opset = opset;
        const size_t updates = op == "TensorScatter" ? 1 : 2;
        model.inputs[0].type = model.outputs[0].type = type;
        if (model.inputs.size() > 2) model.inputs[updates].type = type;
        const DType dtype = onnx::element_type(type, "").value();
        const bool listed = doc.types.at(row.types).count(std::string(name(dtype))) > 0 && (dtype != DType::bf16 || opset >= 13);
        EXPECT_EQ(imports(model), listed && opset >= row.first && opset <= row.last)
            << op << " opset " << opset << " " << name(dtype);
      }
    }
  }
}

TEST(OnnxSources, IndexTypes) {
  for (const auto& [op, row] : read_document().operators) {
    for (int type = 1; type <= kTypes; ++type) {
      OnnxModel model = model_of(op);
      model.opset = row.first;
      model.inputs[op == "TensorScatter" ? 2 : 1].type = type;
      const DType dtype = onnx::element_type(type, "").value();
      EXPECT_EQ(imports(model), row.indices.count(std::string(name(dtype))) > 0) << op << " " << name(dtype);
    }
  }
}

TEST(OnnxSources, Attributes) {
  const std::map<std::string, ProtoWriter> known = {{"axis", onnx_int("axis", 1)},
                                                    {"batch_dims", onnx_int("batch_dims", 0)},
                                                    {"reduction", onnx_string("reduction", "none")},
                                                    {"mode", onnx_string("mode", "linear")},
                                                    {"block", onnx_int("block", 1)}};
  for (const auto& [op, row] : read_document().operators) {
    for (const auto& [name, attribute] : known) {
      for (int64_t opset = row.first; opset <= row.last; ++opset) {
        OnnxModel model = model_of(op);
        model.opset = opset;
        model.nodes[0].attributes = {attribute};
        if (op.ends_with("Elements") || op == "Scatter") model.inputs[1].dims = {4, 3};
        if (op.starts_with("Scatter") && op != "ScatterND") model.inputs[2].dims = {4, 3};
        const auto listed = row.attributes.find(name);
        EXPECT_EQ(imports(model), listed != row.attributes.end() && opset >= listed->second)
            << op << " opset " << opset << " " << name;
      }
    }
  }
}

}  // namespace
}  // namespace strew::testing
