// See descriptor.h. Tested by tests/unit/runtime/call/descriptor_test.cc.
#include "runtime/call/descriptor.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/machine.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {

Status check_descriptor(const strew_kernel& kernel) {
  if (kernel.abi != STREW_ABI_VERSION || kernel.size != sizeof(strew_kernel))
    return invalid_argument("kernel: abi is " + std::to_string(kernel.abi) + " of " + std::to_string(kernel.size) +
                            " bytes, expected " + std::to_string(STREW_ABI_VERSION) + " of " +
                            std::to_string(sizeof(strew_kernel)) + "; compile it with this version of strew");
  if (const std::string lacking = lacking_features(kernel.features); !lacking.empty())
    return unsupported("kernel " + std::string(kernel.name) + ": this machine lacks " + lacking +
                       "; expected a kernel whose CPU features this machine has");
  if (kernel.strategy >= STREW_STRATEGY_COUNT)
    return unsupported("kernel " + std::string(kernel.name) + ": strategy is number " + std::to_string(kernel.strategy) +
                       ", expected 0 to " + std::to_string(STREW_STRATEGY_COUNT - 1) +
                       "; a newer version of strew has compiled it: use that version, or compile it again with this one");
  for (uint32_t i = 0; i < kernel.tensor_count; ++i)
    if (kernel.tensors[i].rank > kMaxCallRank)
      return invalid_argument("kernel " + std::string(kernel.name) + ": rank of " + kernel.tensors[i].name + " is " +
                              std::to_string(kernel.tensors[i].rank) + ", expected at most " + std::to_string(kMaxCallRank));
  for (uint32_t i = 0; i < kernel.part_count; ++i)
    if (kernel.parts[i] != nullptr) STREW_TRY(check_descriptor(*kernel.parts[i]));
  return {};
}

int64_t line_unit(const strew_kernel& kernel, const strew_term& stride, const int64_t* dyn, int64_t line_bytes) {
  const int64_t step = evaluate(kernel, stride, dyn);
  const uint64_t away = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  if (away == 0 || away >= static_cast<uint64_t>(line_bytes)) return 1;
  const int64_t bytes = static_cast<int64_t>(away) * (kernel.tensors[0].bits / 8);
  return bytes == 0 || bytes >= line_bytes ? 1 : line_bytes / std::gcd(line_bytes, bytes);
}

int64_t key_elements(const strew_kernel& kernel, const int64_t* dyn) {
  const int64_t stride = evaluate(kernel, kernel.key_stride, dyn);
  return std::max<int64_t>(1, stride == std::numeric_limits<int64_t>::min() ? 1 : std::abs(stride));
}

Bytes key_bytes(const strew_kernel& kernel, const int64_t* dyn) {
  int64_t bytes = 0;
  const bool is_too_much = __builtin_mul_overflow(key_elements(kernel, dyn), result_bytes(kernel), &bytes);
  return Bytes(is_too_much ? std::numeric_limits<int64_t>::max() : bytes);
}

int64_t last_key(const strew_kernel& kernel, const int64_t* dyn) {
  int64_t last = 0;
  for (uint32_t i = 0; i < kernel.reach_count; ++i) {
    int64_t far = 0;
    const int64_t steps = std::max<int64_t>(0, evaluate(kernel, kernel.reaches[i].extent, dyn) - 1);
    if (__builtin_mul_overflow(steps, evaluate(kernel, kernel.reaches[i].step, dyn), &far) ||
        __builtin_add_overflow(last, far, &last))
      return std::numeric_limits<int64_t>::max();
  }
  return last;
}

}  // namespace strew::inline v0
