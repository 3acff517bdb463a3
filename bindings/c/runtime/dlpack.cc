// Tensors from and to DLPack. Tested by tests/c_api and tests/oracle/dlpack.py.
#include "bindings/c/runtime/dlpack.h"

#include <array>
#include <bit>
#include <optional>

#include "bindings/c/runtime/handles.h"
#include "strew/dtype.h"

namespace strew::inline v0::c_api {
namespace {

/// Tables of the codes in DLPack: every call of a host may look for the dtypes of its tensors.
struct Codes {
  static constexpr int kCount = 18, kNone = -1;
  std::array<std::array<int8_t, 8>, kCount> dtype;  ///< by code and log2 of the bits
  std::array<int8_t, kDTypeCount> code;
};
constexpr Codes kCodes = [] {
  constexpr std::array<unsigned, kDTypeCount> kBits{
#define STREW_DTYPE_BITS(dtype, c, name, kind, bits, ...) bits,
      STREW_DTYPES(STREW_DTYPE_BITS)
#undef STREW_DTYPE_BITS
  };
  Codes out{};
  for (auto& row : out.dtype) row.fill(Codes::kNone);
  size_t number = 0;
  const auto add = [&](int code) {
    out.code[number] = static_cast<int8_t>(code);
    if (code >= 0)
      out.dtype[static_cast<size_t>(code)][static_cast<size_t>(std::countr_zero(kBits[number]))] = static_cast<int8_t>(number);
    ++number;
  };
#define STREW_DLPACK_CODE(dtype, dlpack, ...) add(dlpack);
  STREW_DTYPE_FORMATS(STREW_DLPACK_CODE)
#undef STREW_DLPACK_CODE
  return out;
}();

std::optional<DType> dtype_from(dlpack::DataType type) {
  if (type.code >= Codes::kCount || !std::has_single_bit(type.bits) || type.bits > 128 || type.lanes != 1) return {};
  const int number = kCodes.dtype[type.code][static_cast<size_t>(std::countr_zero(type.bits))];
  if (number == Codes::kNone) return {};
  return static_cast<DType>(number);
}

}  // namespace

Status view_of_dltensor(const dlpack::Tensor& from, strew_tensor& out) {
  if (from.device_type != dlpack::kCpu && from.device_type != dlpack::kCudaHost && from.device_type != dlpack::kRocmHost)
    return unsupported("DLPack: device type is " + std::to_string(from.device_type) +
                       ", expected memory of the CPU (1, or pinned memory, 3 and 11)");
  if (from.dtype.lanes != 1)
    return unsupported("DLPack: lanes is " + std::to_string(from.dtype.lanes) +
                       ", expected 1; make the lanes a dim of their own");
  const std::optional<DType> dtype = dtype_from(from.dtype);
  if (!dtype)
    return unsupported("DLPack: dtype code " + std::to_string(from.dtype.code) + " with " + std::to_string(from.dtype.bits) +
                       " bits, expected a type of docs/semantics.md section 5");
  if (from.rank < 0) return invalid_argument("DLPack: ndim is " + std::to_string(from.rank) + ", expected 0 or more");
  if (from.rank > 0 && from.dims == nullptr) return check_not_null(from.dims, "DLPack: shape");
  char* const data = static_cast<char*>(from.data);
  out = {data == nullptr ? nullptr : data + from.byte_offset,
         from.dims,
         from.strides,
         from.rank,
         static_cast<uint8_t>(*dtype),
         0,
         {}};
  return {};
}

namespace {

/// A tensor that is passed on: DLPack's struct, and the memory that it refers to.
struct PassedOn {
  dlpack::Managed managed;
  void (*release)(void* context);
  void* context;
  std::vector<int64_t> dims, strides;
};

void delete_passed_on(dlpack::Managed* self) {
  if (self == nullptr) return;
  const std::unique_ptr<PassedOn> owner(static_cast<PassedOn*>(self->context));
  if (owner->release != nullptr) owner->release(owner->context);
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_tensor_from_dltensor(const void* dl_tensor, strew_tensor* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(dl_tensor, "dl_tensor"));
    STREW_TRY(check_not_null(out, "out"));
    return view_of_dltensor(*static_cast<const dlpack::Tensor*>(dl_tensor), *out);
  });
}

strew_status strew_tensor_from_dlpack(const DLManagedTensorVersioned* managed, strew_tensor* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(managed, "managed"));
    STREW_TRY(check_not_null(out, "out"));
    const auto& from = *reinterpret_cast<const dlpack::Managed*>(managed);
    if (from.major != dlpack::kMajor)
      return unsupported("DLPack: version is " + std::to_string(from.major) + "." + std::to_string(from.minor) +
                         ", expected 1.x");
    strew_tensor view;
    STREW_TRY(view_of_dltensor(from.tensor, view));
    if ((from.flags & dlpack::kSubBytePadded) != 0 && from.tensor.dtype.bits < 8)
      return unsupported("DLPack: elements of " + std::to_string(from.tensor.dtype.bits) +
                         " bits are padded to bytes, expected packed ones");
    view.read_only = (from.flags & dlpack::kReadOnly) != 0;
    *out = view;
    return {};
  });
}

strew_status strew_tensor_to_dlpack(const strew_tensor* tensor, void (*release)(void* context), void* context,
                                    DLManagedTensorVersioned** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(tensor, "tensor"));
    STREW_TRY(check_not_null(out, "out"));
    const int code = tensor->dtype < kDTypeCount ? kCodes.code[tensor->dtype] : Codes::kNone;
    if (code == Codes::kNone) {
      const char* const known = strew_dtype_name(static_cast<strew_dtype>(tensor->dtype));
      return unsupported("tensor.dtype: " + (known != nullptr ? std::string(known) : "number " + std::to_string(tensor->dtype)) +
                         ", expected a type that DLPack has");
    }
    if (tensor->rank < 0) return invalid_argument("tensor.rank: " + std::to_string(tensor->rank) + ", expected 0 or more");
    if (tensor->rank > 0) STREW_TRY(check_not_null(tensor->dims, "tensor.dims"));
    auto passed = std::make_unique<PassedOn>();
    passed->release = release;
    passed->context = context;
    passed->dims.assign(tensor->dims, tensor->dims + tensor->rank);
    passed->strides.resize(passed->dims.size(), 1);  // DLPack 1.2 wants them, also of row-major tensors
    if (tensor->strides != nullptr)
      std::copy_n(tensor->strides, tensor->rank, passed->strides.begin());
    else
      for (size_t d = passed->dims.size(); d-- > 1;) passed->strides[d - 1] = passed->strides[d] * passed->dims[d];
    passed->managed = {dlpack::kMajor,
                       dlpack::kMinor,
                       passed.get(),
                       delete_passed_on,
                       tensor->read_only != 0 ? uint64_t{dlpack::kReadOnly} : 0,
                       {tensor->data,
                        dlpack::kCpu,
                        0,
                        tensor->rank,
                        {static_cast<uint8_t>(code), static_cast<uint8_t>(bits(static_cast<DType>(tensor->dtype))), 1},
                        passed->dims.data(),
                        passed->strides.data(),
                        0}};
    *out = reinterpret_cast<DLManagedTensorVersioned*>(&passed.release()->managed);
    return {};
  });
}
