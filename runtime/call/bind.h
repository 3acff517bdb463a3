// Binding: do these tensors fit this kernel, and which counts follow from their shapes (semantics.md section 6)?
//
// Binding reads only the descriptor (strew/abi.h) and the views. It keeps nothing between calls, so a kernel with symbols binds any shape
// in the same time, whatever shapes came before. make() computes once what depends on static tensors alone.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/call/call.h"
#include "runtime/call/packed_rules.h"
#include "strew/abi.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class Binder {
 public:
  /// Keeps a reference to `kernel`. Fails if the descriptor belongs to another version of strew, or if a static tensor is larger than
  /// memory can be.
  static Expected<Binder> make(const strew_kernel& kernel);

  /// Fills `call` on success. An error names the tensor, the field, its value and what was expected.
  Status bind(std::span<const TensorView> tensors, Call& call) const {
    return binds_plainly(tensors, call) ? Status{} : bind_step_by_step(tensors, call);
  }
  /// Is there a fast path? Kernels with rare shapes of rules have none.
  bool is_fast() const { return count_ != kNever; }
  /// The fast path of bind(). Returns false if bind() is needed to decide whether the tensors fit.
  bool binds_plainly(std::span<const TensorView> tensors, Call& call) const {
    return tensors.size() == count_ && rules_.bind(tensors.data(), call);
  }
  /// PackedRules::bind_addresses(), where it may be called.
  bool takes_addresses() const { return is_fast() && rules_.takes_addresses(); }
  bool bind_addresses(void* const* data, const int64_t* dyn, Call& call) const { return rules_.bind_addresses(data, dyn, call); }
  size_t bytes() const { return rules_.bytes(*kernel_); }  ///< the memory that it takes besides itself

 private:
  Binder(const strew_kernel& kernel, PackedRules rules)
      : rules_(std::move(rules)), kernel_(&kernel), count_(rules_.is_usable() ? kernel.tensor_count : kNever) {}
  Status bind_step_by_step(std::span<const TensorView> tensors, Call& call) const;
  Status check_view(const TensorView& view, uint32_t tensor) const;
  /// Clears `has_destinations` if no update of the call has a destination, which is no error.
  Status check_constraints(std::span<const TensorView> tensors, bool& has_destinations) const;
  Status check_addresses(std::span<const TensorView> tensors, Call& call) const;
  Status overlap_error(std::span<const TensorView> tensors, uint32_t result, uint32_t other) const;
  void count_work(Call& call) const;

  static constexpr size_t kNever = static_cast<size_t>(-1);
  PackedRules rules_;
  const strew_kernel* kernel_;
  size_t count_;  ///< how many tensors a call must have for the packed rules; kNever: they are not usable
};

}  // namespace strew::inline v0
