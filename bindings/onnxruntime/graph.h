// What a graph of ONNX Runtime's says, read through its interface. Valid during the call that got the graph. Tested by tests/onnxruntime.
#pragma once

#include "bindings/onnxruntime/operators.h"

namespace strew::ort {

/// A list of pointers, which the interface gives by its length and into an array.
template <class T, class From>
abi::Status* read_list(abi::Status* (*const count)(const From*, size_t*),
                       abi::Status* (*const get)(const From*, const T**, size_t), const From* from, std::vector<const T*>* out) {
  size_t size = 0;
  STREW_ORT_TRY(count(from, &size));
  out->assign(size, nullptr);
  return size == 0 ? nullptr : get(from, out->data(), size);
}

struct NodeText {
  std::string name, type, domain;
  int version = 0;
  std::string provider;  ///< that has the node already; "": none has
  bool is_onnx() const { return ort::is_onnx(domain); }
};
abi::Status* read_node(const abi::Node* node, NodeText* out);
/// Inputs that are left out are null.
abi::Status* inputs_of(const abi::Node* node, std::vector<const abi::ValueInfo*>* out);
abi::Status* outputs_of(const abi::Node* node, std::vector<const abi::ValueInfo*>* out);
abi::Status* name_of(const abi::ValueInfo* info, std::string* out);

/// What the names of values begin with that a graph does not have. A graph with such a name of its own has no groups.
inline constexpr char kMade = '\x01';
inline std::string made_name(const std::string& of, const std::string& what) { return kMade + of + "/" + what; }

/// The numbers of the values with these names, of which none may lack.
abi::Status* places_of(const std::vector<std::string>& names, const std::vector<const abi::ValueInfo*>& infos,
                       std::vector<size_t>* out);

/// The attributes of a node.
class NodeReader final : public AttributeReader {
 public:
  explicit NodeReader(const abi::Node* node) : node_(node) {}
  std::optional<int64_t> number(const char* name) const override;
  std::optional<std::string> text(const char* name) const override;

 private:
  const abi::Node* node_;
};
/// The text of an attribute of that type.
abi::Status* read_text(const abi::Attribute* attribute, std::string* out);

}  // namespace strew::ort
