// See strew/verified.h and strew/verify.h. Tested by tests/unit/compiler/op/verified_test.cc.
#include "strew/verified.h"

#include "compiler/op/verify_common.h"

namespace strew::inline v0 {

Status verify(const Scatter& scatter, const VerifyOptions& options) { return verified_access(scatter, options).status(); }
Status verify(const Gather& gather, const VerifyOptions& options) { return verified_access(gather, options).status(); }
Status verify(const Op& op, const VerifyOptions& options) {
  return std::visit([&](const auto& each) { return verify(each, options); }, op);
}

Expected<VerifiedOp> VerifiedOp::of(Op op, const VerifyOptions& options) {
  STREW_ASSIGN(AccessDims access, std::visit([&](const auto& each) { return verified_access(each, options); }, op));
  return VerifiedOp(std::move(op), std::make_shared<const AccessDims>(std::move(access)));
}

}  // namespace strew::inline v0
