// Do calls of a batch touch memory that another of them writes? Tested by tests/unit/runtime/call/run_many_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace strew::inline v0 {

/// The bytes [begin, end) that call `call` reads or writes as its tensor `tensor`.
struct CallBytes {
  uintptr_t begin = 0, end = 0;
  uint32_t call = 0, tensor = 0;
};

struct CallOverlap {
  CallBytes write, other;
};

/// A write and another call's read or write that overlap, if there are any. Sorts the lists unless they are sorted already,
/// as those of buffers that were allocated one after another often are.
std::optional<CallOverlap> find_overlap(std::vector<CallBytes>& writes, std::vector<CallBytes>& reads);

}  // namespace strew::inline v0
