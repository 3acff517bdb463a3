// print(): writes a tree as text; parse(print(m)) == m, in every form. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <string>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

enum class TextForm : uint8_t {
  pretty,   ///< PTO IR as ptoas 0.46 to 0.60 reads it
  generic,  ///< PTO IR with pto statements in MLIR's generic form, which mlir-opt --allow-unregistered-dialect reads
};

/// A tree of PTO-AS is written as PTO-AS, whatever `form` is.
STREW_API std::string print(const Module& module, TextForm form = TextForm::pretty);

}  // namespace strew::inline v0::pto
