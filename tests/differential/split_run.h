// Split runs: a kernel's raw entries called on pieces of the work, as an executor may.
//
// Small calls never reach the thread pool (two threads pay from 1.5 us), so this is where the splits that the strategies promise are
// tried on every op: check, init and range on random pieces, disjoint pieces in any order.
#pragma once

#include <span>

#include "runtime/kernel.h"
#include "tests/support/rng.h"

namespace strew::test {

/// Does the kernel have entries of its own (or is it interpreted)?
bool can_split(const Kernel& kernel);
/// As the kernel's strategy runs with `threads` threads; `false` in `by_strategy` says that it does not take these tensors (or there was nothing
/// to split), and its entries ran in some other legal order.
Status run_split(const Kernel& kernel, std::span<const TensorView> tensors, int threads, Rng& rng, strew_fault* fault,
                 bool& by_strategy);

}  // namespace strew::test
