// The tensors of csr() and segment_ids(): their checks, which say what kernels say (runtime/call/bind.cc). Tested by
// tests/unit/runtime/call/csr/csr_test.cc.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/call/csr/csr.h"
#include "runtime/call/extent.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// A tensor of a call, and what the checks found.
struct NamedView {
  std::string name;
  const TensorView& view;
  bool is_result;
  Extent extent = {};
  int64_t stride = 1;

  int64_t dim() const { return view.dims[0]; }
};

/// Checks what the view alone can have wrong, one with one dim, and sets its stride and extent. Results are i32 or i64.
Status check_vector(NamedView& tensor);
/// Checks the address of a view that was checked.
Status check_address(const NamedView& tensor);
Status check_apart(const NamedView& result, const NamedView& other);

Integers integers_of(const NamedView& tensor);
/// The integer at a position; of u64, its bits.
inline int64_t value_at(const Integers& from, int64_t position) {
  const auto as = [&]<class Signed, class Unsigned>(Signed, Unsigned) -> int64_t {
    if (from.is_signed) return from.get<Signed>(position);
    return static_cast<int64_t>(from.get<Unsigned>(position));
  };
  if (from.bytes == 1) return as(int8_t(), uint8_t());
  if (from.bytes == 2) return as(int16_t(), uint16_t());
  if (from.bytes == 4) return as(int32_t(), uint32_t());
  return as(int64_t(), uint64_t());
}

}  // namespace strew::inline v0
