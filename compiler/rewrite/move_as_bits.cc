// See move_as_bits.h. Elements of less than a byte and of 16 bytes keep their dtype. Tested by tests/golden/plan_test.cc.
#include "compiler/rewrite/move_as_bits.h"

#include <optional>

namespace strew::inline v0 {
namespace {

std::optional<DType> bits_dtype(DType dtype) {
  switch (bits(dtype)) {
    case 8:
      return DType::u8;
    case 16:
      return DType::u16;
    case 32:
      return DType::u32;
    case 64:
      return DType::u64;
    default:
      return std::nullopt;
  }
}

/// Retypes all tensors of one pair if they have one dtype. Returns whether anything changed.
bool retype(std::initializer_list<TensorType*> types, Scalar* fill) {
  const DType dtype = (*types.begin())->dtype;
  for (const TensorType* type : types)
    if (type->dtype != dtype) return false;
  const std::optional<DType> to = bits_dtype(dtype);
  if (!to || *to == dtype) return false;
  for (TensorType* type : types) type->dtype = *to;
  if (fill != nullptr) fill->dtype = *to;
  return true;
}

}  // namespace

bool move_as_bits(Op& op) {
  if (auto* g = std::get_if<Gather>(&op)) {
    const bool fills = g->oob == OobPolicy::fill_element || g->oob == OobPolicy::fill_window;
    return g->expr.empty() && retype({&g->operand, &g->result}, fills ? &g->fill : nullptr);
  }
  auto& s = std::get<Scatter>(op);
  if (!s.combiner.empty()) return false;
  bool changed = false;
  for (size_t i = 0; i < s.operands.size(); ++i)
    changed |= retype({&s.results[i], &s.operands[i], &s.updates[i]}, s.init == InitKind::fill ? &s.fill[i] : nullptr);
  return changed;
}

}  // namespace strew::inline v0
