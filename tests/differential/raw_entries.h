// run_entries: calls a kernel's entries directly, as a program may that uses include/strew/abi.h without the runtime.
// The call is bound by the library's binder; then check, init, range, keys, list and clip run on pieces of the work
// that no strategy would choose. Tested by every differential run.
#pragma once

#include <span>

#include "strew/kernel.h"
#include "tests/support/rng.h"

namespace strew::test {

/// Does the kernel have entries? Interpreted kernels and wide accumulations have none.
bool has_entries(const Kernel& kernel);
/// Makes one call in random pieces: disjoint ones in any order if nothing is combined, and in the order of positions
/// if destinations may meet.
Status run_entries(const Kernel& kernel, std::span<const TensorView> tensors, Rng& rng, BadIndex* bad_index);

}  // namespace strew::test
