// Own stack: runs work that recurses deeply (LLVM, Halide, MLIR's parser) where there is room for it.
//
// A caller's thread may have a small stack (128 KiB to 512 KiB are common in servers and in other languages' runtimes), and how deep a
// compiler recurses depends on the op. Where the calling thread has enough left, the work runs in place, which costs nothing; else on
// a thread that is made for it and joined before this returns. The thread takes no signals.
// Tested by tests/unit/own_stack_test.cc and tests/unit/deep_expr_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Bytes between here and the end of the calling thread's stack; 0 where they cannot be told (a stack that is not the thread's own).
size_t stack_left();

/// The Status of `work`, which runs with at least `bytes` of stack. An exception that leaves it becomes Code::internal, as does a thread
/// that cannot be made: the message names the bytes.
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

/// What a compiler may need for an op whose expression has `nodes` nodes. Measured: LLVM and Halide take less than half of it for chains
/// of 4,096 nodes, which are the deepest graphs there are.
STREW_API size_t compiler_stack_bytes(size_t nodes);

}  // namespace strew::inline v0
