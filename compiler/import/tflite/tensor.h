// Tensors of a TensorFlow Lite file: their types, and the constants that lie in its buffers.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/import/importer.h"
#include "compiler/import/tflite/tflite_generated.h"

namespace strew::tflite {

/// Dims that shape_signature leaves open are kDynamic. `what` starts every message.
Expected<TensorType> tensor_type(const schema::Tensor& tensor, const std::string& what);

/// The bytes of a tensor's buffer, wherever in `file` they lie; empty when it has none.
Expected<std::string_view> tensor_data(const schema::Model& model, std::string_view file, const schema::Tensor& tensor,
                                       const std::string& what);

/// A constant of `shape` (signatures are for inputs) from its buffer's bytes, whose number must be right.
Expected<Constant> to_constant(const schema::Tensor& tensor, std::string_view data, const std::string& what);

/// Whether stored numbers stand for others.
bool is_quantized(const schema::Tensor& tensor);

}  // namespace strew::tflite
