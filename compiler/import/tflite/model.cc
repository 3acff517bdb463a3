// TensorFlow Lite front end: checks the flatbuffer, defines the main graph's inputs, and translates operator after operator with the table.
// To add an operator, write one import function and add one row to a table; fields that it needs go into tflite.fbs.
//
// An operator that is not in the table, or that its import function refuses, becomes an opaque operation with the reason. The subgraphs that
// it runs (IF, WHILE, CALL and their kind) are walked too, each once; so are subgraphs that nothing runs, which are other entries of the file.
//
// Everything in the file is untrusted. The verifier of flatbuffers checks all of it before a field is read, with bounds on nesting and on
// the number of tables. What the verifier cannot know (numbers of tensors, buffers and subgraphs, sizes) is checked where it is used.
// Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and tests/oracle/litert_models.py.
#include <cstring>
#include <string>

#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/regions.h"
#include "compiler/import/tflite/tensor.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

constexpr uint32_t kVersion = 3;
constexpr uint32_t kMaxDepth = 16;
constexpr uint32_t kMaxTables = 1'000'000;
constexpr int kMaxNested = 32;  ///< subgraphs in each other

std::string indexed_operators() {
  std::string out;
  for (const Operator& op : operators())
    if (op.indexed) out += (out.empty() ? "" : ", ") + std::string(op.name);
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
    STREW_ASSIGN(TensorType type, tensor_type(*tensor, graph.describe(inputs->Get(i))));
    const int value = ProgramBuilder(graph.imported(), what).input({graph.tensor_name(inputs->Get(i)), std::move(type), false});
    STREW_TRY(graph.define(inputs->Get(i), value, what));
  }
  return {};
}

const Operator* find_operator(schema::BuiltinOperator code) {
  for (const Operator& op : operators()) {
    if (op.code == static_cast<int32_t>(code)) return &op;
  }
  return nullptr;
}

/// Translates the operators of the main graph and of the other subgraphs.
class Translator {
 public:
  Status import_operators(Graph& graph);
  /// The subgraphs that no operator runs.
  Status import_entries(Graph& main);
  /// Why the file has no kernels.
  Status refusal(const Graph& main) const;

 private:
  Status import_operator(Graph& graph, const schema::Operator& op, int number);
  Status import_region(const Graph& outer, const Region& region, const std::string& name, int opaque, int first_result);

  Status first_refusal_;     ///< of a scatter or gather
  std::string first_other_;  ///< the first operator of another kind
};

/// What is wrong with the graph itself (a tensor that is computed twice, a number without a tensor) refuses the file.
Status Translator::import_operator(Graph& graph, const schema::Operator& op, int number) {
  const std::string where = graph.path() + ": operator " + std::to_string(number);
  STREW_ASSIGN(const std::string name, operator_name(graph.model(), op, where));
  Node node(graph, op, number, name);
  const Operator* row = find_operator(node.code());
  const bool indexed = row != nullptr && row->indexed;
  if (first_other_.empty() && !indexed) first_other_ = node.location();
  std::string reason;
  if (row != nullptr) {
    const Status status = row->import(node);
    if (status.ok()) return status;
    for (uint32_t i = 0; i < node.outputs(); ++i)
      if (graph.is_defined(op.outputs()->Get(i))) return status;
    if (indexed && first_refusal_.ok()) first_refusal_ = status;
    reason = status.message();
    if (reason.starts_with(node.location() + ": ")) reason.erase(0, node.location().size() + 2);
  }
  STREW_ASSIGN(const int opaque, node.add_opaque(reason, indexed));
  STREW_ASSIGN(const std::vector<Region> regions, regions_of(node));
  int result = static_cast<int>(node.outputs());
  for (const Region& region : regions) {
    if (!graph.mark_region(region.subgraph) || region.is_function) continue;
    std::string kernel = name;
    for (char& c : kernel) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    STREW_TRY(import_region(graph, region, kernel + "_" + std::to_string(number) + "/" + region.role, opaque, result));
    result += 1 << 16;
  }
  return {};
}

/// What the inputs of a region are bound to is known to the operator alone.
Status Translator::import_region(const Graph& outer, const Region& region, const std::string& name, int opaque,
                                 int first_result) {
  if (outer.depth() >= kMaxNested)
    return invalid_argument(outer.path() + ": subgraphs are nested more than " + std::to_string(kMaxNested) + " deep");
  Graph graph(outer, region.subgraph, name);
  const flatbuffers::Vector<int32_t>* inputs = graph.subgraph().inputs();
  for (uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const std::string what = graph.path() + ": input " + std::to_string(i);
    STREW_ASSIGN(const schema::Tensor* tensor, graph.tensor(inputs->Get(i), what));
    const int value = ProgramBuilder(graph.imported(), what)
                          .opaque_value(opaque, first_result + static_cast<int>(i), tensor_type(*tensor, what));
    STREW_TRY(graph.define(inputs->Get(i), value, what));
  }
  STREW_TRY(import_operators(graph));
  const flatbuffers::Vector<int32_t>* outputs = graph.subgraph().outputs();
  for (uint32_t i = 0; outputs != nullptr && i < outputs->size(); ++i) {
    if (!graph.is_defined(outputs->Get(i))) continue;
    STREW_ASSIGN(const int value, graph.find(outputs->Get(i), graph.path()));
    graph.imported().edit_opaque(opaque)->yields.push_back(value);
  }
  return {};
}

