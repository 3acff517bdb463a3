// Binding: do these tensors fit this kernel, and which counts follow from their shapes (semantics.md section 6)?
//
// Binding reads only the descriptor (strew/abi.h) and the views. It keeps nothing between calls, so a kernel with symbols binds any shape
// in the same time, whatever shapes came before. make() computes once what depends on static tensors alone, and packs what binding reads into one
// block of memory, in the order in which a call reads it. A descriptor consists of arrays that point to arrays: thirty cache lines for a kernel of
// four tensors, most of which other data has pushed out of the first-level cache by the next call. The packed rules take five to eight adjacent
// lines, which the processor prefetches. Their layout is private to packed_rules.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/call/call.h"
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
    return bind_fast(tensors, call) ? Status{} : bind_step_by_step(tensors, call);
  }
  /// Is there a fast path? Kernels that have more tensors, symbols or dims than the packed form has room for have none.
  bool is_fast() const { return count_ != kNever; }
  /// Returns true, with `call` filled, if every tensor fits its rule and no result overlaps another tensor except its
  /// own operand. Returns false if a tensor does not fit, and in cases that only bind() decides: strides of
  /// dims of extent 1, tensors without elements, interleaved buffers.
  bool bind_fast(std::span<const TensorView> tensors, Call& call) const {
    return tensors.size() == count_ &&
           (is_static_ ? bind_views<true>(tensors.data(), call) : bind_views<false>(tensors.data(), call));
  }

  /// May calls be bound by addresses and symbols alone? They may if the descriptor's only constraints are equalities, which the caller keeps,
  /// and no symbol is a stride.
  bool takes_addresses() const { return takes_addresses_; }
  /// bind_fast() for such a call, whose results overlap no other tensor but an operand at the same address. Both arrays are those of strew_args and
  /// outlive the call. Returns false, and leaves the decision to bind(), if an address is null or a symbol negative.
  bool bind_addresses(void* const* data, const int64_t* dyn, Call& call) const;

  size_t bytes() const;  ///< the memory that it takes besides itself

 private:
  struct Slot;
  struct Term;
  struct Symbol;
  struct Constraint;
  struct Bytes;
  struct alignas(64) Line {
    std::byte bytes[64];  // NOLINT(modernize-avoid-c-arrays): plain memory
  };
  class Packer;

  explicit Binder(const strew_kernel& kernel) : kernel_(&kernel) {}
  // The fast path: packed_rules.cc.
  Status pack();
  const Slot* slots() const;
  const Term* terms() const;
  bool results_overlap(const Bytes& bytes) const;
  bool may_overlap(const TensorView* tensors, const Bytes& bytes, uint32_t& same_buffers) const;
  bool read_symbols(const Slot* end, const TensorView* tensors, int64_t* dyn) const;
  template <bool kIsStatic>
  bool bind_views(const TensorView* tensors, Call& call) const;
  void count_packed(Call& call) const;  ///< from call.dyn
  // The slow path: bind.cc.
  Status bind_step_by_step(std::span<const TensorView> tensors, Call& call) const;

  static constexpr size_t kNever = static_cast<size_t>(-1);
  /// Per tensor a Slot with its dims and strides; then an array each of Symbol, Constraint and Term.
  std::unique_ptr<Line[]> lines_;  // NOLINT(modernize-avoid-c-arrays): one pointer, so that the members take little room
  /// is_static_: the values of the symbols, which a kernel has that was built for several shapes; null: it has none.
  std::unique_ptr<int64_t[]> known_;  // NOLINT(modernize-avoid-c-arrays): as lines_
  WorkCounts work_;                   ///< is_static_: of every call. For other kernels, each call evaluates the terms.
  uint8_t tensors_ = 0, results_ = 0, symbols_ = 0, data_ = 0;
  bool is_static_ = false;       ///< no tensor is open, and there are no constraints
  bool operands_share_ = false;  ///< every result and its operand are static with one layout, so they may be one buffer
  bool makes_result_ = false, may_overwrite_ = false;
  bool takes_addresses_ = false;
  uint16_t unbound_ = 0;  ///< bit i: entry i of strew_args.data has no tensor
  uint16_t constraints_ = 0, covers_ = 0;
  uint32_t terms_at_ = 0;  ///< offset of the terms in bytes from the first line
  size_t count_ = kNever;  ///< how many tensors a call must have for the fast path
  const strew_kernel* kernel_;
};

/// The views in the order of kernel.tensors, in which bind() takes them. A tensor that is the only one of its role may be named by the role alone
/// ("updates" for "updates 0"). Fails if a name is unknown, missing or given twice; the message lists the names that the kernel takes.
Expected<std::vector<TensorView>> in_binding_order(const strew_kernel& kernel, std::span<const NamedTensor> tensors);

}  // namespace strew::inline v0
