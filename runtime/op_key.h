// Keys of ops: the stable one (of the text) and the quick one (of the fields).
#pragma once

#include "strew/op.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// 128-bit hash of the fields of an op and its options: what get() looks up first, without printing. Equal ops and options give equal
/// keys within one process; nothing may store it.
Hash128 quick_key(const Op& op, const KernelOptions& options);

}  // namespace strew::inline v0
