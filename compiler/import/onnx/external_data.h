// External data: the elements of a tensor that lie in a file beside the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace strew::onnx {

class TensorProto;

/// The `expected` bytes of `proto`, whose data_location is EXTERNAL, from the folder of `path` (the model's). `what` starts messages.
Expected<std::vector<std::byte>> read_external(const TensorProto& proto, int64_t expected, const std::string& what,
                                               const std::string& path);

}  // namespace strew::onnx
