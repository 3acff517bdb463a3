// Attributes of a StableHLO operation, independent of where its textual form stores them.
#pragma once

#include <mlir/IR/Operation.h>

#include <initializer_list>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

/// One view of the two places where an unregistered operation stores attributes: its properties `<{}>` and its dictionary `{}`.
class Attributes {
 public:
  explicit Attributes(mlir::Operation* op) : op_(op) {}

  mlir::Attribute get(llvm::StringRef name) const;  ///< null if absent
  /// Fails if `<{}>` has an attribute that is neither in `known` nor of another dialect ("mhlo.sharding"). What else is in `{}` is
  /// discardable (XLA writes layouts there).
  Status only(std::initializer_list<llvm::StringRef> known) const;
  Expected<bool> flag(llvm::StringRef name) const;  ///< false if absent
  /// A list of integers: array<i64: ...>, or the legacy form dense<...> : tensor<nxi64>.
  Expected<std::vector<int64_t>> integers(llvm::StringRef name) const;

 private:
  mlir::Operation* op_;
};

}  // namespace strew::inline v0
