// Calls the family of the operation. The importer has checked ranks, element types and the extents known to it; extents
// that were open are checked here or by the family, before any element is read. Tested by
// tests/unit/compiler/program/interpret/interpret_test.cc.
#include "compiler/program/interpret/interpret.h"

#include "compiler/op/dims.h"

namespace strew::inline v0 {
namespace {

Expected<std::vector<Tensor>> only(Expected<Tensor> tensor) {
  if (!tensor.ok()) return tensor.status();
  std::vector<Tensor> out;
  out.push_back(std::move(*tensor));
  return out;
}

}  // namespace

Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what) {
  bool fits = actual.size() == type.dims.size();
  for (size_t d = 0; fits && d < actual.size(); ++d) fits = type.dims[d] == kDynamic || type.dims[d] == actual[d];
  if (fits) return {};
  return invalid_argument(std::string(what) + " has dims " + dims_text(actual) + ", expected " + dims_text(type.dims));
}

Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments) {
  switch (compute.op) {
    case ComputeOp::map:
      return only(interpret_map(compute, arguments));
    case ComputeOp::reduce:
      return interpret_reduce(compute, arguments);
    case ComputeOp::iota:
      return only(interpret_iota(compute, arguments));
    case ComputeOp::scan:
      return only(interpret_scan(compute, arguments));
    case ComputeOp::broadcast:
    case ComputeOp::reshape:
    case ComputeOp::transpose:
    case ComputeOp::slice:
    case ComputeOp::update:
    case ComputeOp::concatenate:
    case ComputeOp::reverse:
      return only(interpret_move(compute, arguments));
  }
  return internal_error("an operation without a case");
}

}  // namespace strew::inline v0
