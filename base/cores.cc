// See cores.h. Linux lists the processors of each memory node in /sys/devices/system/node/node*/cpulist. The order of
// the processor numbers does not tell the nodes: on many machines with two sockets, even numbers are one socket and
// odd numbers the other. Tested by tests/unit/base/cores_test.cc.
#include "base/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace strew::inline v0 {
namespace {

constexpr int kNodes = 64;

/// The contents of the node's cpulist file; empty if there is no such node.
std::string_view read_cpu_list(int node, std::array<char, 4096>& buffer) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/sys/devices/system/node/node%d/cpulist", node);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, buffer.data(), buffer.size());
  close(file);
  std::string_view text(buffer.data(), static_cast<size_t>(std::max<ssize_t>(0, bytes)));
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

/// Removes a number from the front of `text`.
bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

bool append_cores(std::string_view list, std::array<bool, CoreList::kMost>& wanted, CoreList& order) {
  while (!list.empty()) {
    int first = 0, last = 0;
    if (!take_number(list, first)) return false;
    last = first;
    if (!list.empty() && list.front() == '-') {
      list.remove_prefix(1);
      if (!take_number(list, last)) return false;
    }
    for (int core = first; core <= std::min(last, CoreList::kMost - 1); ++core) {
      if (!wanted[static_cast<size_t>(core)]) continue;
      wanted[static_cast<size_t>(core)] = false;
      order.numbers[static_cast<size_t>(order.count++)] = core;
    }
    if (list.empty()) break;
    if (list.front() != ',' || list.size() == 1) return false;
    list.remove_prefix(1);
  }
  return true;
}

CoreList cores_by_node() {
  CoreList order;
  std::array<bool, CoreList::kMost> wanted{};
#if defined(__linux__)
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return order;
  for (size_t core = 0; core < CPU_SETSIZE && core < wanted.size(); ++core) wanted[core] = CPU_ISSET(core, &mine);
  std::array<char, 4096> buffer;  // NOLINT: filled by read
  for (int node = 0; node < kNodes; ++node) append_cores(read_cpu_list(node, buffer), wanted, order);
#endif
  for (int core = 0; core < CoreList::kMost; ++core)
    if (wanted[static_cast<size_t>(core)]) order.numbers[static_cast<size_t>(order.count++)] = core;
  return order;
}

void pin(pthread_t thread, int core) {
#if defined(__linux__)
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(core), &one);
  pthread_setaffinity_np(thread, sizeof one, &one);
#endif
}

int current_core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

void leave_core(int core) {
#if defined(__linux__)
  if (core < 0 || core >= CPU_SETSIZE || current_core() != core) return;
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;  // more processors than a cpu_set_t has
  cpu_set_t others = all;
  CPU_CLR(static_cast<size_t>(core), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  cpu_set_t now;  // somebody else may have set it meanwhile
  if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &others)) sched_setaffinity(0, sizeof all, &all);
#endif
}

}  // namespace strew::inline v0
