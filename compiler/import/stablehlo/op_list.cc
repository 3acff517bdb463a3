// One row per operation that is not elementwise; find_handler() asks scalar_op.h about the others. Tested by
// tests/unit/stablehlo_import_test.cc.
#include "compiler/import/stablehlo/op_list.h"

#include <array>

namespace strew::inline v0 {
namespace {

struct Row {
  llvm::StringRef name;
  OpHandler handler;
};
constexpr std::array kRows{
    Row{"stablehlo.scatter", import_scatter},
    Row{"stablehlo.gather", import_gather},
    Row{"stablehlo.dynamic_gather", import_dynamic_gather},
    Row{"stablehlo.dynamic_slice", import_dynamic_slice},
    Row{"stablehlo.dynamic_update_slice", import_dynamic_update_slice},
    Row{"stablehlo.constant", import_constant},
    Row{"stablehlo.custom_call", import_custom_call},
    Row{"func.call", import_call},
    Row{"stablehlo.iota", import_iota},
    Row{"stablehlo.broadcast_in_dim", import_broadcast_in_dim},
    Row{"stablehlo.reshape", import_reshape},
    Row{"stablehlo.transpose", import_transpose},
    Row{"stablehlo.slice", import_slice},
    Row{"stablehlo.concatenate", import_concatenate},
    Row{"stablehlo.reduce", import_reduce},
    Row{"stablehlo.reverse", import_reverse},
    Row{"stablehlo.pad", import_pad},
    Row{"stablehlo.reduce_window", import_reduce_window},
    Row{"stablehlo.get_dimension_size", import_get_dimension_size},
    Row{"stablehlo.dynamic_broadcast_in_dim", import_dynamic_broadcast_in_dim},
    Row{"stablehlo.dynamic_reshape", import_dynamic_reshape},
    Row{"stablehlo.dynamic_iota", import_dynamic_iota},
    Row{"stablehlo.optimization_barrier", import_optimization_barrier},
    Row{"sdy.sharding_constraint", import_optimization_barrier},
    Row{"sdy.reshard", import_optimization_barrier},
    Row{"sdy.propagation_barrier", import_optimization_barrier},
};

}  // namespace

const OpHandler* find_handler(llvm::StringRef name) {
  for (const Row& row : kRows)
    if (row.name == name) return &row.handler;
  return nullptr;
}

bool is_indexed(llvm::StringRef name) {
  return name == "stablehlo.scatter" || name == "stablehlo.gather" || name == "stablehlo.dynamic_gather" ||
         name == "stablehlo.dynamic_slice" || name == "stablehlo.dynamic_update_slice";
}

}  // namespace strew::inline v0
