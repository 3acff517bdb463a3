// Call: what one call's shapes and addresses come to. Lives on the stack of the thread that bound it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "strew/abi.h"

namespace strew {

struct Call {
  static constexpr size_t kFewTensors = 16, kFewSymbols = 24;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::unique_ptr<uint64_t[]> many;  // NOLINT(modernize-avoid-c-arrays): data and dyn of a kernel with more tensors or symbols
  void** data;                       ///< strew_args.data: one per tensor of the plan, null where unbound
  int64_t positions;                 ///< index positions
  int64_t splits;                    ///< iterations of the first window loop
  int64_t window;                    ///< elements of a window
  int64_t init;                      ///< elements of the result that must be made before the updates are applied
  // Not beside `data`: arguments_of() copies both, and GCC would load them at once, which waits for the two stores to leave the core.
  const int64_t* dyn;      ///< strew_args.dyn
  bool result_is_operand;  ///< init copy, and every result buffer is its operand's: nothing to copy
  // Only the first ones of these are filled.
  std::array<void*, kFewTensors> few_data;
  std::array<int64_t, kFewSymbols> few_dyn;
};

/// The entries' arguments of a bound call. Field by field: GCC clears an object of this size by `rep stos`, ten nanoseconds of every call.
inline strew_args arguments_of(const Call& call) {
  strew_args args;
  args.abi = STREW_ABI_VERSION;
  args.flags = 0;
  args.data = call.data;
  args.dyn = call.dyn;
  args.pos = nullptr;
  args.key = nullptr;
  args.n_list = 0;
  args.w0 = 0;
  args.w1 = call.splits;
  args.k0 = 0;
  args.k1 = 0;
  args.scratch = nullptr;
  return args;
}

}  // namespace strew
