// One row per operation that is not elementwise; find_tensor_op() asks elementwise.cc about the others. Tested by
// tests/unit/compiler/import/tensor/tensor_operations_test.cc, which wants an example of each row, one that is read and one that is a
// boundary.
#include "compiler/import/tensor/op_list.h"

#include <array>

namespace strew::inline v0 {
namespace {

constexpr std::array kTensorOps{
    OpRow{"tensor.gather", import_tensor_gather, OpRow::kIndexed},
    OpRow{"tensor.scatter", import_tensor_scatter, OpRow::kIndexed},
    OpRow{"arith.constant", import_constant},
    OpRow{"tensor.cast", import_as<read_cast>},
    OpRow{"tensor.dim", import_as<read_dim>},
    OpRow{"tensor.reshape", import_as<read_reshaped>},
    OpRow{"tensor.expand_shape", import_as<read_reshaped>},
    OpRow{"tensor.collapse_shape", import_as<read_reshaped>},
    OpRow{"tensor.extract_slice", import_as<read_extract_slice>},
    OpRow{"tensor.insert_slice", import_as<read_insert_slice>},
    OpRow{"tensor.concat", import_as<read_concat>},
    OpRow{"tensor.from_elements", import_as<read_from_elements>},
    OpRow{"tensor.splat", import_as<read_filled>},
    OpRow{"linalg.fill", import_as<read_filled>},
};

}  // namespace

const OpRow* find_tensor_op(llvm::StringRef name) {
  static constexpr OpRow kElementwise{"", import_arith};
  for (const OpRow& row : kTensorOps)
    if (row.name == name) return &row;
  return is_arith(name) ? &kElementwise : nullptr;
}

std::vector<std::string> tensor_operations() {
  std::vector<std::string> out = arith_operations();
  for (const OpRow& row : kTensorOps) out.push_back(row.name.str());
  return out;
}

}  // namespace strew::inline v0
