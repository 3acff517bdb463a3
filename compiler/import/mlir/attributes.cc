// MLIR stores `<{}>` of an unregistered operation as a dictionary in its properties, and `{}` as discardable attributes. StableHLO makes no
// difference between the two, so get() looks in both. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/attributes.h"

#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>

#include <algorithm>

#include "compiler/op/message.h"
#include "strew/op.h"

namespace strew::inline v0 {
namespace {

/// The longest legacy dense list that is read; no list of dims or sizes needs as many elements.
constexpr int64_t kLongestList = 1024;

mlir::DictionaryAttr properties_of(mlir::Operation* op) {
  return llvm::dyn_cast_or_null<mlir::DictionaryAttr>(op->getPropertiesAsAttribute());
}

}  // namespace

mlir::Attribute Attributes::get(llvm::StringRef name) const {
  if (const mlir::DictionaryAttr properties = properties_of(op_))
    if (mlir::Attribute found = properties.get(name)) return found;
  return op_->getDiscardableAttr(name);
}

Status Attributes::only(std::initializer_list<llvm::StringRef> known) const {
  const mlir::DictionaryAttr properties = properties_of(op_);
  if (!properties) return {};
  for (const mlir::NamedAttribute attribute : properties) {
    const llvm::StringRef name = attribute.getName().getValue();
    if (!name.contains('.') && std::find(known.begin(), known.end(), name) == known.end())
      return invalid_argument("attribute '{}' is unknown", name.substr(0, 80).str());
  }
  for (const mlir::NamedAttribute attribute : op_->getDiscardableAttrs())
    if (properties.get(attribute.getName()))
      return invalid_argument("attribute '{}' is given twice", attribute.getName().getValue().str());
  return {};
}

Expected<bool> Attributes::flag(llvm::StringRef name) const {
  const mlir::Attribute found = get(name);
  if (!found) return false;
  if (const auto flag = llvm::dyn_cast<mlir::BoolAttr>(found)) return flag.getValue();
  return invalid_argument("attribute '{}', expected true or false", name.str());
}

Expected<std::vector<int64_t>> Attributes::integers(llvm::StringRef name) const {
  const mlir::Attribute found = get(name);
  if (!found) return invalid_argument("attribute '{}' is missing", name.str());
  std::vector<int64_t> out;
  const auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(found);
  if (const auto array = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(found)) {
    out = array.asArrayRef().vec();
  } else if (dense && dense.getType().getRank() == 1 && dense.getElementType().isInteger(64) &&
             dense.getNumElements() <= kLongestList) {
    for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) out.push_back(value.getSExtValue());
  } else {
    return invalid_argument("attribute '{}', expected array<i64: ...>", name.str());
  }
  // The number that stands for "known at the call" in strew; StableHLO has no use for it.
  if (std::find(out.begin(), out.end(), kDynamic) != out.end())
    return invalid_argument("attribute '{}' holds {}, expected more", name.str(), kDynamic);
  return out;
}

}  // namespace strew::inline v0
