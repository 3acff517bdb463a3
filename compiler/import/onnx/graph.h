// Graph and Node: an ONNX graph while it is being translated. What a node's importer works with.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/import/importer.h"
#include "compiler/import/onnx/onnx.pb.h"

namespace strew::onnx {

/// Field numbers of GraphProto, whose messages are parsed one by one: the graph as a whole never is.
struct GraphField {
  static constexpr uint64_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValueInfo = 13;
};

/// The names of a graph and the values they stand for. Every name has one value, and it comes before its uses. Initializers become
/// constants when first used: a file full of weights costs nothing.
class Graph {
 public:
  /// `bytes`: the serialised GraphProto, which outlives the graph.
  Graph(Imported& imported, const std::string& path, std::string_view bytes) : imported_(imported), path_(path), bytes_(bytes) {}

  /// Adds `value` under `name`; fails when the name is taken. `what` starts the message.
  Status define(const std::string& name, Value value, const std::string& what);
  /// A serialised TensorProto. Nothing but its name is looked at before it is used.
  Status define_initializer(std::string_view tensor);
  bool has_initializer(const std::string& name) const { return initializers_.count(name) > 0; }
  /// The value's number, or -1 when there is none of that name.
  Expected<int> find(const std::string& name);
  int add(Value value);  ///< without a name
  /// `name`, or with a number appended so that no kernel has it.
  std::string kernel_name(const std::string& name);
  /// How a graph input is used decides whether `--input -` may leave it out.
  void used(int value, bool optional);
  bool only_optional(int value) const;
  /// The rank that the file declares for the value `name` it computes, or -1.
  int declared_rank(const std::string& name);
  Imported& imported() { return imported_; }
  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }

 private:
  Imported& imported_;
  const std::string& path_;
  std::string_view bytes_;
  std::map<std::string, int> names_;
  std::map<std::string_view, std::string_view> initializers_;
  std::map<std::string, int> declared_ranks_;
  bool has_declared_ranks_ = false;
  std::map<std::string, int> kernel_names_;
  std::map<int, bool> required_;  ///< value -> some use needs it
};

/// The value of a constant: appended to imported.constants.
Value constant_value(Imported& imported, Constant constant);

/// One node: its inputs as values, its attributes with their types checked, its errors with file and node named.
class Node {
 public:
  Node(Graph& graph, const NodeProto& proto, int number, const std::string& path, int64_t opset);

  int64_t opset() const { return opset_; }
  const std::string& name() const { return name_; }       ///< the node's, or OpType_NUMBER
  const std::string& location() const { return where_; }  ///< FILE: node NAME (OpType)
  Status error(const std::string& message) const { return invalid_argument(where_ + ": " + message); }

  /// Wrong numbers of inputs or outputs, attributes outside `attributes`, repeated ones.
  Status check_signature(int min_inputs, int max_inputs, int outputs, std::initializer_list<std::string_view> attributes) const;
  bool has_input(int i) const { return i < proto_.input_size() && !proto_.input(i).empty(); }
  /// Value number of input `i`, called `role` in messages. `optional`: the operator can do without it.
  Expected<int> input(int i, std::string_view role, bool optional = false) const;
  const TensorType& type(int value) const { return graph_.imported().values[value].type; }

  Expected<int64_t> attribute(std::string_view name, int64_t otherwise) const;
  Expected<std::string> attribute(std::string_view name, const std::string& otherwise) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }

  Graph& graph() const { return graph_; }
  const NodeProto& proto() const { return proto_; }
  /// The kernel that computes the node's outputs; `arguments` as ImportedKernel says. Defines the outputs' values.
  Status add_kernel(Op op, std::vector<int> arguments, std::vector<int> non_negative, std::vector<std::string> notes,
                    std::vector<EqualExtents> equal_extents = {});

 private:
  const AttributeProto* find_attribute(std::string_view name) const;

  Graph& graph_;
  const NodeProto& proto_;
  int64_t opset_;
  std::string name_, where_;
};

/// [2,?,4] for messages.
std::string dims_text(const std::vector<int64_t>& dims);

/// The one extent that `a` and `b` can both have (kDynamic: any), or nothing.
bool unify(int64_t& a, int64_t b);

}  // namespace strew::onnx