Status Translator::import_operators(Graph& graph) {
  const auto* list = graph.subgraph().operators();
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i)
    STREW_TRY(import_operator(graph, *list->Get(i), static_cast<int>(i)));
  return {};
}

Status Translator::import_entries(Graph& main) {
  const auto& list = *main.model().subgraphs();
  for (uint32_t i = 1; i < list.size(); ++i) {
    if (!main.mark_region(static_cast<int32_t>(i))) continue;
    const flatbuffers::String* given = list.Get(i)->name();
    const std::string name = given == nullptr || given->size() == 0 ? "subgraph_" + std::to_string(i) : given->str();
    Opaque entry;
    entry.operation = "subgraph " + name;
    entry.location = main.path() + ": subgraph " + std::to_string(i);
    const int number = main.imported().add_opaque(std::move(entry));
    STREW_TRY(import_region(main, {static_cast<int32_t>(i), name, false}, name, number, 0));
  }
  return {};
}

Status Translator::refusal(const Graph& main) const {
  STREW_TRY(first_refusal_);
  if (first_other_.empty()) {
    return invalid_argument(main.path() + ": the main graph has no operators, expected at least one of: " + indexed_operators());
  }
  return unsupported(first_other_ + " is not an indexed op, expected one of: " + indexed_operators());
}

Status import_outputs(Graph& graph) {
  const flatbuffers::Vector<int32_t>* outputs = graph.subgraph().outputs();
  if (outputs == nullptr || outputs->size() == 0) {
    return invalid_argument(graph.path() + ": the main graph has no outputs, expected at least one");
  }
  for (uint32_t i = 0; i < outputs->size(); ++i) {
    STREW_ASSIGN(const int value, graph.find(outputs->Get(i), graph.path() + ": output " + std::to_string(i)));
    graph.imported().add_output({graph.tensor_name(outputs->Get(i)), value});
  }
  return {};
}

Expected<Program> import_aligned(std::string_view bytes, const std::string& path, const std::shared_ptr<const void>& owner) {
  STREW_TRY(check_file(bytes, path));
  const schema::Model& model = *schema::GetModel(bytes.data());
  STREW_TRY(check_model(model, path));
  Program imported;
  imported.set_format("tflite");
  imported.set_source(owner);
  Graph graph(imported, model, bytes, path);
  STREW_TRY(import_inputs(graph));
  Translator translator;
  STREW_TRY(translator.import_operators(graph));
  STREW_TRY(translator.import_entries(graph));
  if (imported.kernels().empty()) return translator.refusal(graph);
  STREW_TRY(import_outputs(graph));
  imported.set_source(nullptr);
  return imported;
}

}  // namespace

const std::vector<Operator>& operators() {
  using B = schema::BuiltinOperator;
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all = {
        {"GATHER", B::GATHER, import_gather, true},
        {"GATHER_ND", B::GATHER_ND, import_gather_nd, true},
        {"EMBEDDING_LOOKUP", B::EMBEDDING_LOOKUP, import_embedding_lookup, true},
        {"SCATTER_ND", B::SCATTER_ND, import_scatter_nd, true},
        {"SPARSE_TO_DENSE", B::SPARSE_TO_DENSE, import_sparse_to_dense, true},
        {"SEGMENT_SUM", B::SEGMENT_SUM, import_segment_sum, true},
        {"UNSORTED_SEGMENT_SUM", B::UNSORTED_SEGMENT_SUM, import_unsorted_segment, true},
        {"UNSORTED_SEGMENT_PROD", B::UNSORTED_SEGMENT_PROD, import_unsorted_segment, true},
        {"UNSORTED_SEGMENT_MAX", B::UNSORTED_SEGMENT_MAX, import_unsorted_segment, true},
        {"UNSORTED_SEGMENT_MIN", B::UNSORTED_SEGMENT_MIN, import_unsorted_segment, true},
        {"DYNAMIC_UPDATE_SLICE", B::DYNAMIC_UPDATE_SLICE, import_dynamic_update_slice, true},
        {"STABLEHLO_SCATTER", B::STABLEHLO_SCATTER, import_stablehlo_scatter, true},
        {"STABLEHLO_GATHER", B::STABLEHLO_GATHER, import_stablehlo_gather, true},
    };
    for (const auto* more : {&elementwise_operators(), &movement_operators(), &slice_operators(), &shape_operators()})
      all.insert(all.end(), more->begin(), more->end());
    return all;
  }());
  return list;
}

Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions&,
                                const std::shared_ptr<const void>& owner) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) return import_aligned(bytes, path, owner);
  // Flatbuffers reads fields in place, with their own alignment.
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return import_aligned({reinterpret_cast<const char*>(aligned.data()), bytes.size()}, path, nullptr);
}

}  // namespace strew::inline v0::tflite
