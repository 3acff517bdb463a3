// Which index tensor has a component of the index vectors: all are in one, or each has one of its own. Tested by
// tests/unit/backends/index_tensors_test.cc.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {

/// The number, among index_tensors(access), of the one that has component number `component`. Access: a scatter, a gather, or a look-up's gather.
template <class Access>
size_t tensor_of_component(const Access& access, size_t component) {
  return access.more_indices.empty() ? 0 : component;
}

}  // namespace strew::inline v0
