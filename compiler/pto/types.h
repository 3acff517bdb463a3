// Types: their text, and functions that make common ones. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

/// The text of a type. The spellings differ for tiles only; memrefs exist in PTO-AS only.
STREW_API std::string print(const Type& type, Spelling spelling = Spelling::ir);
STREW_API std::string print(const Element& element);
/// The text of an extent: a number, or `?` if only the call knows it.
std::string extent_text(int64_t extent);
/// The element type with this name: `f32`, `si8`, `!pto.hif8`.
std::optional<Element> element_from_name(std::string_view wanted);

/// The type of a tile in the default layout, whose valid part is the whole tile.
STREW_API Type make_tile(Element element, int64_t rows, int64_t cols);
inline Type make_scalar(DType dtype) { return {TypeKind::scalar, {dtype}, {}, {}}; }
inline Type make_index() { return {TypeKind::index, {DType::i64}, {}, {}}; }

/// The names of the types that have parameters, behind `!`, and the kind of each. A tile has one name in PTO IR and the last one in PTO-AS.
inline constexpr std::string_view kTypeNames[] = {"pto.ptr",      "pto.tensor_view", "pto.partition_tensor_view",
                                                  "pto.tile_buf", "pto.memref",      "pto.tile"};
inline constexpr TypeKind kTypeKinds[] = {TypeKind::ptr,  TypeKind::tensor_view, TypeKind::partition_view,
                                          TypeKind::tile, TypeKind::memref,      TypeKind::tile};

}  // namespace strew::inline v0::pto
