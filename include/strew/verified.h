// VerifiedOp: an Op together with the proof that verify() has accepted it.
//
// Dimension numbers, slice sizes and expression references of an Op are plain integers that anyone may set. Functions
// that index with them (folding, canonicalisation, planning, every backend) take a VerifiedOp, so passing an op that
// was not verified is a compile error. Only VerifiedOp::of() makes one, and its op cannot be changed: a step that
// rewrites an op copies it, changes the copy and calls of() again. What its dimension numbers say of each dim is worked out once, when it is
// verified. Tested by tests/unit/compiler/op/verified_test.cc.
#pragma once

#include <memory>
#include <utility>

#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/verify.h"

namespace strew::inline v0 {

struct AccessDims;  // compiler/op/access_dims.h

class VerifiedOp {
 public:
  /// The op, if verify(op, options) accepts it; otherwise what verify() says.
  STREW_API static Expected<VerifiedOp> of(Op op, const VerifyOptions& options = {});

  const Op& operator*() const { return op_; }
  const Op* operator->() const { return &op_; }
  operator const Op&() const { return op_; }  // NOLINT(google-explicit-constructor): functions that only read an op take an Op
  /// What each dim of the op's tensors is for.
  const AccessDims& access() const { return *access_; }
  friend bool operator==(const VerifiedOp& a, const VerifiedOp& b) { return a.op_ == b.op_; }

 private:
  VerifiedOp(Op op, std::shared_ptr<const AccessDims> access) : op_(std::move(op)), access_(std::move(access)) {}

  Op op_;
  std::shared_ptr<const AccessDims> access_;  ///< copies of the op share it
};

}  // namespace strew::inline v0
