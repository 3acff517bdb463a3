// Tensors of a TensorFlow Lite file: their types, and the constants stored in the file's buffers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

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

}  // namespace strew::inline v0::tflite
