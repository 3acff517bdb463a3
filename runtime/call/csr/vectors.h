// The tensors of csr() and segment_ids(): their checks, which say what kernels say (runtime/call/bind.cc). Tested by
// tests/unit/runtime/call/csr/csr_test.cc.
#pragma once

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
int64_t value_at(const Integers& from, int64_t position);

}  // namespace strew::inline v0
