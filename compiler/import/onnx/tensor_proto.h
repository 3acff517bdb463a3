// TensorProto -> Constant, for initializers, Constant nodes and `.pb` inputs. Free of protobuf for those who include it.
#pragma once

#include <string>
#include <string_view>

#include "compiler/import/importer.h"
#include "runtime/status.h"

namespace strew::onnx {

class TensorProto;

/// The DType of a TensorProto.DataType number; `what` names what has it ("input past_cache").
Expected<DType> element_type(int32_t data_type, const std::string& what);

/// Checks dims, dtype and the amount of data. `what` starts every message.
Expected<Constant> to_constant(const TensorProto& proto, const std::string& what);

/// A serialised TensorProto, as ONNX's test data stores them.
Expected<Constant> parse_tensor(std::string_view bytes, const std::string& path);

}  // namespace strew::onnx
