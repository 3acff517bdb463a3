// PackedRules: the part of a descriptor (strew/abi.h) that binding reads, in one block of memory and in the order in
// which a call reads it.
//
// A descriptor consists of arrays that point to arrays: thirty cache lines for a kernel of four tensors, most of which
// other data has pushed out of the first-level cache by the next call. The packed rules take five to eight adjacent
// lines, which the processor prefetches. The layout is private to packed_rules.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/call/call.h"
#include "strew/abi.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class PackedRules {
 public:
  /// Fails if a static tensor is larger than memory can be.
  static Expected<PackedRules> make(const strew_kernel& kernel);

  /// False if the kernel has more tensors, symbols or dims than the packed form has room for; then bind() must not be called.
  bool is_usable() const { return is_usable_; }

  /// Returns true, with `call` filled, if every tensor fits its rule and no result overlaps another tensor except its
  /// own operand. Returns false if a tensor does not fit, and in cases that this class leaves to Binder: strides of
  /// dims of extent 1, tensors without elements, interleaved buffers. Binder then decides. `tensors` must have as many
  /// elements as the kernel has tensors.
  bool bind(const TensorView* tensors, Call& call) const {
    return is_static_ ? bind_static(tensors, call) : bind_open(tensors, call);
  }

  /// May calls be bound by addresses and symbols alone? They may if the descriptor's only constraints are equalities, which the caller keeps,
  /// and no symbol is a stride.
  bool takes_addresses() const { return takes_addresses_; }
  /// bind() for such a call, whose results overlap no other tensor but an operand at the same address. Both arrays are those of strew_args and
  /// outlive the call. Returns false, and leaves the decision to bind(), if an address is null or a symbol negative.
  bool bind_addresses(void* const* data, const int64_t* dyn, Call& call) const;

  /// The memory behind the rules of `kernel`, from which they were made.
  size_t bytes(const strew_kernel& kernel) const;

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

  static std::unique_ptr<int64_t[]> known_symbols(const strew_kernel& kernel);  // NOLINT(modernize-avoid-c-arrays)
  const Slot* slots() const;
  const Term* terms() const;
  static int64_t evaluate(const Term& term, const int64_t* dyn);
  static bool fits_static(const Slot& slot, const TensorView& view, uint32_t i, Bytes& bytes);
  static bool fits_row_major(const Slot& slot, const TensorView& view, uint32_t i, Bytes& bytes);
  static bool fits_strided(const Slot& slot, const TensorView& view, uint32_t i, Bytes& bytes);
  static bool set_bytes(const TensorView& view, int64_t lo, int64_t hi, uint32_t i, Bytes& bytes);
  bool writes_read_only(const TensorView* tensors) const;
  void clear_unbound(void** data) const;
  bool results_overlap(const Bytes& bytes) const;
  bool may_overlap(const TensorView* tensors, const Bytes& bytes, uint32_t& same_buffers) const;
  bool bind_static(const TensorView* tensors, Call& call) const;
  bool bind_open(const TensorView* tensors, Call& call) const;
  void count_work(const int64_t* dyn, Call& call) const;

  /// Per tensor a Slot with its dims and strides; then an array each of Symbol, Constraint and Term.
  std::unique_ptr<Line[]> lines_;  // NOLINT(modernize-avoid-c-arrays): one pointer, so that all members fit a cache line
  /// is_static_: the values of the symbols, which a kernel has that was built for several shapes; null: it has none.
  std::unique_ptr<int64_t[]> known_;  // NOLINT(modernize-avoid-c-arrays): as lines_
  // is_static_: the counts of every Call. For other kernels, each call evaluates the terms.
  int64_t positions_ = 0, splits_ = 0, window_ = 0, init_ = 0;
  uint8_t tensors_ = 0, results_ = 0, symbols_ = 0, data_ = 0;
  bool is_usable_ = false;
  bool is_static_ = false;       ///< no tensor is open, and there are no constraints
  bool operands_share_ = false;  ///< every result and its operand are static with one layout, so they may be one buffer
  bool makes_result_ = false, may_overwrite_ = false;
  bool takes_addresses_ = false;
  uint16_t unbound_ = 0;  ///< bit i: entry i of strew_args.data has no tensor
  uint16_t constraints_ = 0, covers_ = 0;
  uint32_t terms_at_ = 0;  ///< offset of the terms in bytes from the first line
};

}  // namespace strew::inline v0
