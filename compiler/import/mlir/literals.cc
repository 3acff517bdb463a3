// MLIR stores dense elements of 8 bits and more as strew does (little-endian, row-major, complex numbers as pairs), so their bytes are
// copied. i1 and packed dtypes are converted element by element, so they do not depend on how this version of MLIR packs them. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/literals.h"

#include <mlir/Dialect/Quant/IR/QuantTypes.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/DialectResourceBlobManager.h>

#include <cstring>

#include "compiler/import/mlir/types.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

bool is_small(DType dtype) { return bits(dtype) < 8 || dtype == DType::boolean; }

/// Stores the elements, whose dtype is small.
Status copy_small(mlir::DenseElementsAttr dense, Constant& out, int64_t count) {
  const auto copy = [&](const auto& values, auto code_of) {
    const auto width = static_cast<size_t>(bits(out.type.dtype));
    auto value = values.begin();
    for (size_t i = 0; i < static_cast<size_t>(count); ++i, ++value) {
      const uint64_t code = code_of(*value) & ((uint64_t{1} << width) - 1);
      out.data[i * width / 8] |= static_cast<std::byte>(code << (i * width % 8));
    }
    return Status();
  };
  if (auto integers = dense.tryGetValues<llvm::APInt>(); mlir::succeeded(integers))
    return copy(*integers, [](const llvm::APInt& value) { return value.getZExtValue(); });
  if (auto floats = dense.tryGetValues<llvm::APFloat>(); mlir::succeeded(floats))
    return copy(*floats, [](const llvm::APFloat& value) { return value.bitcastToAPInt().getZExtValue(); });
  return invalid_argument("expected integers or floats");
}

/// The bytes of the elements, of one element of a splat; `size`: how many bytes all elements have.
Expected<llvm::ArrayRef<char>> bytes_of(mlir::Attribute value, DType dtype, size_t size) {
  if (const auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value)) {
    const llvm::ArrayRef<char> raw = dense.getRawData();
    const size_t expected = dense.isSplat() ? static_cast<size_t>(bits(dtype)) / 8 : size;
    return raw.size() == expected ? Expected(raw) : internal_error(fmt::format("{} bytes, expected {}", raw.size(), expected));
  }
  const auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(value);
  if (!resource) return invalid_argument("value, expected dense<...>");
  const mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
  const std::string key = resource.getRawHandle().getKey().str();
  if (!blob) return invalid_argument("dense_resource<{}> has no data in this file", key);
  if (is_small(dtype))
    return invalid_argument("dense_resource<{}> of {} elements is not read, expected dense<...>", key, name(dtype));
  if (blob->getData().size() == size) return blob->getData();
  return invalid_argument("dense_resource<{}> has {} bytes, expected {}", key, blob->getData().size(), size);
}

}  // namespace

Expected<Constant> constant_from(mlir::Attribute value, const TensorType& type) {
  const auto elements = llvm::dyn_cast_or_null<mlir::ElementsAttr>(value);
  if (!elements) return invalid_argument("value, expected dense<...>");
  STREW_ASSIGN(const TensorType own, tensor_type(elements.getShapedType()));
  if (own.dims != type.dims || bits(own.dtype) != bits(type.dtype) ||
      (own.dtype == DType::boolean) != (type.dtype == DType::boolean))
    return invalid_argument("value of type {}, expected the result's type", text_of(elements.getShapedType()));
  if (!is_static(type.dims)) return invalid_argument("a dynamic type, expected static extents");
  STREW_ASSIGN(const int64_t count, element_count(type.dims));
  const int64_t size = storage_bytes(type.dtype, count);
  const auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
  Constant out;
  out.type = type;
  out.splat = dense && dense.isSplat();
  if (out.splat && size > kMaxSplatBytes)
    return invalid_argument("a splat of {} bytes, expected at most {}", size, kMaxSplatBytes);
  if (dense && is_small(type.dtype)) {
    out.data.resize(static_cast<size_t>(size));
    STREW_TRY(copy_small(dense, out, count));
    return out;
  }
  STREW_ASSIGN(const llvm::ArrayRef<char> raw, bytes_of(value, type.dtype, static_cast<size_t>(size)));
  out.data.resize(static_cast<size_t>(size));
  for (size_t at = 0; at < out.data.size(); at += raw.size()) std::memcpy(out.data.data() + at, raw.data(), raw.size());
  return out;
}

}  // namespace strew::inline v0
