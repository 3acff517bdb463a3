// TensorProto -> Constant, for initializers, Constant nodes and `.pb` inputs. Free of protobuf for those who include it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/import/importer.h"

namespace strew::onnx {

class TensorProto;

/// The DType of a TensorProto.DataType number; `what` names what has it ("input past_cache").
Expected<DType> element_type(int32_t data_type, const std::string& what);

/// Checks dims, dtype and the amount of data. `what` starts every message; external data lies beside `path`.
Expected<Constant> to_constant(const TensorProto& proto, const std::string& what, const std::string& path);

/// A serialised TensorProto, as models and ONNX's test data store them. raw_data is copied once, into the constant.
Expected<Constant> parse_tensor(std::string_view bytes, const std::string& what, const std::string& path);
inline Expected<Constant> parse_tensor(std::string_view bytes, const std::string& path) {
  return parse_tensor(bytes, path, path);
}

}  // namespace strew::onnx
