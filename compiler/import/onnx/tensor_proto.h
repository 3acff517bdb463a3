// Converts TensorProto to Constant, for initializers, Constant nodes and `.pb` inputs. This header includes no protobuf header.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/import/onnx/messages.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::onnx {

/// The DType of a TensorProto.DataType number. `what` names the tensor in messages ("input past_cache").
Expected<DType> element_type(int32_t data_type, const std::string& what);

/// The TensorProto.DataType number of a DType; 0: ONNX has none.
int32_t element_number(DType dtype);

/// Converts `proto`, after checking its dims, its dtype and the size of its data. Messages start with `what`; external data is looked for
/// beside the file `path`.
Expected<Constant> to_constant(const TensorProto& proto, const std::string& what, const std::string& path);

/// Converts a serialised TensorProto, the form in which models and ONNX's test data store tensors. raw_data is copied once, into the
/// constant; large data stays where it is if `owner` keeps it there.
Expected<Constant> parse_tensor(std::string_view bytes, const std::string& what, const std::string& path,
                                const std::shared_ptr<const void>& owner = nullptr);
inline Expected<Constant> parse_tensor(std::string_view bytes, const std::string& path) {
  return parse_tensor(bytes, path, path);
}

}  // namespace strew::inline v0::onnx
