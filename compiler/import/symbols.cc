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
      if (value.kind == ValueKind::compute)
        name_compute(*program_.edit_value(static_cast<int>(v)), program_.compute(value.index));
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
  bool has_rank(int value, size_t rank) const { return value >= 0 && program_.type(value).dims.size() == rank; }
  void same_dims(Value& value, int other) {
    if (!has_rank(other, value.type.dims.size())) return;
    for (size_t d = 0; d < value.type.dims.size(); ++d) equals(value, d, other, d);
  }

  void name_result(Value& value, const ProgramKernel& kernel) {
    if (const Scatter* scatter = std::get_if<Scatter>(&*kernel.op)) {
      // The arguments begin with the operands, unless the result is filled.
      if (scatter->init != InitKind::fill) same_dims(value, kernel.tensor(static_cast<size_t>(value.result)));
      return;
    }
    const Gather& gather = std::get<Gather>(*kernel.op);
    const int operand = kernel.tensor(0), indices = kernel.tensor(1);
    const AccessDims& access = kernel.op.access();
    if (value.type.dims.size() != access.slices.size()) return;
    for (size_t d = 0; d < access.slices.size(); ++d) {
      const auto of_operand = static_cast<size_t>(access.slices[d].operand_dim);
      if (access.slices[d].operand_dim < 0) {
        if (has_rank(indices, gather.indices.dims.size()))
          equals(value, d, indices, static_cast<size_t>(access.slices[d].indices_dim));
      } else if (gather.slice_sizes[of_operand] == kDynamic &&
                 kernel.find(ArgumentUse::slice_sizes) == nullptr) {  // the whole dim
        if (has_rank(operand, gather.operand.dims.size())) equals(value, d, operand, of_operand);
      }
    }
  }

  void name_compute(Value& value, const Compute& compute) {
    std::visit([&](const auto& op) { name_of(op, value, compute.arguments); }, compute.op);
  }
  void name_of(const MapOp&, Value& value, const std::vector<int>& arguments) {
    for (const int argument : arguments) same_dims(value, argument);
  }
  void name_of(const ReverseOp&, Value& value, const std::vector<int>& arguments) { same_dims(value, arguments[0]); }
  void name_of(const ScanOp&, Value& value, const std::vector<int>& arguments) { same_dims(value, arguments[0]); }
  void name_of(const UpdateOp&, Value& value, const std::vector<int>& arguments) { same_dims(value, arguments[0]); }
  void name_of(const TransposeOp& op, Value& value, const std::vector<int>& arguments) {
    for (size_t d = 0; d < op.permutation.size(); ++d) equals(value, d, arguments[0], static_cast<size_t>(op.permutation[d]));
  }
  void name_of(const SliceOp& op, Value& value, const std::vector<int>& arguments) {
    if (arguments.size() > 1) return;  // starts that only the call knows
    for (size_t d = 0; d < op.starts.size(); ++d)
      if (op.starts[d] == 0 && op.strides[d] == 1) equals(value, d, arguments[0], d);
  }
  void name_of(const ConcatenateOp& op, Value& value, const std::vector<int>& arguments) {
    const size_t rank = value.type.dims.size();
    for (const int argument : arguments)
      for (size_t d = 0; d < rank && has_rank(argument, rank); ++d)
        if (static_cast<int64_t>(d) != op.dim) equals(value, d, argument, d);
  }
  void name_of(const ReduceOp& op, Value& value, const std::vector<int>& arguments) {
    size_t to = 0;
    for (size_t d = 0; d < program_.type(arguments[0]).dims.size(); ++d)
      if (std::find(op.dims.begin(), op.dims.end(), static_cast<int64_t>(d)) == op.dims.end())
        equals(value, to++, arguments[0], d);
  }
  void name_of(const IotaOp& op, Value& value, const std::vector<int>& arguments) {
    if (op.takes_shape) from_shape(value, arguments.back(), [](size_t) { return true; });
  }
  /// An extent of 1 in the shape keeps the argument's dim, so the argument must have none, or one of 1.
  void name_of(const BroadcastOp& op, Value& value, const std::vector<int>& arguments) {
    if (!op.takes_shape) return;
    from_shape(value, arguments.back(), [&](size_t d) {
      const auto at = std::find(op.dims.begin(), op.dims.end(), static_cast<int64_t>(d));
      return at == op.dims.end() || dim_of(arguments[0], at - op.dims.begin()) == 1;
    });
  }
  /// Where 0 keeps the argument's dim, an extent in the shape is not always the result's.
  void name_of(const ReshapeOp& op, Value& value, const std::vector<int>& arguments) {
    if (op.takes_shape && op.allows_zero) from_shape(value, arguments.back(), [](size_t) { return true; });
    name_reshape(value, arguments[0]);
  }

  int64_t dim_of(int value, std::ptrdiff_t dim) const { return program_.type(value).dims[dim]; }

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
    const std::optional<OpenDim> to = only_open(value.type), from = only_open(program_.type(argument));
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
