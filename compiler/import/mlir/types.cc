// MLIR accepts tensor<99999999999x99999999999xf32>, so tensor_type() checks the product of the extents of every tensor in a file.
// Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/types.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/Dialect/Quant/IR/QuantTypes.h>
#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

Expected<DType> integer_dtype(mlir::IntegerType type) {
  const DTypeKind kind = type.isUnsigned() ? DTypeKind::unsigned_integer : DTypeKind::signed_integer;
  if (type.isSignlessInteger(1)) return DType::boolean;
  for (int i = 0; i < kDTypeCount; ++i)
    if (const DTypeInfo& row = info(static_cast<DType>(i));
        row.kind == kind && type.getWidth() == static_cast<unsigned>(row.bits))
      return row.dtype;
  return invalid_argument("element type {}, expected an integer of 2, 4, 8, 16, 32 or 64 bits, or i1", text_of(type));
}

/// The classes that column mlir of dtypes.def names.
namespace types {
using namespace mlir;  // NOLINT(google-build-using-namespace): qualified names look here
struct noneType;
}  // namespace types
template <class T>
bool is_a(mlir::Type type) {
  if constexpr (std::is_same_v<T, types::noneType>)
    return false;
  else
    return llvm::isa<T>(type);
}

/// Is the encoding one that may be ignored? Bounds of dynamic dims are not needed; any other encoding changes what the bytes mean.
bool plain_encoding(mlir::Attribute encoding) {
  if (!encoding) return true;
  const auto opaque = llvm::dyn_cast<mlir::OpaqueAttr>(encoding);
  return opaque && opaque.getDialectNamespace() == "stablehlo" &&
         (opaque.getAttrData().contains("bounds") || opaque.getAttrData().contains("type_extensions"));
}

}  // namespace

std::string text_of(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  constexpr size_t kLongest = 120;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

Expected<DType> element_dtype(mlir::Type e) {
  if (const auto integer = llvm::dyn_cast<mlir::IntegerType>(e)) return integer_dtype(integer);
  if (const auto quantized = llvm::dyn_cast<mlir::quant::QuantizedType>(e)) {
    const auto storage = llvm::dyn_cast<mlir::IntegerType>(quantized.getStorageType());
    if (!storage) return element_dtype(quantized.getStorageType());
    return integer_dtype(quantized.isSigned() || storage.isUnsigned()
                             ? storage
                             : mlir::IntegerType::get(e.getContext(), storage.getWidth(), mlir::IntegerType::Unsigned));
  }
  if (llvm::isa<mlir::IndexType>(e)) return DType::i64;
#define STREW_MLIR_TYPE(dtype, dlpack, onnx, tflite, mlir, ...) \
  if (is_a<types::mlir##Type>(e)) return DType::dtype;
  STREW_DTYPE_FORMATS(STREW_MLIR_TYPE)
#undef STREW_MLIR_TYPE
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(e)) {
    if (llvm::isa<mlir::Float32Type>(complex.getElementType())) return DType::complex64;
    if (llvm::isa<mlir::Float64Type>(complex.getElementType())) return DType::complex128;
  }
  return invalid_argument("element type {} is not one strew stores", text_of(e));
}

Expected<TensorType> tensor_type(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) return invalid_argument("type {}, expected a ranked tensor", text_of(type));
  if (!plain_encoding(tensor.getEncoding())) return invalid_argument("type {}: this encoding is not read", text_of(type));
  STREW_ASSIGN(const DType dtype, element_dtype(tensor.getElementType()));
  TensorType out{dtype, {}, {}};
  int64_t bits_left = std::numeric_limits<int64_t>::max() / bits(dtype);
  for (const int64_t extent : tensor.getShape()) {
    out.dims.push_back(mlir::ShapedType::isDynamic(extent) ? kDynamic : extent);
    if (extent <= 1) continue;
    bits_left /= extent;
    if (bits_left == 0) return invalid_argument("type {}: the number of elements overflows 64 bits", text_of(type));
  }
  return out;
}

Expected<TensorType> value_type(mlir::Type type) {
  if (!type.isIntOrIndexOrFloat() && !llvm::isa<mlir::ComplexType>(type)) return tensor_type(type);
  STREW_ASSIGN(const DType dtype, element_dtype(type));
  return TensorType{dtype, {}, {}};
}

mlir::Type element_of(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::TensorType>(type);
  return tensor ? tensor.getElementType() : mlir::Type();
}

bool has_several_scales(mlir::Type type) {
  const mlir::Type element = element_of(type);
  return llvm::isa_and_nonnull<mlir::quant::UniformQuantizedPerAxisType, mlir::quant::UniformQuantizedSubChannelType>(element);
}

bool is_quantized(mlir::Type type) { return llvm::isa_and_nonnull<mlir::quant::QuantizedType>(element_of(type)); }

}  // namespace strew::inline v0
