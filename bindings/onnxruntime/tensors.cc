#include "bindings/onnxruntime/tensors.h"

namespace strew::ort {

namespace {

/// By the number of the element type; STREW_DTYPE_COUNT: strew has none.
constexpr std::array<strew_dtype, 26> kDTypes = {
    STREW_DTYPE_COUNT, STREW_F32,        STREW_U8,     STREW_I8,       STREW_U16,        STREW_I16,    STREW_I32,
    STREW_I64,         STREW_STRING,     STREW_BOOL,   STREW_F16,      STREW_F64,        STREW_U32,    STREW_U64,
    STREW_COMPLEX64,   STREW_COMPLEX128, STREW_BF16,   STREW_F8E4M3FN, STREW_F8E4M3FNUZ, STREW_F8E5M2, STREW_F8E5M2FNUZ,
    STREW_U4,          STREW_I4,         STREW_F4E2M1, STREW_U2,       STREW_I2};
static_assert(kDTypes[static_cast<size_t>(abi::ElementType::f16)] == STREW_F16);
static_assert(kDTypes[static_cast<size_t>(abi::ElementType::bf16)] == STREW_BF16);
static_assert(kDTypes[static_cast<size_t>(abi::ElementType::u4)] == STREW_U4);
static_assert(kDTypes[static_cast<size_t>(abi::ElementType::i2)] == STREW_I2);

}  // namespace

std::optional<strew_dtype> dtype_of(abi::ElementType type) {
  const auto number = static_cast<size_t>(type);
  if (number >= kDTypes.size() || kDTypes[number] == STREW_DTYPE_COUNT || kDTypes[number] == STREW_STRING) return std::nullopt;
  return kDTypes[number];
}

const std::vector<abi::ElementType>& element_types() {
  static const std::vector<abi::ElementType> all = [] {
    std::vector<abi::ElementType> found;
    for (int number = 0; number <= static_cast<int>(abi::ElementType::i2); ++number) {
      const auto type = static_cast<abi::ElementType>(number);
      const abi::DataType* data_type = nullptr;
      if (dtype_of(type) && succeeded(ep_api().GetTensorDataType(type, &data_type)) && data_type != nullptr)
        found.push_back(type);
    }
    return found;
  }();
  return all;
}

abi::Status* view_of(const abi::Value* value, bool is_input, strew_tensor* out) {
  abi::ElementType type = abi::ElementType::undefined;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  void* data = nullptr;
  STREW_ORT_TRY(api().GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
  STREW_ORT_TRY(api().GetTensorMutableData(const_cast<abi::Value*>(value), &data));
  const std::optional<strew_dtype> dtype = dtype_of(type);
  if (!dtype) return failure("strew: element type " + std::to_string(static_cast<int>(type)) + " of a tensor is not supported");
  *out = {data, dims, nullptr, static_cast<int32_t>(rank), static_cast<uint8_t>(*dtype), static_cast<uint8_t>(is_input), {0, 0}};
  return nullptr;
}

abi::Status* input(const abi::KernelContext* context, size_t number, strew_tensor* out) {
  const abi::Value* value = nullptr;
  STREW_ORT_TRY(api().KernelContext_GetInput(context, number, &value));
  if (value == nullptr) return failure("strew: input " + std::to_string(number) + " is missing");
  return view_of(value, true, out);
}

int64_t bytes_of(const strew_tensor& tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.dims[d];
  return (count * strew_dtype_bits(static_cast<strew_dtype>(tensor.dtype)) + 7) / 8;
}

abi::Status* type_of(const abi::ValueInfo* info, ValueType* out) {
  const abi::TypeInfo* type = nullptr;
  const abi::TensorInfo* tensor = nullptr;
  STREW_ORT_TRY(api().GetValueInfoTypeInfo(info, &type));
  if (type != nullptr) STREW_ORT_TRY(api().CastTypeInfoToTensorInfo(type, &tensor));
  if (tensor == nullptr) return failure("strew: the value is no tensor");
  STREW_ORT_TRY(api().GetTensorElementType(tensor, &out->element));
  if (!api().TensorTypeAndShape_HasShape(tensor)) return nullptr;
  size_t rank = 0;
  STREW_ORT_TRY(api().GetDimensionsCount(tensor, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> symbols(rank);
  STREW_ORT_TRY(api().GetDimensions(tensor, dims.data(), rank));
  STREW_ORT_TRY(api().GetSymbolicDimensions(tensor, symbols.data(), rank));
  for (size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0) dims[d] = STREW_OPEN;
    out->symbols.emplace_back(symbols[d] != nullptr ? symbols[d] : "");
  }
  out->dims = std::move(dims);
  return nullptr;
}

std::optional<int64_t> elements_of(const ValueType& type) {
  if (!type.dims) return std::nullopt;
  int64_t count = 1;
  for (const int64_t extent : *type.dims) {
    if (extent == STREW_OPEN || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace strew::ort
