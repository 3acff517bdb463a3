// Binding: do these tensors fit this kernel, and what do their shapes imply for the call? (semantics.md section 6.)
//
// Everything is read off the descriptor (strew/abi.h) and the views: nothing is remembered between calls, so that a kernel with symbols
// binds any shape in the same time, whatever was called before. What depends on static tensors alone is worked out once, by make().
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "base/tensor_view.h"
#include "runtime/call/call.h"
#include "runtime/call/packed_rules.h"
#include "strew/abi.h"

namespace strew {

class Binder {
 public:
  /// Keeps a reference. Fails on a descriptor of another version, and on a static tensor that no memory holds.
  static Expected<Binder> make(const strew_kernel& kernel);

  /// Ok: `call` is filled. Not ok: the message names the tensor, the field, its value and what was expected.
  Status bind(std::span<const TensorView> tensors, Call& call) const {
    return binds_plainly(tensors, call) ? Status{} : bind_step_by_step(tensors, call);
  }
  /// The quick half of bind(). False: it takes bind() to find out what is the matter.
  bool binds_plainly(std::span<const TensorView> tensors, Call& call) const {
    return tensors.size() == count_ && rules_.bind(tensors.data(), call);
  }

 private:
  Binder(const strew_kernel& kernel, PackedRules rules)
      : rules_(std::move(rules)), kernel_(&kernel), count_(rules_.is_usable() ? kernel.tensor_count : kNever) {}
  Status bind_step_by_step(std::span<const TensorView> tensors, Call& call) const;
  Status check_view(const TensorView& view, uint32_t tensor) const;
  Status check_constraints(std::span<const TensorView> tensors) const;
  Status check_addresses(std::span<const TensorView> tensors, Call& call) const;
  Status overlap_error(std::span<const TensorView> tensors, uint32_t result, uint32_t other) const;
  void count_work(Call& call) const;

  static constexpr size_t kNever = static_cast<size_t>(-1);
  PackedRules rules_;
  const strew_kernel* kernel_;
  size_t count_;  ///< tensors of a call that the packed rules may bind
};

}  // namespace strew
