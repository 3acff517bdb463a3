// Benchmarks of calls that do hardly any work, and of what decides before them.
#pragma once

namespace strew::bench {

/// call/sizes:N (a kernel with symbols, N shapes in turn), call/kernels:N (N kernels in turn, 8 shapes), call/threads:N (N threads, a shape
/// each).
void add_call_benchmarks();

/// choice/DTYPE: how a call chooses among the strategies of a kernel that adds numbers of this dtype.
void add_choice_benchmarks();

/// planning/NAME: how a compilation chooses its schedule.
void add_planning_benchmarks();

}  // namespace strew::bench
