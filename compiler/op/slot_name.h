// slot_name(): what a tensor of an op is called where a caller reads it: in messages, and in the slots of kernels and of ops. Tested by
// tests/unit/runtime/call/named_tensors_test.cc and tests/c_api.
#pragma once

#include <string>

#include "strew/op.h"

namespace strew::inline v0 {

/// "result 0", "operand 0", "indices", "updates 0", "extra 0"; the index tensors of look-ups are "indices 1" and on.
inline std::string slot_name(Role role, int index) {
  const std::string called(name(role));
  return role == Role::indices && index == 0 ? called : called + " " + std::to_string(index);
}

}  // namespace strew::inline v0
