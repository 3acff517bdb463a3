// The operators that strew runs in the place of ONNX Runtime's own: which they are, what their attributes say, and what op of strew each is. Tested by
// tests/onnxruntime.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/onnxruntime/tensors.h"

namespace strew::ort {

enum class Form : uint8_t { gather, gather_elements, gather_nd, scatter_elements, scatter_nd, tensor_scatter };

struct Operator {
  const char* name;
  const char* domain;
  Form form;
  std::span<const int> versions;  ///< the versions that changed it; a node has one of them
  const char* index_types;        ///< the schema's name for the types of the indices; null: they are i64 always
  abi::ErrorCode bad_index;       ///< what ONNX Runtime's own kernel fails with
};
std::span<const Operator> operators();
/// Is the domain ONNX's own? It has two names.
inline bool is_onnx(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
/// Null: there is no such operator.
const Operator* find_operator(std::string_view domain, std::string_view name);

/// Is the operator in a list with commas? An empty list has all.
bool names(const std::string& ops, const char* name);

inline bool writes(Form form) {
  return form == Form::scatter_elements || form == Form::scatter_nd || form == Form::tensor_scatter;
}

enum class Combiner : uint8_t { assign, add, mul, max, min };

/// What a node's attributes say.
struct Attributes {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  Combiner combiner = Combiner::assign;
  bool is_circular = false;
};

/// Where attributes are read: of a node while the graph is divided, and of what ONNX Runtime makes a kernel from.
class AttributeReader {
 public:
  virtual ~AttributeReader() = default;
  virtual std::optional<int64_t> number(const char* name) const = 0;
  virtual std::optional<std::string> text(const char* name) const = 0;
};
/// A failure says which attribute has which value, and what was expected.
abi::Status* read_attributes(Form form, const AttributeReader& reader, Attributes* out);

/// The op of these tensors: of a scatter the operand, the indices and the updates, else the operand and the indices. Extents may be STREW_OPEN. `in_place`: the
/// result lies in the operand's memory.
strew_status make_op(Form form, const Attributes& attributes, std::span<const strew_tensor> inputs, bool in_place,
                     strew_op** out);

/// The dims of the result. Fails unless the inputs' dims are as the operator says.
abi::Status* result_dims(Form form, const Attributes& attributes, std::span<const strew_tensor> inputs, Dims* out);

}  // namespace strew::ort
