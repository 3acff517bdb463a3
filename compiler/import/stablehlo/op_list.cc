// One row per operation that is not elementwise; find_stablehlo_op() asks scalar_op.h about the others. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_operations_test.cc, which wants an example of each row, one that is read and one that is
// refused.
#include "compiler/import/stablehlo/op_list.h"

#include <array>

#include "compiler/import/stablehlo/scalar_op.h"

namespace strew::inline v0 {
namespace {

constexpr std::array kStablehloOps{
    OpRow{"stablehlo.scatter", import_scatter, OpRow::kIndexed},
    OpRow{"stablehlo.gather", import_gather, OpRow::kIndexed},
    OpRow{"stablehlo.dynamic_gather", import_dynamic_gather, OpRow::kIndexed},
    OpRow{"stablehlo.dynamic_slice", import_dynamic_slice, OpRow::kIndexed},
    OpRow{"stablehlo.dynamic_update_slice", import_dynamic_update_slice, OpRow::kIndexed},
    OpRow{"stablehlo.dot_general", import_dot_general},
    OpRow{"stablehlo.constant", import_constant},
    OpRow{"stablehlo.custom_call", import_custom_call},
    OpRow{"stablehlo.iota", import_as<read_iota>},
    OpRow{"stablehlo.broadcast_in_dim", import_as<read_broadcast_in_dim>},
    OpRow{"stablehlo.reshape", import_as<read_reshape>},
    OpRow{"stablehlo.transpose", import_as<read_transpose>},
    OpRow{"stablehlo.slice", import_as<read_slice>},
    OpRow{"stablehlo.concatenate", import_as<read_concatenate>},
    OpRow{"stablehlo.reduce", import_reduce},
    OpRow{"stablehlo.reverse", import_as<read_reverse>},
    OpRow{"stablehlo.pad", import_as<read_pad>},
    OpRow{"stablehlo.reduce_window", import_as<read_reduce_window>},
    OpRow{"stablehlo.get_dimension_size", import_as<read_get_dimension_size>},
    OpRow{"stablehlo.dynamic_broadcast_in_dim", import_as<read_dynamic_broadcast_in_dim>},
    OpRow{"stablehlo.dynamic_reshape", import_as<read_dynamic_reshape>},
    OpRow{"stablehlo.dynamic_iota", import_as<read_dynamic_iota>},
    OpRow{"stablehlo.optimization_barrier", import_optimization_barrier},
    OpRow{"sdy.sharding_constraint", import_optimization_barrier},
    OpRow{"sdy.reshard", import_optimization_barrier},
    OpRow{"sdy.propagation_barrier", import_optimization_barrier},
};

}  // namespace

const OpRow* find_stablehlo_op(llvm::StringRef name) {
  static constexpr OpRow kElementwise{"", import_as<read_elementwise>};
  for (const OpRow& row : kStablehloOps)
    if (row.name == name) return &row;
  return is_scalar_op(name) ? &kElementwise : nullptr;
}

std::vector<std::string> stablehlo_operations() {
  std::vector<std::string> out{"func.call"};  // the row that all dialects share (compiler/import/mlir/op_list.cc)
  for (const OpRow& row : kStablehloOps) out.push_back(row.name.str());
  for (std::string& name : scalar_operations()) out.push_back(std::move(name));
  return out;
}

}  // namespace strew::inline v0
