// The structs of DLPack 1.x (https://github.com/dmlc/dlpack, include/dlpack/dlpack.h), as far as CPU tensors need them. DLPack
// keeps their layout within major version 1. A program may include dlpack.h beside strew_rt.h, so strew's structs have names of
// their own. Tested by tests/c_api and tests/oracle/dlpack.py.
#pragma once

#include <cstdint>

#include "strew/status.h"
#include "strew/strew_rt.h"

extern "C" {

struct DLManagedTensorVersioned;
}

namespace strew::inline v0::dlpack {

enum : int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 };
enum : uint64_t { kReadOnly = 1, kSubBytePadded = 4 };
constexpr uint32_t kMajor = 1, kMinor = 1;

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
/// DLTensor.
struct Tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  DataType dtype;
  int64_t* dims;
  int64_t* strides;  ///< in elements; null: row-major
  uint64_t byte_offset;
};
/// DLManagedTensorVersioned.
struct Managed {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Managed* self);
  uint64_t flags;
  Tensor tensor;
};
static_assert(sizeof(Tensor) == 48 && sizeof(Managed) == 80);

inline Managed* managed(DLManagedTensorVersioned* tensor) { return reinterpret_cast<Managed*>(tensor); }
inline void release(DLManagedTensorVersioned* tensor) { managed(tensor)->deleter(managed(tensor)); }

}  // namespace strew::inline v0::dlpack

namespace strew::inline v0::c_api {

/// The tensor as strew has it, with the dims and strides of `from`. Fails for memory of other devices and for types that strew does not have.
Status view_of_dltensor(const dlpack::Tensor& from, strew_tensor& out);

}  // namespace strew::inline v0::c_api
