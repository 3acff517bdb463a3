// TensorFlow Lite front end: checks the flatbuffer, defines the main graph's inputs, and translates operator after operator with the table.
// To add an operator, write one import function and add one row below; fields that it needs go into tflite.fbs.
//
// Everything in the file is untrusted. The verifier of flatbuffers checks all of it before a field is read, with bounds on nesting and on
// the number of tables. What the verifier cannot know (numbers of tensors, buffers and subgraphs, sizes) is checked where it is used. Only
// subgraph 0 is the model; other subgraphs must be regions of its operators. Tested by tests/unit/tflite_import_test.cc,
// tests/error/tflite_error_test.cc and tests/oracle/litert_models.py.
#include <cstring>
#include <string>

#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tensor.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

constexpr uint32_t kVersion = 3;
constexpr uint32_t kMaxDepth = 16;
constexpr uint32_t kMaxTables = 1'000'000;

std::string operator_names() {
  std::string out;
  for (const Operator& op : operators()) out += (out.empty() ? "" : ", ") + std::string(op.name);
  return out;
}

Status check_file(std::string_view bytes, const std::string& path) {
  const std::string size = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() < 8 || !schema::ModelBufferHasIdentifier(bytes.data())) {
    return invalid_argument(path + ": not a TensorFlow Lite model (" + size + "), expected the identifier TFL3 at byte 4");
  }
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return invalid_argument(path + ": the file has " + size + ", expected less than " +
                            std::to_string(FLATBUFFERS_MAX_BUFFER_SIZE));
  }
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), kMaxDepth, kMaxTables);
  if (!schema::VerifyModelBuffer(verifier)) {
    return invalid_argument(path + ": not a TensorFlow Lite model (" + size +
                            "), expected a flatbuffer that its verifier accepts; the file is truncated or damaged");
  }
  return {};
}

Status check_model(const schema::Model& model, const std::string& path) {
  if (model.version() != kVersion) {
    return invalid_argument(path + ": the schema's version is " + std::to_string(model.version()) + ", expected " +
                            std::to_string(kVersion));
  }
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0) {
    return invalid_argument(path + ": the model has no subgraphs, expected at least one");
  }
  return {};
}

Status import_inputs(Graph& graph) {
  const flatbuffers::Vector<int32_t>* inputs = graph.subgraph().inputs();
  for (uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const std::string what = graph.path() + ": input " + std::to_string(i);
    STREW_ASSIGN(const schema::Tensor* tensor, graph.tensor(inputs->Get(i), what));
    Value value;
    value.kind = ValueKind::input;
    STREW_ASSIGN(value.type, tensor_type(*tensor, graph.describe(inputs->Get(i))));
    value.index = static_cast<int>(graph.imported().inputs.size());
    graph.imported().inputs.push_back({graph.tensor_name(inputs->Get(i)), value.type, false});
    STREW_TRY(graph.define(inputs->Get(i), std::move(value), what));
  }
  return {};
}

const Operator* find_operator(int32_t code) {
  for (const Operator& op : operators()) {
    if (op.code == code) return &op;
  }
  return nullptr;
}

Status import_operators(Graph& graph) {
  const auto* list = graph.subgraph().operators();
  const uint32_t count = list == nullptr ? 0 : list->size();
  for (uint32_t i = 0; i < count; ++i) {
    const schema::Operator& op = *list->Get(i);
    STREW_ASSIGN(std::string name, operator_name(graph.model(), op, graph.path() + ": operator " + std::to_string(i)));
    const Operator* row = find_operator(operator_code(*graph.model().operator_codes()->Get(op.opcode_index())));
    if (row == nullptr) {
      return unsupported(graph.path() + ": operator " + std::to_string(i) + " (" + name +
                         ") is not an indexed op, expected one of: " + operator_names());
    }
    Node node(graph, op, static_cast<int>(i), name);
    STREW_TRY(row->import(node));
  }
  if (count == 0) {
    return invalid_argument(graph.path() + ": the main graph has no operators, expected at least one of: " + operator_names());
  }
  return {};
}

Status check_subgraphs(const Graph& graph) {
  const auto& list = *graph.model().subgraphs();
  for (uint32_t i = 1; i < list.size(); ++i) {
    if (graph.regions().count(static_cast<int32_t>(i)) > 0) continue;
    const flatbuffers::String* name = list.Get(i)->name();
    return unsupported(graph.path() + ": subgraph " + std::to_string(i) + " (" + (name == nullptr ? "" : name->str()) +
                       ") is not read, expected only subgraph 0 and the regions of its STABLEHLO_SCATTERs");
  }
  return {};
}

Status import_outputs(Graph& graph) {
  const flatbuffers::Vector<int32_t>* outputs = graph.subgraph().outputs();
  if (outputs == nullptr || outputs->size() == 0) {
    return invalid_argument(graph.path() + ": the main graph has no outputs, expected at least one");
  }
  for (uint32_t i = 0; i < outputs->size(); ++i) {
    STREW_ASSIGN(const int value, graph.find(outputs->Get(i), graph.path() + ": output " + std::to_string(i)));
    graph.imported().outputs.push_back({graph.tensor_name(outputs->Get(i)), value});
  }
  return {};
}

Expected<Imported> import_aligned(std::string_view bytes, const std::string& path) {
  STREW_TRY(check_file(bytes, path));
  const schema::Model& model = *schema::GetModel(bytes.data());
  STREW_TRY(check_model(model, path));
  Imported imported;
  imported.format = "tflite";
  Graph graph(imported, model, bytes, path);
  STREW_TRY(import_inputs(graph));
  STREW_TRY(import_operators(graph));
  STREW_TRY(check_subgraphs(graph));
  STREW_TRY(import_outputs(graph));
  return imported;
}

}  // namespace

const std::vector<Operator>& operators() {
  using B = schema::BuiltinOperator;
  static const std::vector<Operator> list = {
      {"GATHER", static_cast<int32_t>(B::GATHER), import_gather},
      {"GATHER_ND", static_cast<int32_t>(B::GATHER_ND), import_gather_nd},
      {"SCATTER_ND", static_cast<int32_t>(B::SCATTER_ND), import_scatter_nd},
      {"DYNAMIC_UPDATE_SLICE", static_cast<int32_t>(B::DYNAMIC_UPDATE_SLICE), import_dynamic_update_slice},
      {"STABLEHLO_SCATTER", static_cast<int32_t>(B::STABLEHLO_SCATTER), import_stablehlo_scatter},
      {"STABLEHLO_GATHER", static_cast<int32_t>(B::STABLEHLO_GATHER), import_stablehlo_gather},
  };
  return list;
}

Expected<Imported> import_model(std::string_view bytes, const std::string& path, const ImportOptions&) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) return import_aligned(bytes, path);
  // Flatbuffers reads fields in place, with their own alignment.
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return import_aligned({reinterpret_cast<const char*>(aligned.data()), bytes.size()}, path);
}

}  // namespace strew::inline v0::tflite
