#include "bindings/onnxruntime/claims.h"

#include <memory>

namespace strew::ort {
namespace {

/// The tensors of an op, of which only the types are known. A rank that is not known is one that suits the others.
class Types {
 public:
  abi::Status* read(const abi::Node* node, Form form);
  std::span<const strew_tensor> inputs() const { return tensors_; }
  bool is_complete() const { return is_complete_; }
  const ValueType& operand() const { return types_[0]; }
  const ValueType& indices() const { return types_[1]; }

 private:
  std::vector<ValueType> types_;
  std::vector<strew_tensor> tensors_;
  bool is_complete_ = true;
};

abi::Status* Types::read(const abi::Node* node, Form form) {
  std::vector<const abi::ValueInfo*> infos;
  STREW_ORT_TRY(inputs_of(node, &infos));
  if (form == Form::tensor_scatter) {
    infos.resize(3, nullptr);
    std::swap(infos[1], infos[2]);
  }
  for (const abi::ValueInfo* const info : infos) {
    ValueType& type = types_.emplace_back();
    if (info != nullptr) {
      STREW_ORT_TRY(type_of(info, &type));
    } else {  // the write indices of TensorScatter
      type = {abi::ElementType::i64,
              std::vector<int64_t>{types_[0].dims && !types_[0].dims->empty() ? types_[0].dims->front() : STREW_OPEN},
              {""}};
    }
    is_complete_ = is_complete_ && type.dims.has_value();
  }
  for (const ValueType& type : types_) {
    const std::optional<strew_dtype> dtype = dtype_of(type.element);
    if (!dtype || !type.dims) {
      is_complete_ = false;
      continue;
    }
    tensors_.push_back(
        {nullptr, type.dims->data(), nullptr, static_cast<int32_t>(type.dims->size()), static_cast<uint8_t>(*dtype), 0, {0, 0}});
  }
  return nullptr;
}

/// A gather that takes a place of a shape or a part of a small tensor.
std::string why_small(const Types& types, Form form, const Attributes& attributes) {
  constexpr const char* kSmall = "the gather is so small that ONNX Runtime's own kernel takes no longer";
  const std::optional<strew_dtype> dtype = dtype_of(types.operand().element);
  if (writes(form) || !types.is_complete() || !dtype) return "";
  Dims dims;
  if (const std::optional<int64_t> indices = elements_of(types.indices()), operand = elements_of(types.operand());
      indices && operand) {
    if (!succeeded(result_dims(form, attributes, types.inputs(), &dims))) return "";
    const std::optional<int64_t> count =
        elements_of({types.operand().element, std::vector<int64_t>(dims.data(), dims.data() + dims.size()), {}});
    return count && *count * strew_dtype_bits(*dtype) / 8 < kLeastGatheredBytes ? kSmall : "";
  }
  // Shapes are vectors, and places of them are constants.
  const std::optional<int64_t> indices = elements_of(types.indices());
  return types.operand().dims->size() == 1 && types.operand().element == abi::ElementType::i64 && indices && *indices < 8 ? kSmall
                                                                                                                          : "";
}

}  // namespace

abi::Status* why_not(const abi::Node* node, const Operator& op, std::string* out) {
  Attributes attributes;
  if (!succeeded(read_attributes(op.form, NodeReader(node), &attributes))) {
    *out = "an attribute has a value that the operator does not have";
    return nullptr;
  }
  Types types;
  STREW_ORT_TRY(types.read(node, op.form));
  // The length of index vectors may be what only the call knows; kernels are made for calls.
  const bool has_vectors = op.form == Form::gather_nd || op.form == Form::scatter_nd;
  if (!types.is_complete() || (has_vectors && (types.indices().dims->empty() || types.indices().dims->back() == STREW_OPEN)))
    return nullptr;
  strew_op* made = nullptr;
  const strew_status status = make_op(op.form, attributes, types.inputs(), false, &made);
  const std::unique_ptr<strew_op, void (*)(strew_op*)> owned(made, strew_op_free);
  if (status != nullptr) *out = strew_status_message(status);
  strew_status_free(status);
  if (out->empty()) *out = why_small(types, op.form, attributes);
  return nullptr;
}

}  // namespace strew::ort
