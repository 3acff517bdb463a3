// Names the ONNX messages in namespace onnx without including the generated onnx.pb.h, which takes seconds to compile. Protobuf's package is
// strew_onnx, because protoc cannot write an inline namespace.
#pragma once

namespace strew_onnx {
class AttributeProto;
class NodeProto;
class OperatorSetIdProto;
class StringStringEntryProto;
class TensorProto;
class TensorShapeProto;
class TypeProto;
class ValueInfoProto;
}  // namespace strew_onnx

namespace strew::inline v0::onnx {
using strew_onnx::AttributeProto;
using strew_onnx::NodeProto;
using strew_onnx::OperatorSetIdProto;
using strew_onnx::StringStringEntryProto;
using strew_onnx::TensorProto;
using strew_onnx::TensorShapeProto;
using strew_onnx::TypeProto;
using strew_onnx::ValueInfoProto;
}  // namespace strew::inline v0::onnx
