// Names the ONNX messages in namespace onnx without including the generated onnx.pb.h, which takes seconds to compile. Protobuf's package is
// strew_onnx, because protoc cannot write an inline namespace.
#pragma once

namespace strew_onnx {
class TensorProto;
}  // namespace strew_onnx

namespace strew::inline v0::onnx {
using namespace ::strew_onnx;  // NOLINT(google-build-using-namespace): its names are these
}  // namespace strew::inline v0::onnx
