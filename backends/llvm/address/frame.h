// Frame: one entry function of a kernel while it is being emitted. It gives access to the function's arguments, turns the plan's terms into
// values, and emits loop nests and the addresses of elements. Loop nests pass Pointers down: the address of the current element of every tensor
// that is bound. Tested by tests/differential, through every kernel.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <map>
#include <string>
#include <vector>

#include "backends/llvm/codegen/emitter.h"
#include "backends/llvm/compute/numeric.h"
#include "backends/lower/kernel.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Per tensor of the plan, the address of the current element; null for tensors that are not bound. Elements of packed dtypes (i4, …) have no
/// byte address: for those tensors the entry is an i64, the element's number counted from the tensor's base.
using Pointers = llvm::SmallVector<llvm::Value*, 8>;

class Frame {
 public:
  /// Creates the function `int32_t name(const strew_args*, int64_t begin, int64_t end, strew_fault*)`. Emission begins at its start.
  Frame(llvm::Module& module, const std::string& name, const lowered::Kernel& kernel, const lowered::Entry& entry,
        const Target& target);

  Emitter e;
  Numeric numeric;
  const lowered::Kernel& kernel;
  const lowered::Entry& entry;
  const Plan& plan;
  const Schedule& schedule;
  const Target& target;

  llvm::Value* begin();
  llvm::Value* end();
  llvm::Value* fault() { return e.function.getArg(3); }
  llvm::Value* argument(unsigned byte_offset);  ///< loads an i64 field of strew_args
  llvm::Value* pointer_argument(unsigned byte_offset);
  const Pointers& bases() const { return bases_; }

  llvm::Value* term(const Term& term);
  /// The term times the bytes of an element of `tensor`.
  llvm::Value* bytes(const Term& term, int tensor);
  int64_t element_bytes(int tensor) const { return bits(plan.tensors[static_cast<size_t>(tensor)].dtype) / 8; }

  int indexed() const { return plan.indexed(); }
  bool packed(int tensor) const { return bits(plan.tensors[static_cast<size_t>(tensor)].dtype) < 8; }

  /// p, a pointer into `tensor`, moved by index * stride elements.
  llvm::Value* advance(int tensor, llvm::Value* p, llvm::Value* index, const Term& stride);
  /// Loads `lanes` consecutive elements from p on in their storage form (numeric.h). Of a packed tensor: one.
  llvm::Value* load_element(int tensor, llvm::Value* p, int lanes);
  void store_element(int tensor, llvm::Value* p, llvm::Value* storage);

  /// Where a packed element lies: the address of its byte, and the bits (i8) by which it is shifted there.
  struct PackedPlace {
    llvm::Value* byte;
    llvm::Value* shift;
  };
  PackedPlace packed_place(int tensor, llvm::Value* element);

  /// All pointers moved by `index` iterations of a loop with these strides.
  Pointers step(const Pointers& p, const std::vector<Term>& strides, llvm::Value* index);

  /// `row` moved to iteration i of the innermost position loop.
  Pointers at_position(const Pointers& row, llvm::Value* i) {
    return plan.positions.empty() ? row : step(row, plan.positions.back().strides, i);
  }

  /// The pointers of all tensors at position number `position`, except the results', which stay at their base.
  Pointers beside_results(llvm::Value* position);

  /// The pointers at the start of row number `row` of the loop nest `loops`, which has at least one loop. A row is one run through the innermost loop.
  Pointers at_row(const std::vector<Loop>& loops, llvm::Value* row);

  /// Emits the loop nest `loops` over iterations [begin, end), numbered in row-major order. A row is one run through the innermost loop. body
  /// emits the work for a row: it gets pointers at the row's start, the number of iterations in all rows before, and the range [lo, hi) of the
  /// row's iterations to do. Without loops there is one row of one iteration.
  void for_rows(const std::vector<Loop>& loops, llvm::Value* begin, llvm::Value* end,
                llvm::function_ref<void(const Pointers&, llvm::Value* before, llvm::Value* lo, llvm::Value* hi)> body);
  /// The same, with body called for single iterations; `index` is the iteration's number.
  void for_each(const std::vector<Loop>& loops, llvm::Value* begin, llvm::Value* end, const Emitter::LoopOptions& options,
                llvm::function_ref<void(const Pointers&, llvm::Value* index)> body);

  /// Emits the return of STREW_OK, with a fence before it if the entry uses non-temporal stores.
  void finish();

 private:
  Pointers bases_;                       ///< pointers at element 0 of every tensor
  std::vector<llvm::Value*> addresses_;  ///< the base address of every tensor, of packed ones too; null where not bound
  std::vector<llvm::Value*> dyn_;        ///< the values of plan.symbols
};

}  // namespace strew::inline v0
