// exact_descriptor(): the descriptor of a kernel with open extents, for calls of one shape. A request for an op whose extents are all known
// may be served by code that takes them from the call (runtime/shape_families.h). Its calls must all the same be refused if their tensors have
// other extents than the op says, with the message that a kernel of its own would give. Tested by tests/unit/runtime/tiers_test.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "strew/abi.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// `general`, whose tensors have the extents and strides that `op` says. It shares ownership of `general`.
std::shared_ptr<const strew_kernel> exact_descriptor(std::shared_ptr<const strew_kernel> general, const VerifiedOp& op);
/// The memory that such a descriptor takes besides `general`.
int64_t exact_descriptor_bytes(const strew_kernel& exact);

}  // namespace strew::inline v0
