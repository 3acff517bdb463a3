// Cores: the processors that a thread may run on, in an order in which neighbours share a memory node.
#pragma once

#include <pthread.h>

#include <array>
#include <string_view>

namespace strew::inline v0 {

struct CoreList {
  static constexpr int kMost = 1024;
  std::array<int, kMost> numbers;  ///< the operating system's; only the first `count` are filled
  int count = 0;
};

/// The processors of the calling thread's affinity mask, node by node. Allocates nothing. Where the system does not tell its nodes: ascending.
CoreList cores_by_node();
/// Reads a list such as "0-3,8,10-11": appends to `order` those of its processors that are marked in `wanted`, and unmarks them. False: the
/// text is no such list; what stands before the mistake has been appended.
bool append_cores(std::string_view list, std::array<bool, CoreList::kMost>& wanted, CoreList& order);
/// Ties a thread to a processor. A system that refuses leaves it free.
void pin(pthread_t thread, int core);

}  // namespace strew::inline v0
