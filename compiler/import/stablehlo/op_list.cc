// One row per operation. Covered by tests/unit/stablehlo_import_test.cc.
#include "compiler/import/stablehlo/op_list.h"

#include <array>

namespace strew {
namespace {

struct Row {
  llvm::StringRef name;
  OpHandler handler;
};
constexpr std::array kRows{
    Row{"stablehlo.scatter", import_scatter},
    Row{"stablehlo.gather", import_gather},
    Row{"stablehlo.dynamic_slice", import_dynamic_slice},
    Row{"stablehlo.dynamic_update_slice", import_dynamic_update_slice},
    Row{"stablehlo.constant", import_constant},
    Row{"stablehlo.custom_call", import_custom_call},
    Row{"func.call", import_call},
};

}  // namespace

const OpHandler* find_handler(llvm::StringRef name) {
  for (const Row& row : kRows)
    if (row.name == name) return &row.handler;
  return nullptr;
}

std::string handled_operations() {
  std::string text;
  for (const Row& row : kRows) text += (text.empty() ? "" : ", ") + row.name.str();
  return text;
}

}  // namespace strew
