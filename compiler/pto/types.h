// Types: their text, and functions that make common ones. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

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
/// Sets `out` to the element type with this name: `f32`, `si8`, `!pto.hif8`. Returns false if there is none.
bool element_from_name(std::string_view name, Element& out);

/// The type of a tile in the default layout, whose valid part is the whole tile.
STREW_API Type make_tile(Element element, int64_t rows, int64_t cols);
STREW_API Type make_scalar(DType dtype);
STREW_API Type make_index();

}  // namespace strew::inline v0::pto
