// print(): a tree as text. parse(print(m)) == m, in every form.
#pragma once

#include <string>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

enum class TextForm : uint8_t {
  pretty,   ///< PTO IR as ptoas 0.46 to 0.60 reads it
  generic,  ///< its pto statements in quotes: what mlir-opt reads with --allow-unregistered-dialect
};

/// A tree of PTO-AS prints as PTO-AS, whatever the form.
STREW_API std::string print(const Module& module, TextForm form = TextForm::pretty);

}  // namespace strew::inline v0::pto
