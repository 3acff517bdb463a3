// Frame: one entry function of a kernel while it is being emitted: its arguments, the plan's terms as values, and where each tensor
// stands. Loop nests pass Pointers down: the address of the current element of every bound tensor.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <map>
#include <string>
#include <vector>

#include "backends/llvm/codegen/emitter.h"
#include "backends/llvm/compute/numeric.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "schedules/target.h"

namespace strew {

/// Per tensor of the plan, the address of the current element; null for tensors that are not bound. For packed dtypes (i4, …), which
/// have no byte address, its element number from the tensor's base.
using Pointers = llvm::SmallVector<llvm::Value*, 8>;

class Frame {
 public:
  /// Creates `int32_t name(const strew_args*, int64_t begin, int64_t end, strew_fault*)` and stands at its start.
  Frame(llvm::Module& module, const std::string& name, const Plan& plan, const Schedule& schedule, const Target& target);

  Emitter e;
  Numeric numeric;
  const Plan& plan;
  const Schedule& schedule;
  const Target& target;

  llvm::Value* begin();
  llvm::Value* end();
  llvm::Value* fault() { return e.function.getArg(3); }
  llvm::Value* argument(unsigned byte_offset);  ///< i64 field of strew_args
  llvm::Value* pointer_argument(unsigned byte_offset);
  const Pointers& bases() const { return bases_; }

  llvm::Value* term(const Term& term);
  /// term * bytes of tensor's element
  llvm::Value* bytes(const Term& term, int tensor);
  int64_t element_bytes(int tensor) const { return bits(plan.tensors[static_cast<size_t>(tensor)].dtype) / 8; }

  /// The tensor that indices point into: a gather's operand, a scatter's first result.
  int indexed() const { return plan.gather ? plan.operand(0) : plan.result(0); }
  bool packed(int tensor) const { return bits(plan.tensors[static_cast<size_t>(tensor)].dtype) < 8; }

  /// Element of one tensor: p moved by index * stride.
  llvm::Value* advance(int tensor, llvm::Value* p, llvm::Value* index, const Term& stride);
  /// Storage bits of `lanes` elements from p on (packed: one).
  llvm::Value* load_element(int tensor, llvm::Value* p, int lanes);
  void store_element(int tensor, llvm::Value* p, llvm::Value* storage);

  struct PackedPlace {
    llvm::Value* byte;   ///< address
    llvm::Value* shift;  ///< i8
  };
  PackedPlace packed_place(int tensor, llvm::Value* element);

  /// p moved by `index` iterations of the loop, in every tensor.
  Pointers step(const Pointers& p, const std::vector<Term>& strides, llvm::Value* index);

  /// `row` moved to iteration i of the innermost position loop.
  Pointers at_position(const Pointers& row, llvm::Value* i) {
    return plan.positions.empty() ? row : step(row, plan.positions.back().strides, i);
  }

  /// Pointers of all tensors but the results at linear position `position`; results stay at their base.
  Pointers beside_results(llvm::Value* position);

  /// Walks `loops` over linear iterations [begin, end): body gets pointers at the start of an innermost row, the number of
  /// iterations of all rows before it, and its sub-range [lo, hi). Without loops there is one row of one iteration.
  void for_rows(const std::vector<Loop>& loops, llvm::Value* begin, llvm::Value* end,
                llvm::function_ref<void(const Pointers&, llvm::Value* before, llvm::Value* lo, llvm::Value* hi)> body);
  /// The same down to single iterations; `index` is the linear number.
  void for_each(const std::vector<Loop>& loops, llvm::Value* begin, llvm::Value* end, const Emitter::LoopOptions& options,
                llvm::function_ref<void(const Pointers&, llvm::Value* index)> body);

  /// Returns STREW_OK, after a fence if the schedule used streaming stores.
  void finish();

 private:
  Pointers bases_;                       ///< where walks start: addresses, or element number 0
  std::vector<llvm::Value*> addresses_;  ///< of every bound tensor
  std::vector<llvm::Value*> dyn_;
};

}  // namespace strew
