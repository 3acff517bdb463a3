// with_stack: runs work that recurses deeply (LLVM, Halide, MLIR's parser) on a stack that is large enough.
//
// The thread of a caller may have a small stack (128 KiB to 512 KiB are common in servers and in the runtimes of
// other languages), and how deep a compiler recurses depends on the op. If the calling thread has enough stack left,
// the work runs there, at no cost. Otherwise it runs on a new thread, which is joined before the function returns.
// That thread blocks signals. Tested by tests/unit/base/own_stack_test.cc and tests/unit/compiler/op/deep_expr_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Bytes between here and the end of the calling thread's stack; 0 if they are not known, as on a stack that is not
/// the thread's own.
size_t stack_left();

/// The Status of `work`, which runs with at least `bytes` of stack. If an exception leaves `work`, or the thread
/// cannot be created, the result is Code::internal; in the second case the message has the number of bytes.
STREW_API Status with_stack(size_t bytes, const std::function<Status()>& work);

/// The same for work with a value: with_stack<Artifact>(bytes, [&] { return build(request); }).
template <class T>
Expected<T> with_stack(size_t bytes, const std::function<Expected<T>()>& work) {
  std::optional<Expected<T>> out;
  STREW_TRY(with_stack(bytes, [&]() -> Status {
    out.emplace(work());
    return out->status();
  }));
  return std::move(*out);
}

/// The stack that a compiler may need for an op whose expression has `nodes` nodes. Measured: LLVM and Halide take
/// less than half of it for chains of 4,096 nodes, the deepest graphs that are allowed.
STREW_API size_t compiler_stack_bytes(size_t nodes);

}  // namespace strew::inline v0
