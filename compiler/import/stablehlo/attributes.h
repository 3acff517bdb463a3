// Attributes of a StableHLO operation, wherever its textual form keeps them.
#pragma once

#include <mlir/IR/Operation.h>

#include <initializer_list>
#include <vector>

#include "base/status.h"

namespace strew {

/// The properties `<{}>` of an unregistered operation and its attribute dictionary `{}`, read as one.
class Attributes {
 public:
  explicit Attributes(mlir::Operation* op) : op_(op) {}

  mlir::Attribute get(llvm::StringRef name) const;  ///< null if absent
  /// Fails on names that are neither in `known` nor another dialect's ("mhlo.sharding").
  Status only(std::initializer_list<llvm::StringRef> known) const;
  Expected<bool> flag(llvm::StringRef name) const;  ///< absent: false
  /// array<i64: ...>, or the legacy dense<...> : tensor<nxi64>.
  Expected<std::vector<int64_t>> integers(llvm::StringRef name) const;

 private:
  mlir::Operation* op_;
};

}  // namespace strew
