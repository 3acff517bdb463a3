// Graph and Node: the state of the main graph of a TensorFlow Lite file while it is translated, and the interface that the import function
// of an operator uses.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

/// The operator as messages spell it: GATHER, "custom NAME", or its number.
Expected<std::string> operator_name(const schema::Model& model, const schema::Operator& op, const std::string& what);
/// The operator's number. Files before 2020 have only a narrow field for it; newer files have both fields.
int32_t operator_code(const schema::OperatorCode& code);

/// The tensors of subgraph 0 and the values they stand for. A constant is copied when it is first used, so unused weights cost nothing.
class Graph {
 public:
  Graph(Imported& imported, const schema::Model& model, std::string_view file, const std::string& path);

  const schema::Model& model() const { return model_; }
  const std::string& path() const { return path_; }
  const schema::SubGraph& subgraph() const { return *model_.subgraphs()->Get(0); }
  Imported& imported() { return imported_; }

  /// Tensor `number`; `what` names its user in messages.
  Expected<const schema::Tensor*> tensor(int32_t number, const std::string& what) const;
  std::string tensor_name(int32_t number) const;  ///< the file's name, or tensor_NUMBER
  /// "FILE: tensor 3 (x)"
  std::string describe(int32_t number) const;

  /// Gives a tensor its value; fails if it has one already.
  Status define(int32_t number, Value value, const std::string& what);
  /// The number of the tensor's value.
  Expected<int> find(int32_t number, const std::string& what);
  /// The tensor's constant; fails if the tensor is not one.
  Expected<Constant> constant(int32_t number, const std::string& what) const;

  void mark_region(int32_t subgraph) { regions_.insert(subgraph); }
  const std::set<int32_t>& regions() const { return regions_; }

 private:
  Imported& imported_;
  const schema::Model& model_;
  std::string_view file_;
  const std::string& path_;
  std::vector<int> values_;    ///< per tensor: its value; -1: not defined so far
  std::set<int32_t> regions_;  ///< subgraphs that are the region of an operator
};

/// One operator: gives its inputs as values, and errors that name the file, the operator's number and its name.
class Node {
 public:
  Node(Graph& graph, const schema::Operator& op, int number, const std::string& name);

  const std::string& location() const { return where_; }  ///< FILE: operator 3 (GATHER)
  Status error(const std::string& message) const { return invalid_argument(where_ + ": " + message); }
  Status at(const Status& status) const { return status.with_prefix(where_); }

  Status check_signature(uint32_t inputs, uint32_t outputs) const;
  /// The value number of input `i`, which messages call `role`.
  Expected<int> input(uint32_t i, std::string_view role) const;
  const TensorType& type(int value) const { return graph_.imported().values[static_cast<size_t>(value)].type; }
  /// Refuses dtypes other than i32 and i64.
  Status check_index_type(int value, std::string_view role) const;
  /// The elements of input `i`, which must be a rank-1 constant of dtype i32 or i64.
  Expected<std::vector<int64_t>> constant_integers(uint32_t i, std::string_view role) const;

  Graph& graph() const { return graph_; }
  const schema::Operator& op() const { return op_; }
  /// Adds the kernel that computes the operator's only output. `fixed_policy` as in ImportedKernel.
  Status add_kernel(Op op, std::vector<int> arguments, std::vector<std::string> notes = {}, bool fixed_policy = false);

 private:
  Status check_output(int32_t number, const TensorType& computed) const;
  int32_t input_tensor(uint32_t i) const { return op_.inputs()->Get(i); }

  Graph& graph_;
  const schema::Operator& op_;
  std::string name_, where_;
};

/// A list of dimension numbers; empty if the file leaves it out.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list);

}  // namespace strew::inline v0::tflite
