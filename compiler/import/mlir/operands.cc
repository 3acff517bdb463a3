// See operands.h. Dims are the builder's business; here are the rules about operations and about MLIR's types. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc.
#include "compiler/import/mlir/operands.h"

#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {

OpReader::OpReader(Translation& t, mlir::Operation* op) : build(t.out, t.location(op)), attributes(op), t_(t), op_(op) {}

Status OpReader::has(unsigned operands, std::initializer_list<llvm::StringRef> known) const {
  STREW_TRY(attributes.only(known));
  return check_counts(op_, operands);
}

Status OpReader::moves(unsigned operands, std::initializer_list<llvm::StringRef> known) const {
  STREW_TRY(has(operands, known));
  for (unsigned i = 0; i < operands; ++i) {
    STREW_TRY(same_element(operand_type(i), result_type(), "result"));
    STREW_TRY(strew::operand_type(op_, i).status());
  }
  return strew::result_type(op_, 0).status();
}

Expected<int64_t> OpReader::dim(llvm::StringRef name, int rank) const {
  const auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attributes.get(name));
  if (!value) return invalid_argument("attribute '{}', expected an integer", name.str());
  const int64_t dim = value.getValue().getSExtValue();
  STREW_TRY(check_dim(dim, static_cast<size_t>(rank), name.str()));
  return dim;
}

Expected<std::vector<int64_t>> OpReader::dims(llvm::StringRef name, int rank) const {
  STREW_ASSIGN(std::vector<int64_t> dims, attributes.integers(name));
  STREW_TRY(check_dims(dims, static_cast<size_t>(rank), name.str()));
  return dims;
}

Expected<TensorType> OpReader::static_result() const {
  STREW_ASSIGN(TensorType type, strew::result_type(op_, 0));
  if (is_static(type.dims)) return type;
  return invalid_argument("result {}, expected static extents", text_of(result_type()));
}

Status bind_results(Translation& t, ProgramBuilder& build, mlir::Operation* op, const std::vector<int>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const mlir::Value result = op->getResult(static_cast<unsigned>(i));
    STREW_ASSIGN(const TensorType type, value_type(result.getType()));
    const DType dtype = build.type(values[i]).dtype;
    if (dtype != type.dtype) return invalid_argument("the result is {}, expected {}", name(type.dtype), name(dtype));
    STREW_ASSIGN(const int value, build.declared(values[i], type.dims));
    t.bind(result, value);
  }
  return {};
}

Status import_with(Translation& t, mlir::Operation* op, Expected<int> (*read)(OpReader&)) {
  OpReader reader(t, op);
  STREW_ASSIGN(const int value, read(reader));
  return bind_results(t, reader.build, op, {value});
}

}  // namespace strew::inline v0
