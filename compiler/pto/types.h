// Types as text.
#pragma once

#include <string>
#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

/// PTO IR's spelling, which for memrefs and PTO-AS tiles is PTO-AS's.
STREW_API std::string print(const Type& type, Spelling spelling = Spelling::ir);
STREW_API std::string print(const Element& element);
/// `f32`, `si8`, `!pto.hif8`; false when the name is none.
bool element_from_name(std::string_view name, Element& out);

/// A tile whose layout is the default but for its valid extents.
STREW_API Type make_tile(Element element, int64_t rows, int64_t cols);
STREW_API Type make_scalar(DType dtype);
STREW_API Type make_index();

}  // namespace strew::inline v0::pto
