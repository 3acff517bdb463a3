// See replay.h. Results and operands are copied before the call, because a result may share its operand's buffer. After
// the call, the reference runs on the copies, and every element is compared; any two NaNs count as equal
// (docs/semantics.md section 2). Costs the copies and a slow run. Tested by tests/unit/backends/kernel_test.cc.
#include "runtime/replay.h"

#include <cstddef>
#include <string>
#include <vector>

#include "backends/reference/index_space.h"
#include "backends/reference/reference.h"
#include "base/number.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

/// The row-major number of the first element in which two tensors of one layout differ; -1: none.
int64_t first_difference(const TensorView& view, const TensorView& other) {
  const reference::BoundTensor a(view), b(other);
  reference::Coords at(a.dims.size(), 0);
  if (reference::is_empty(a.dims)) return -1;
  do {
    const int64_t offset = reference::dot(at, a.strides);
    if (!same_value(a.load(offset), b.load(offset))) return reference::linear(a.dims, at);
  } while (reference::next(a.dims, at));
  return -1;
}

Status mismatch(const Kernel::State& state, const std::string& what) {
  return internal_error("STREW_VERIFY: backend " + std::string(state.built->compiled.backend->name()) +
                        " and the reference differ: " + what + "; schedule " + print(state.built->compiled.schedule) + "; op " +
                        print(*state.op()));
}

}  // namespace

Status run_and_replay(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) {
  const std::vector<TensorSlot> slots = tensor_slots(state.op());
  std::vector<TensorView> copies(tensors.begin(), tensors.end());
  std::vector<std::vector<std::byte>> memory(tensors.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Extent slot = extent_of(state.callable->kernel.tensors[i], tensors[i]);
    if ((slots[i].role != Role::result && slots[i].role != Role::operand) || slot.empty) continue;
    const auto* bytes = static_cast<const std::byte*>(tensors[i].data);
    memory[i].assign(bytes + slot.lo, bytes + slot.hi);
    copies[i].data = memory[i].data() - slot.lo;
  }
  Status actual = run_bound(state, tensors, call, bad_index);
  const Status expected = run_reference(state.op(), copies);
  if (actual.code() != expected.code() || actual.message() != expected.message())
    return mismatch(state, "'" + actual.message() + "' against '" + expected.message() + "'");
  for (size_t i = 0; i < slots.size() && slots[i].role == Role::result; ++i) {
    const int64_t where = first_difference(tensors[i], copies[i]);
    if (where >= 0) return mismatch(state, "result " + std::to_string(i) + " at element " + std::to_string(where));
  }
  return actual;
}

}  // namespace strew::inline v0
