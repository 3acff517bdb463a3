// Calls the family of the operation. The importer has checked ranks, element types and the extents known to it; extents
// that were open are checked here or by the family, before any element is read. Tested by
// tests/unit/compiler/program/interpret/interpret_test.cc.
#include "compiler/program/interpret/interpret.h"

#include "compiler/op/dims.h"

namespace strew::inline v0 {

Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what) {
  bool fits = actual.size() == type.dims.size();
  for (size_t d = 0; fits && d < actual.size(); ++d) fits = type.dims[d] == kDynamic || type.dims[d] == actual[d];
  if (fits) return {};
  return invalid_argument(std::string(what) + " has dims " + dims_text(actual) + ", expected " + dims_text(type.dims));
}

Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments) {
  return std::visit(
      [&](const auto& op) -> Expected<std::vector<Tensor>> {
        if constexpr (std::is_same_v<std::decay_t<decltype(op)>, ReduceOp>) {
          return evaluate(op, compute.results, arguments);
        } else {
          STREW_ASSIGN(Tensor only, evaluate(op, compute.results[0], arguments));
          std::vector<Tensor> out;
          out.push_back(std::move(only));
          return out;
        }
      },
      compute.op);
}

}  // namespace strew::inline v0
