// External data: the elements of a tensor that lie in a file beside the model.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "compiler/import/importer.h"

namespace strew::onnx {

class TensorProto;

/// Gives `constant`, whose type is set, the `expected` bytes of `proto`, whose data_location is EXTERNAL, from the folder of `path` (the
/// model's). Floats are mapped; integers, which may be indices, are read. `what` starts messages.
Status read_external(const TensorProto& proto, int64_t expected, const std::string& what, const std::string& path,
                     Constant& constant);

}  // namespace strew::onnx
