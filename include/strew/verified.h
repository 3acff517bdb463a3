// VerifiedOp: an Op together with the proof that verify() has accepted it.
//
// Dimension numbers, slice sizes and expression references of an Op are plain integers that anyone may set. Functions
// that index with them (folding, canonicalisation, planning, every backend) take a VerifiedOp, so passing an op that
// was not verified is a compile error. Only VerifiedOp::of() makes one, and its op cannot be changed: a step that
// rewrites an op copies it, changes the copy and calls of() again. Tested by tests/unit/compiler/op/verified_test.cc.
#pragma once

#include <utility>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/verify.h"

namespace strew::inline v0 {

class VerifiedOp {
 public:
  /// The op, if verify(op, options) accepts it; otherwise what verify() says.
  static Expected<VerifiedOp> of(Op op, const VerifyOptions& options = {}) {
    STREW_TRY(verify(op, options));
    return VerifiedOp(std::move(op));
  }

  const Op& operator*() const { return op_; }
  const Op* operator->() const { return &op_; }
  operator const Op&() const { return op_; }  // NOLINT(google-explicit-constructor): functions that only read an op take an Op
  friend bool operator==(const VerifiedOp&, const VerifiedOp&) = default;

 private:
  explicit VerifiedOp(Op op) : op_(std::move(op)) {}

  Op op_;
};

}  // namespace strew::inline v0
