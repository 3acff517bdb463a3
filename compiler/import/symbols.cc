// See symbols.h. Values stand behind those that they are computed from, so one pass is enough. A rule says of a dim of a value which dim of
// which other value it equals, whatever the inputs are; where none does, the extent has no name. Tested by
// tests/unit/compiler/program/symbols_test.cc.
#include "compiler/import/symbols.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/tensor.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

class Namer {
 public:
  explicit Namer(Program& program) : program_(program) {}

  void run() {
    for (size_t v = 0; v < program_.values().size(); ++v) {
      const Value& value = program_.value(static_cast<int>(v));
      if (!value.is_typed || is_static(value.type.dims)) continue;
      if (value.kind == ValueKind::result) name_result(*program_.edit_value(static_cast<int>(v)), program_.kernel(value.index));
      if (value.kind == ValueKind::compute) name_compute(*program_.edit_value(static_cast<int>(v)), program_.compute(value.index));
    }
  }

 private:
  /// Dim `dim` of `value` is always as large as dim `other_dim` of value `other`.
  void equals(Value& value, size_t dim, int other, size_t other_dim) {
    if (other < 0) return;
    const Value& from = program_.value(other);
    if (dim >= value.type.dims.size() || value.type.dims[dim] != kDynamic || other_dim >= from.symbols.size()) return;
    if (other_dim >= from.type.dims.size() || from.type.dims[other_dim] != kDynamic || from.symbols[other_dim].empty()) return;
    const std::string name = from.symbols[other_dim];
    value.symbols.resize(value.type.dims.size());
    if (value.symbols[dim].empty()) value.symbols[dim] = name;
  }
  bool has_rank(int value, size_t rank) const {
    return value >= 0 && program_.type(value).dims.size() == rank;
  }
  void same_dims(Value& value, int other) {
    if (!has_rank(other, value.type.dims.size())) return;
    for (size_t d = 0; d < value.type.dims.size(); ++d) equals(value, d, other, d);
  }

  void name_result(Value& value, const ProgramKernel& kernel) {
    if (const Scatter* scatter = std::get_if<Scatter>(&*kernel.op)) {
      // The arguments begin with the operands, unless the result is filled.
      if (scatter->init != InitKind::fill) same_dims(value, kernel.arguments[static_cast<size_t>(value.result)]);
      return;
    }
    const Gather& gather = std::get<Gather>(*kernel.op);
    const int operand = kernel.arguments[0], indices = kernel.arguments[1];
    const AccessDims access(gather);
    if (value.type.dims.size() != access.slices.size()) return;
    for (size_t d = 0; d < access.slices.size(); ++d) {
      const auto of_operand = static_cast<size_t>(access.slices[d].operand_dim);
      if (access.slices[d].operand_dim < 0) {
        if (has_rank(indices, gather.indices.dims.size()))
          equals(value, d, indices, static_cast<size_t>(access.slices[d].indices_dim));
      } else if (gather.slice_sizes[of_operand] == kDynamic && kernel.slice_sizes < 0) {  // the whole dim
        if (has_rank(operand, gather.operand.dims.size())) equals(value, d, operand, of_operand);
      }
    }
  }

