// Graph and Node: the state of a graph of a TensorFlow Lite file while it is translated, and the interface that the import function of an
// operator uses.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"
#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

struct Operator;

// Tensors (tensor.cc).
/// The tensor's type. Dims that shape_signature leaves open are kDynamic. Messages start with `what`.
Expected<TensorType> tensor_type(const schema::Tensor& tensor, const std::string& what);

/// The bytes of the tensor's buffer, which lie in the flatbuffer or elsewhere in `file`; empty if the tensor has no data.
Expected<std::string_view> tensor_data(const schema::Model& model, std::string_view file, const schema::Tensor& tensor,
                                       const std::string& what);

/// A constant with the tensor's `shape` (shape_signature is for inputs) from the bytes of its buffer; fails if their number is wrong.
Expected<Constant> to_constant(const schema::Tensor& tensor, std::string_view data, const std::string& what,
                               const std::shared_ptr<const void>& owner);

/// Is the tensor quantized, so that its stored integers stand for other numbers?
bool is_quantized(const schema::Tensor& tensor);
/// The scales: one for the tensor, or one for each element of a dim.
std::vector<float> scales_of(const schema::Quantization& quantization);

/// A list of dimension numbers; empty if the file leaves it out.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list);
std::vector<int64_t> list_of(const flatbuffers::Vector<int32_t>* list);

/// The operator as messages spell it: GATHER, "custom NAME", or its number.
Expected<std::string> operator_name(const schema::Model& model, const schema::Operator& op, const std::string& what);
/// The operator's number, once operator_name() has found it. Files before 2020 have only a narrow field for it; newer files have both fields.
schema::BuiltinOperator code_of(const schema::Model& model, const schema::Operator& op);

/// The tensors of a subgraph and the values they stand for. A constant is copied when it is first used, so unused weights cost nothing.
/// Subgraph 0 is the main graph; another one sees no tensors but its own.
class Graph {
 public:
  Graph(Program& program, const schema::Model& model, std::string_view file, const std::string& path);
  /// Subgraph `number` of the same file; `name` is its part of the names of kernels and values ("while_3/body").
  Graph(const Graph& outer, int32_t number, const std::string& name);

  const schema::Model& model() const { return model_; }
  const std::string& path() const { return path_; }      ///< of the file, and in it of the subgraph
  const std::string& prefix() const { return prefix_; }  ///< of names: "while_3/body/"
  int depth() const { return depth_; }                   ///< how many operators are around this graph
  const schema::SubGraph& subgraph() const { return *model_.subgraphs()->Get(static_cast<uint32_t>(number_)); }
  Program& program() const { return program_; }

  /// Tensor `number`; `what` names its user in messages.
  Expected<const schema::Tensor*> tensor(int32_t number, const std::string& what) const;
  std::string tensor_name(int32_t number) const;  ///< the file's name, or tensor_NUMBER
  /// "FILE: tensor 3 (x)"
  std::string describe(int32_t number) const;

  /// Refuses a tensor that has a value. A kernel whose result is one may not be added.
  Status check_free(int32_t number, const std::string& what) const;
  /// Gives a tensor its value; fails if it has one already.
  Status define(int32_t number, int value, const std::string& what);
  bool is_defined(int32_t number) const;
  /// The number of the tensor's value.
  Expected<int> find(int32_t number, const std::string& what);
  /// The tensor's constant; fails if the tensor is not one.
  Expected<Constant> constant(int32_t number, const std::string& what) const;

  /// As of FileNode: the opaque operation whose region the subgraph is.
  int region() const { return region_; }
  void set_region(int opaque) { region_ = opaque; }
  /// Notes that a subgraph is the region of an operator. Returns false if it was noted before.
  bool mark_region(int32_t subgraph) { return regions_->insert(subgraph).second; }

 private:
  Program& program_;
  const schema::Model& model_;
  std::string_view file_;
  std::string path_, prefix_;
  int32_t number_ = 0;
  int depth_ = 0, region_ = -1;
  std::vector<int> values_;                     ///< per tensor: its value; -1: not defined so far
  std::shared_ptr<std::set<int32_t>> regions_;  ///< subgraphs that are the region of an operator
};

/// One operator, with its options and the tensors of the file behind its inputs and outputs.
class Node : public GraphNode {
 public:
  /// `row`: that of its operator; null if no table has it. `operation`: the operator's name.
  Node(Graph& graph, const schema::Operator& op, int number, const std::string& operation, const Operator* row);

  Graph& graph() const { return graph_; }
  const schema::Operator& op() const { return op_; }

  Expected<const schema::Tensor*> input_tensor(int i) const;
  Expected<const schema::Tensor*> output_tensor(int i) const;
  /// The type that the file declares for the only output.
  Expected<TensorType> declared_type() const { return opaque_type(0); }

  /// The operator's options, if it has some and they are of this kind.
  template <class Table>
  const Table* options(schema::BuiltinOptions kind) const {
    return op_.builtin_options_type() == kind ? static_cast<const Table*>(op_.builtin_options()) : nullptr;
  }
  template <class Table>
  const Table* options() const {  ///< those of newer operators
    return op_.builtin_options_2_as<Table>();
  }
  /// A field of these options; 0 or null if the operator has none.
  template <class Table, class Field>
  Field option(schema::BuiltinOptions kind, Field (Table::*field)() const) const {
    const Table* table = options<Table>(kind);
    return table == nullptr ? Field{} : (table->*field)();
  }

 private:
  int32_t input_number(int i) const { return i < inputs() ? op_.inputs()->Get(static_cast<uint32_t>(i)) : -1; }
  int32_t output_number(int i) const { return i < outputs() ? op_.outputs()->Get(static_cast<uint32_t>(i)) : -1; }

  Expected<Values> import() override;
  Status check_node() const override;
  Expected<int> read_input(int i, const std::string& what, bool needs_elements) const override;
  Status check_output(int i, const TensorType& computed) const override;
  Status name_kernel(ProgramKernel& kernel) const override;
  Status define_output(int i, int value) override;
  Expected<int> opaque_argument(int i) const override;
  Expected<TensorType> opaque_type(int i) const override;

  Graph& graph_;
  const schema::Operator& op_;
  const Operator* row_;
};

/// A subgraph that an operator runs.
struct Region {
  int32_t subgraph = 0;      ///< its number; never the main graph's
  std::string role;          ///< "body"
  bool is_function = false;  ///< of two or more elements (a reduction, a comparison): it has no kernels
};
/// Fails if a number names no subgraph.
Expected<std::vector<Region>> regions_of(const Node& node);

/// The number of the function that ADD, SUB, MUL or DIV applies to its result; 0: none.
int fused_activation(const schema::Operator& op);

}  // namespace strew::inline v0::tflite
