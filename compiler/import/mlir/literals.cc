// MLIR stores dense elements of 8 bits and more as strew does (little-endian, row-major, complex numbers as pairs), so their bytes are
// copied. i1 and packed dtypes are converted element by element, so they do not depend on how this version of MLIR packs them. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/literals.h"

#include <fmt/format.h>
#include <mlir/Dialect/Quant/IR/QuantTypes.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/DialectResourceBlobManager.h>

#include <cstring>

#include "compiler/import/mlir/types.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

/// Stores `code` as element `index` of a tensor whose dtype is bool or has fewer than 8 bits.
void store_small(DType dtype, std::vector<std::byte>& data, int64_t index, uint64_t code) {
  const int width = bits(dtype);
  const size_t bit = static_cast<size_t>(index) * static_cast<size_t>(width);
  data[bit / 8] |= static_cast<std::byte>((code & ((1U << width) - 1U)) << (bit % 8));
}

Status copy_small(mlir::DenseElementsAttr dense, Constant& out, int64_t count) {
  const DType dtype = out.type.dtype;
  if (auto integers = dense.tryGetValues<llvm::APInt>(); mlir::succeeded(integers)) {
    int64_t i = 0;
    for (auto it = integers->begin(); i < count; ++i, ++it) store_small(dtype, out.data, i, (*it).getZExtValue());
    return {};
  }
  if (auto floats = dense.tryGetValues<llvm::APFloat>(); mlir::succeeded(floats)) {
    int64_t i = 0;
    for (auto it = floats->begin(); i < count; ++i, ++it) store_small(dtype, out.data, i, (*it).bitcastToAPInt().getZExtValue());
    return {};
  }
  return invalid_argument("expected integers or floats");
}

Expected<int64_t> static_count(const TensorType& type) {
  for (const int64_t extent : type.dims)
    if (extent == kDynamic) return invalid_argument("a dynamic type, expected static extents");
  return element_count(type.dims);
}

Expected<Constant> from_dense(mlir::DenseElementsAttr dense, const TensorType& type, int64_t count) {
  const int64_t size = storage_bytes(type.dtype, count);
  if (dense.isSplat() && size > kMaxSplatBytes)
    return invalid_argument(fmt::format("a splat of {} bytes, expected at most {}", size, kMaxSplatBytes));
  Constant out;
  out.type = type;
  out.data.resize(static_cast<size_t>(size));
  out.splat = dense.isSplat();
  if (bits(type.dtype) < 8 || type.dtype == DType::boolean) {
    STREW_TRY(copy_small(dense, out, count));
    return out;
  }
  const llvm::ArrayRef<char> raw = dense.getRawData();
  const size_t element = static_cast<size_t>(bits(type.dtype)) / 8;
  if (dense.isSplat()) {
    if (raw.size() != element) return internal_error(fmt::format("a splat of {} bytes, expected {}", raw.size(), element));
    for (size_t at = 0; at < out.data.size(); at += element) std::memcpy(out.data.data() + at, raw.data(), element);
  } else {
    if (raw.size() != out.data.size()) return internal_error(fmt::format("{} bytes, expected {}", raw.size(), out.data.size()));
    if (!raw.empty()) std::memcpy(out.data.data(), raw.data(), raw.size());
  }
  return out;
}

Expected<Constant> from_resource(mlir::DenseResourceElementsAttr resource, const TensorType& type, int64_t count) {
  const mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
  const std::string key = resource.getRawHandle().getKey().str();
  if (!blob) return invalid_argument(fmt::format("dense_resource<{}> has no data in this file", key));
  if (bits(type.dtype) < 8 || type.dtype == DType::boolean)
    return invalid_argument(
        fmt::format("dense_resource<{}> of {} elements is not read, expected dense<...>", key, name(type.dtype)));
  const auto size = static_cast<size_t>(storage_bytes(type.dtype, count));
  if (blob->getData().size() != size)
    return invalid_argument(fmt::format("dense_resource<{}> has {} bytes, expected {}", key, blob->getData().size(), size));
  Constant out;
  out.type = type;
  out.data.resize(size);
  if (size > 0) std::memcpy(out.data.data(), blob->getData().data(), size);
  return out;
}

}  // namespace

Expected<Constant> constant_from(mlir::Attribute value, const TensorType& type) {
  const auto elements = llvm::dyn_cast_or_null<mlir::ElementsAttr>(value);
  if (!elements) return invalid_argument("value, expected dense<...>");
  STREW_ASSIGN(const TensorType own, tensor_type(elements.getShapedType()));
  if (own.dims != type.dims || bits(own.dtype) != bits(type.dtype) ||
      (own.dtype == DType::boolean) != (type.dtype == DType::boolean))
    return invalid_argument(fmt::format("value of type {}, expected the result's type", text_of(elements.getShapedType())));
  STREW_ASSIGN(const int64_t count, static_count(type));
  if (const auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(value)) return from_dense(dense, type, count);
  if (const auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(value)) return from_resource(resource, type, count);
  return invalid_argument("value, expected dense<...>");
}

Scalar scalar_of(const Constant& constant) {
  Scalar out{constant.type.dtype, {0, 0}};
  if (!constant.data.empty())
    std::memcpy(out.bits.data(), constant.data.data(), std::min(constant.data.size(), sizeof(out.bits)));
  return out;
}

}  // namespace strew::inline v0
