// Binding: do these tensors fit this op, and what do their shapes imply for the call? (semantics.md section 6.)
//
// Everything that depends on shapes only is a CallShape: made once for a static op, once per set of dims for a dynamic one (the last
// few are remembered per thread). A repeated call compares dims and looks at addresses: no allocation, tens of nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/op/op.h"
#include "compiler/op/tensor.h"
#include "compiler/plan/plan.h"

namespace strew {

/// The shapes of one call. Immutable, but for the count of calls that read them.
struct CallShape {
  struct Slot {
    DType dtype;
    bool contiguous;
    bool empty;  ///< no elements: no bytes, the data pointer may be null
    int32_t rank;
    uint32_t data_index;     ///< in strew_args.data
    const int64_t* dims;     ///< into numbers
    const int64_t* strides;  ///< in elements, contiguous ones where the caller gave none
    int64_t lo, hi;          ///< bytes touched, relative to the data pointer: [lo, hi)
    /// Data pointers of [least, least + span] keep those bytes inside the address space, and are not null.
    uintptr_t least, span;
  };
  std::vector<int64_t> numbers;
  std::vector<Slot> slots;   ///< as tensor_slots(op)
  std::vector<int64_t> dyn;  ///< strew_args.dyn
  int64_t positions = 0, splits = 0, init = 0;
  bool operands_share = false;  ///< every result and its operand have one layout, so that one buffer may be both
  // Of a dynamic op. Only the thread that made the shape uses it, so plain numbers do.
  mutable int calls = 0;           ///< bound calls that hold it
  mutable bool forgotten = false;  ///< no longer remembered by its thread: the last call deletes it
};

/// One call's addresses. Lives on the stack of the thread that bound it. It keeps its shape, whatever else that thread binds meanwhile
/// (the stages of a wide accumulation, other kernels).
struct Call {
  Call() = default;
  ~Call() {
    if ((reinterpret_cast<uintptr_t>(held) | reinterpret_cast<uintptr_t>(many)) != 0) release();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Keeps a shape that its thread may forget.
  void hold(const CallShape& of) {
    if (held != nullptr) let_go();
    held = &of;
    ++of.calls;
  }
  void let_go();
  void release();

  const CallShape* held = nullptr;
  void** many = nullptr;           ///< owned: `data` of an op with more tensors than `few` holds
  const CallShape* shape;          ///< this and what follows: set by Binder::bind()
  void** data;                     ///< strew_args.data: one per plan tensor, null where unbound
  bool result_is_operand = false;  ///< init copy, and every result buffer is its operand's: nothing to copy
  std::array<void*, 16> few;
};

class Binder {
 public:
  /// Keeps references to both. `plan`: of the op or of its canonical form; without loops where none could be made.
  static Expected<Binder> make(const Op& op, const Plan& plan);

  /// Ok: `call` is filled. Not ok: the message names the tensor, the field, its value and what was expected.
  Status bind(std::span<const TensorView> tensors, Call& call) const;

 private:
  Binder(const Op& op, const Plan& plan);
  struct Overlap {
    uint32_t result, other;
    bool may_be_same;  ///< the operand of an init copy
  };

  static constexpr size_t kSmall = std::tuple_size_v<decltype(Call::few)>;
  bool is_small() const { return data_count_ <= kSmall; }
  bool bind_as(const CallShape& shape, const TensorView* tensors, Call& call) const;
  const CallShape* expected_shape() const;
  Status bind_step_by_step(std::span<const TensorView> tensors, Call& call) const;
  Status check_type(const TensorView& view, size_t slot) const;
  Status check_static(const TensorView& view, size_t slot) const;
  bool fits(const CallShape& shape, std::span<const TensorView> tensors) const;
  Status find_shape(std::span<const TensorView> tensors, Call& call) const;
  Expected<CallShape> make_shape(std::span<const TensorView> tensors) const;
  Status fill_slots(CallShape& shape) const;
  Status check_addresses(std::span<const TensorView> tensors, Call& call) const;
  Status overlap_error(std::span<const TensorView> tensors, const Call& call, const Overlap& pair) const;
  std::string label(size_t slot) const;

  // What every call reads, first.
  std::optional<CallShape> static_shape_;
  size_t data_count_ = 0;
  uint32_t count_ = 0;  ///< tensors bound
  int pairs_ = 1;
  uint32_t unbound_count_ = 0;
  std::array<uint32_t, kSmall> unbound_{};  ///< indices in strew_args.data that no tensor has, of small binders
  bool copies_ = false;

  const Op& op_;
  const Plan& plan_;
  uint64_t id_;  ///< names this binder in the threads' memories of shapes
  std::vector<TensorSlot> slots_;
  std::vector<uint32_t> data_index_;  ///< slot -> index in strew_args.data
  std::vector<Overlap> overlaps_;
};

}  // namespace strew
