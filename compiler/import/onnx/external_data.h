// External data: tensors of a model whose elements are stored in a file beside it.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/import/onnx/messages.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::onnx {

/// Gives `constant`, whose type is already set, the `expected` bytes of `proto`, whose data_location is EXTERNAL. The file lies in the
/// folder of the model `path`. Elements of floating-point dtypes are mapped; integers, which may be indices, are read. Error messages start
/// with `what`.
Status read_external(const TensorProto& proto, int64_t expected, const std::string& what, const std::string& path,
                     Constant& constant);

}  // namespace strew::inline v0::onnx
