// PreparedOp: an op that is ready to be asked for. Verifying an op and computing the key of its request take most of the time
// of a request that finds its kernel; a program that asks for one op many times prepares it once:
//
//   auto op = strew::PreparedOp::of(*builder.build());
//   auto kernel = runtime.get(*op);   // a look-up
//
// A PreparedOp is a reference-counted handle on constants: a copy is cheap, and all functions are thread-safe. Tested by
// tests/unit/runtime/runtime_test.cc.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "strew/export.h"
#include "strew/kernel_options.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/text.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// Identifies a request to Runtime::get: a hash of the fields of the op and of the options. It holds within one process
/// only, so nothing may store it. Requests with different keys may share code (docs/architecture.md, "Identity").
struct KernelKey {
  Hash128 hash;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};
/// Takes 100 to 200 ns.
STREW_API KernelKey kernel_key(const Op& op, const KernelOptions& options = {});

/// A type that stands for an op: Op, Scatter, Gather.
template <class T>
concept OpKind = std::is_convertible_v<T, Op>;

class PreparedOp {
 public:
  /// Verifies the op and computes its key. Fails if verify(op) does. The options are checked when the kernel is built.
  STREW_API static Expected<PreparedOp> of(Op op, const KernelOptions& options = {});
  /// The same for what a builder returns. A failure is passed on.
  template <OpKind T>
  static Expected<PreparedOp> of(Expected<T> op, const KernelOptions& options = {}) {
    if (!op.ok()) return op.status();
    return of(Op(*std::move(op)), options);
  }

  const VerifiedOp& op() const { return data_->op; }
  const KernelOptions& options() const { return data_->options; }
  const KernelKey& key() const { return data_->key; }

 private:
  friend class Site;
  struct Data {
    VerifiedOp op;
    KernelOptions options;
    KernelKey key;
  };
  explicit PreparedOp(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;  ///< never null
};

}  // namespace strew::inline v0
