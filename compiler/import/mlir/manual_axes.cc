// The shim dialect keeps attributes as text (shim_dialect.h), in which axes are strings: manual_axes={"x"}, and the shardings of operands and results, [<@mesh, [{"x"}]>], name the mesh, <["x"=4]>, or
// hold it. Tested by tests/unit/compiler/splice/text_index_test.cc.
#include "compiler/import/mlir/manual_axes.h"

#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "compiler/import/mlir/prescan.h"
#include "compiler/import/mlir_tokens.h"

namespace strew::inline v0 {
namespace {

using Axes = std::set<std::string, std::less<>>;

std::string_view attribute_text(mlir::Operation* op, llvm::StringRef attribute) {
  const mlir::Attribute found = op->getAttr(attribute);
  if (const auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(found)) return text.getValue();
  if (const auto kept = llvm::dyn_cast_or_null<mlir::OpaqueAttr>(found)) return kept.getAttrData();
  return {};
}

/// Adds the strings of the text; of a mesh only those with an extent behind them.
void add_axes(std::string_view text, bool is_mesh, Axes& axes) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip_quiet(text, at);
    const bool is_string = text[at] == '"' && end > at + 1;
    if (is_string && (!is_mesh || without_blanks(text.substr(end)).starts_with("="))) axes.emplace(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

/// All axes of the meshes that the shardings name.
Axes mesh_axes(mlir::Operation* manual) {
  Axes axes, meshes;
  for (const char* const shardings : {"in_shardings", "out_shardings"}) {
    const std::string_view text = attribute_text(manual, shardings);
    add_axes(text, true, axes);
    each_name(text, '@', [&](size_t begin, size_t end) { meshes.emplace(text.substr(begin + 1, end - begin - 1)); });
  }
  mlir::Operation* top = manual;
  while (top->getParentOp() != nullptr) top = top->getParentOp();
  for (mlir::Operation& op : top->getRegion(0).front()) {
    const auto name = op.getAttrOfType<mlir::StringAttr>("sym_name");
    if (name && op.getName().getStringRef() == "sdy.mesh" && meshes.contains(std::string_view(name.getValue())))
      add_axes(attribute_text(&op, "mesh"), true, axes);
  }
  return axes;
}

}  // namespace

Partitioned partitioned_in(mlir::Operation* around) {
  Axes manual, mesh;
  bool is_manual = false;
  for (mlir::Operation* op = around; op != nullptr; op = op->getParentOp()) {
    if (op->getName().getStringRef() != "sdy.manual_computation") continue;
    is_manual = true;
    add_axes(attribute_text(op, "manual_axes"), false, manual);
    mesh.merge(mesh_axes(op));
  }
  if (!is_manual) return Partitioned::all;
  return !mesh.empty() && std::includes(manual.begin(), manual.end(), mesh.begin(), mesh.end()) ? Partitioned::no
                                                                                                : Partitioned::part;
}

}  // namespace strew::inline v0