  void name_compute(Value& value, const Compute& compute) {
    const size_t rank = value.type.dims.size();
    switch (compute.op) {
      case ComputeOp::map:
        for (const int argument : compute.arguments) same_dims(value, argument);
        return;
      case ComputeOp::reverse:
      case ComputeOp::scan:
      case ComputeOp::update:
        return same_dims(value, compute.arguments[0]);
      case ComputeOp::transpose:
        for (size_t d = 0; d < compute.dims.size(); ++d)
          equals(value, d, compute.arguments[0], static_cast<size_t>(compute.dims[d]));
        return;
      case ComputeOp::slice:
        if (compute.arguments.size() > 1) return;  // starts that only the call knows
        for (size_t d = 0; d < compute.dims.size(); ++d)
          if (compute.dims[d] == 0 && compute.strides[d] == 1) equals(value, d, compute.arguments[0], d);
        return;
      case ComputeOp::concatenate:
        for (const int argument : compute.arguments)
          for (size_t d = 0; d < rank && has_rank(argument, rank); ++d)
            if (static_cast<int64_t>(d) != compute.dims[0]) equals(value, d, argument, d);
        return;
      case ComputeOp::reduce: {
        size_t to = 0;
        const size_t from = program_.value(compute.arguments[0]).type.dims.size();
        for (size_t d = 0; d < from; ++d)
          if (std::find(compute.dims.begin(), compute.dims.end(), static_cast<int64_t>(d)) == compute.dims.end())
            equals(value, to++, compute.arguments[0], d);
        return;
      }
      case ComputeOp::iota:
        if (compute.takes_shape) from_shape(value, compute.arguments.back(), [](size_t) { return true; });
        return;
      case ComputeOp::broadcast:
        // An extent of 1 in the shape keeps the argument's dim, so the argument must have none, or one of 1.
        if (compute.takes_shape)
          from_shape(value, compute.arguments.back(), [&](size_t d) {
            const auto at = std::find(compute.dims.begin(), compute.dims.end(), static_cast<int64_t>(d));
            return at == compute.dims.end() || dim_of(compute.arguments[0], at - compute.dims.begin()) == 1;
          });
        return;
      case ComputeOp::reshape:
        // Where 0 keeps the argument's dim, an extent in the shape is not always the result's.
        if (compute.takes_shape && compute.dims == std::vector<int64_t>{1})
          from_shape(value, compute.arguments.back(), [](size_t) { return true; });
        name_reshape(value, compute.arguments[0]);
        return;
    }
  }

  int64_t dim_of(int value, std::ptrdiff_t dim) const {
    return program_.type(value).dims[static_cast<size_t>(dim)];
  }

  /// The dims of `value` are the elements of `shape`; those that are extents of other values are known, where `is_exact` holds of the dim.
  template <class IsExact>
  void from_shape(Value& value, int shape, const IsExact& is_exact) {
    const Value& list = program_.value(shape);
    for (size_t d = 0; d < list.parts.size() && list.kind == ValueKind::stack; ++d) {
      const Value& part = program_.value(list.parts[d]);
      if (part.kind == ValueKind::extent && is_exact(d)) equals(value, d, part.like, static_cast<size_t>(part.like_dim));
    }
  }

  /// One extent is open before and after, and the others have one product: so the two are equal.
  void name_reshape(Value& value, int argument) {
    const std::optional<OpenDim> to = only_open(value.type),
                                 from = only_open(program_.type(argument));
    if (to && from && to->product == from->product && to->product != 0) equals(value, to->dim, argument, from->dim);
  }

  struct OpenDim {
    size_t dim;
    int64_t product;  ///< of the other extents
  };
  static std::optional<OpenDim> only_open(const TensorType& type) {
    if (std::count(type.dims.begin(), type.dims.end(), kDynamic) != 1) return std::nullopt;
    std::vector<int64_t> others = type.dims;
    const auto open = std::find(others.begin(), others.end(), kDynamic);
    const auto dim = static_cast<size_t>(open - others.begin());
    *open = 1;
    const Expected<int64_t> product = element_count(others);
    if (!product.ok()) return std::nullopt;
    return OpenDim{dim, *product};
  }

  Program& program_;
};

}  // namespace

bool is_symbol(std::string_view name) {
  constexpr size_t kLongest = 80;
  return !name.empty() && name.size() <= kLongest && name != "?" && name != "None";
}

void infer_symbols(Program& program) { Namer(program).run(); }

std::string type_text(const TensorType& type, std::span<const std::string> symbols) {
  if (symbols.size() != type.dims.size()) return print(type);
  std::string out(name(type.dtype));
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const bool is_named = type.dims[d] == kDynamic && !symbols[d].empty();
    out += (d == 0 ? "[" : ",") + (is_named ? symbols[d] : type.dims[d] == kDynamic ? "?" : std::to_string(type.dims[d]));
  }
  return out + (type.dims.empty() ? "[]" : "]");
}

}  // namespace strew::inline v0
