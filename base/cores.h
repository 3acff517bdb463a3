// cores_by_node: the processors that a thread may run on, in an order in which neighbours share a memory node. Worker
// threads are pinned in this order. Tested by tests/unit/base/cores_test.cc.
#pragma once

#include <pthread.h>

#include <array>
#include <string_view>

namespace strew::inline v0 {

struct CoreList {
  static constexpr int kMost = 1024;
  std::array<int, kMost> numbers;  ///< numbers of the operating system; only the first `count` are filled
  int count = 0;
};

/// The processors of the calling thread's affinity mask, node by node; in ascending order if the system does not list
/// its nodes. Allocates nothing.
CoreList cores_by_node();
/// Reads a list such as "0-3,8,10-11": appends those of its processors that are marked in `wanted` to `order`, and
/// removes their marks. Returns false if the text is no such list; the processors listed before the mistake have been
/// appended.
bool append_cores(std::string_view list, std::array<bool, CoreList::kMost>& wanted, CoreList& order);
/// Pins a thread to a processor. If the system refuses, the thread stays unpinned.
void pin(pthread_t thread, int core);
/// The processor that the calling thread runs on; -1 if the system does not say.
int current_core();
/// If the calling thread runs on this processor and may run on others, it goes to one of them. It may come back. From then on the system takes the
/// processors of its mask as chosen by the program: the thread does not follow a cgroup that is given more.
void leave_core(int core);

}  // namespace strew::inline v0
