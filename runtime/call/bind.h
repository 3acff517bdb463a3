// Binding: do these tensors fit this kernel, and what do their shapes imply for the call? (semantics.md section 6.)
//
// Everything is read off the descriptor (strew/abi.h) and the views: nothing is remembered between calls, so that a kernel with symbols
// binds any shape in the same time, whatever was called before. What depends on static tensors alone is worked out once, by make().
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "strew/abi.h"

namespace strew {

/// What a call's shapes and addresses come to. Lives on the stack of the thread that bound it; only its first members are initialised.
struct Call {
  static constexpr size_t kFewTensors = 16, kFewSymbols = 24;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::unique_ptr<uint64_t[]> many;  // NOLINT(modernize-avoid-c-arrays): data and dyn of a kernel with more tensors or symbols
  void** data;                       ///< strew_args.data: one per tensor of the plan, null where unbound
  const int64_t* dyn;                ///< strew_args.dyn
  int64_t positions, splits, init;   ///< index positions; iterations of the first window loop; elements that must be made first
  bool result_is_operand;            ///< init copy, and every result buffer is its operand's: nothing to copy
  std::array<void*, kFewTensors> few_data;
  std::array<int64_t, kFewSymbols> few_dyn;
};

/// Bytes that a view's elements occupy, relative to its data pointer; none of an empty view.
struct Extent {
  int64_t lo = 0, hi = 0;
  bool empty = false;
  bool row_major = false;
};
/// Of a view that was bound to this tensor.
Extent extent_of(const strew_tensor_rule& rule, const TensorView& view);

class Binder {
 public:
  /// Keeps a reference. Fails on a static tensor that no memory holds.
  static Expected<Binder> make(const strew_kernel& kernel);

  /// Ok: `call` is filled. Not ok: the message names the tensor, the field, its value and what was expected.
  Status bind(std::span<const TensorView> tensors, Call& call) const;

 private:
  /// A tensor of static shape, and what follows from that.
  struct Slot {
    DType dtype;
    bool is_open;    ///< not static: only the first members count
    bool row_major;  ///< strides may be left out
    int32_t rank;
    uint32_t data;
    const int64_t* dims;
    const int64_t* strides;  ///< row-major ones where the descriptor has none
    int64_t lo, hi;          ///< bytes touched, relative to the data pointer: [lo, hi)
    /// Data pointers of [least, least + span] keep those bytes inside the address space, and are not null.
    uintptr_t least, span;
  };
  struct Bytes {
    uintptr_t begin, end;
  };

  explicit Binder(const strew_kernel& kernel) : kernel_(&kernel) {}
  Status make_slots();
  bool bind_fast(const TensorView* tensors, Call& call) const;
  bool fits_static(const Slot& slot, const TensorView& view, Bytes& bytes) const;
  bool fits_open(const strew_tensor_rule& rule, const TensorView& view, Bytes& bytes) const;
  bool read_symbols(const TensorView* tensors, int64_t* dyn) const;
  bool holds(const strew_constraint& constraint, const TensorView* tensors) const;
  bool same_layout(const TensorView& a, const TensorView& b) const;
  void count_work(Call& call) const;
  Status bind_step_by_step(std::span<const TensorView> tensors, Call& call) const;
  Status check_view(const TensorView& view, uint32_t tensor) const;
  Status check_constraints(std::span<const TensorView> tensors) const;
  Status check_addresses(std::span<const TensorView> tensors, Call& call) const;
  Status overlap_error(std::span<const TensorView> tensors, uint32_t result, uint32_t other) const;

  const strew_kernel* kernel_;
  uint32_t count_ = 0, results_ = 0;
  bool is_small_ = true, has_symbols_ = false, has_constraints_ = false;
  bool operands_share_ = false;    ///< every result and its operand are static and of one layout, so that one buffer may be both
  std::vector<uint32_t> unbound_;  ///< places in strew_args.data that no tensor has
  std::vector<Slot> slots_;
  int64_t positions_ = 0, splits_ = 0, init_ = 0;  ///< of a kernel without symbols
  std::vector<std::vector<int64_t>> row_major_;    ///< what slots_ points at
};

}  // namespace strew
