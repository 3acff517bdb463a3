// A program's parts refer to each other by number, and nothing behind the front ends checks a number again: a wrong one reads or writes
// outside of a vector. So every import is verified, before it is folded and after. What a front end does wrong is a defect of strew, never of
// the file: the error is internal, and the fuzz targets end on it.
//
// Operations that were merged into kernels (their disposition says so) are kept for reports and never run, so only their numbers are
// checked. Tested by tests/unit/compiler/program/verify_program_test.cc.
#include "compiler/program/verify_program.h"

#include <algorithm>

#include "base/overloaded.h"
#include "compiler/op/dims.h"
#include "strew/tensor.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

class Verifier {
 public:
  explicit Verifier(const ProgramParts& program) : program_(program) {}

  Status run() {
    for (size_t v = 0; v < program_.values.size(); ++v)
      STREW_TRY(check_value(program_.values[v]).with_prefix("value " + std::to_string(v)));
    for (size_t c = 0; c < program_.computes.size(); ++c)
      STREW_TRY(check_compute(program_.computes[c]).with_prefix("compute " + std::to_string(c)));
    for (const Opaque& opaque : program_.opaques) {
      for (const int value : opaque.arguments) STREW_TRY(in_range(value));
      for (const int value : opaque.yields) STREW_TRY(in_range(value));
    }
    for (const ProgramOutput& output : program_.outputs) STREW_TRY(in_range(output.value));
    for (size_t n = 0; n < program_.nodes.size(); ++n)
      STREW_TRY(check_node(program_.nodes[n]).with_prefix("node " + std::to_string(n)));
    STREW_TRY(check_order());
    for (size_t k = 0; k < program_.kernels.size(); ++k)
      STREW_TRY(check_kernel(static_cast<int>(k)).with_prefix("kernel " + std::to_string(k)));
    return {};
  }

 private:
  static Status fail(const std::string& what) { return internal_error("the imported program is wrong: " + what); }
  static Status check(bool holds, const char* what) { return holds ? Status() : fail(what); }
  template <class List>
  static bool is_in(int number, const List& list) {
    return number >= 0 && static_cast<size_t>(number) < list.size();
  }
  Status in_range(int value) const {
    return is_in(value, program_.values) ? Status() : fail("value " + std::to_string(value) + " does not exist");
  }
  const Value& at(int value) const { return program_.values[value]; }
  const TensorType& type(int value) const { return at(value).type; }
  /// Folding may leave a part with dims of extent 1, where it takes a reshape off.
  static bool is_element(const TensorType& type) {
    return std::all_of(type.dims.begin(), type.dims.end(), [](int64_t dim) { return dim == 1; });
  }
  bool is_list(int value) const { return type(value).rank() == 1 && is_integer(type(value).dtype); }
  bool is_number(int value) const { return type(value).rank() == 0 && is_integer(type(value).dtype); }

  Status check_value(const Value& value) const {
    for (const int part : value.parts) {
      STREW_TRY(in_range(part));
      STREW_TRY(check(is_element(type(part)) && type(part).dtype == value.type.dtype, "a part is no element"));
    }
    if (value.like >= 0) {
      STREW_TRY(in_range(value.like));
      STREW_TRY(check(value.like_dim >= 0 && value.like_dim < type(value.like).rank(), "like_dim is no dim"));
    }
    switch (value.kind) {
      case ValueKind::input:
        STREW_TRY(check(is_in(value.index, program_.inputs), "no such input"));
        return check(program_.inputs[value.index].type.dims.size() == value.type.dims.size(), "another rank");
      case ValueKind::constant:
        STREW_TRY(check(is_in(value.index, program_.constants), "no such constant"));
        return check_constant(program_.constants[value.index], value.type);
      case ValueKind::zeros:
        return check(value.like >= 0 || is_static(value.type.dims), "an open dim");
      case ValueKind::stack:
        return check(value.type.dims == std::vector<int64_t>{static_cast<int64_t>(value.parts.size())},
                     "another number of parts");
      case ValueKind::result:
        return check(is_in(value.index, program_.kernels) && value.result >= 0 && value.result < results_of(value.index),
                     "no such result");
      case ValueKind::compute: {
        STREW_TRY(check(is_in(value.index, program_.computes), "no such compute"));
        const std::vector<TensorType>& results = program_.computes[value.index].results;
        STREW_TRY(check(is_in(value.result, results), "no such result of a compute"));
        const TensorType& own = results[value.result];
        return check(own.dtype == value.type.dtype && own.rank() == value.type.rank(), "another type than the compute's");
      }
      case ValueKind::extent:
        return check(value.like >= 0 && value.type.dims.empty(), "an extent of nothing");
      case ValueKind::opaque:
        return check(is_in(value.index, program_.opaques), "no such opaque operation");
      case ValueKind::none:
        return check(!value.is_typed, "a type without a value");
    }
    return fail("no such kind of value");
  }

  static Status check_constant(const Constant& constant, const TensorType& type) {
    STREW_TRY(check(constant.type.dtype == type.dtype && constant.type.dims == type.dims, "another type than the constant's"));
    STREW_ASSIGN(const int64_t count, element_count(type.dims));
    const bool is_string = type.dtype == DType::string;
    const auto has = static_cast<int64_t>(is_string ? constant.strings.size() : constant.bytes().size());
    return check(has == (is_string ? count : storage_bytes(type.dtype, count)), "a constant of another size than its type's");
  }

  Status check_node(const FileNode& node) const {
    if (node.region >= 0) STREW_TRY(check(is_in(node.region, program_.opaques), "no such region"));
    for (const int value : node.arguments)
      if (value >= 0) STREW_TRY(in_range(value));
    for (const int value : node.results)
      if (value >= 0) STREW_TRY(in_range(value));
    return {};
  }

  int results_of(int kernel) const {
    const Scatter* scatter = std::get_if<Scatter>(&*program_.kernels[kernel].op);
    return scatter == nullptr ? 1 : static_cast<int>(scatter->results.size());
  }

  Status check_compute(const Compute& compute) const {
    for (const int argument : compute.arguments) STREW_TRY(in_range(argument));
    STREW_TRY(check(!compute.results.empty(), "no results"));
    if (compute.disposition != ComputeDisposition::interpreted) return {};
    for (const int argument : compute.arguments) STREW_TRY(check(at(argument).is_typed, "it reads a value without a type"));
    const size_t arguments = compute.arguments.size(), rank = compute.results[0].dims.size();
    if (compute.takes_shape()) STREW_TRY(check(arguments > 0 && is_list(compute.arguments.back()), "its shape is no list"));
    STREW_TRY(check(arguments > 0 || compute.as<IotaOp>() != nullptr, "no arguments"));
    const size_t from = arguments > 0 ? type(compute.arguments[0]).dims.size() : 0;  // the rank of the first argument
    const auto keeps_rank = [&](bool holds, const char* what) { return check(holds && rank == from, what); };
    return std::visit(
        Overloaded{
            [&](const MapOp& op) { return strew::verify(op.function, 1, 0, static_cast<int>(arguments)).with_prefix("map"); },
            [&](const ReduceOp& op) {
              const bool has_inputs = arguments == 2 * compute.results.size();
              return check(has_inputs && are_below(op.dims, from) && rank + op.dims.size() == from, "reduce");
            },
            [&](const ScanOp& op) { return keeps_rank(arguments == 2 && is_below(op.dim, from), "scan"); },
            [&](const IotaOp& op) { return check(is_below(op.dim, rank), "iota"); },
            [&](const BroadcastOp& op) { return check(op.dims.size() == from && are_below(op.dims, rank), "broadcast"); },
            [&](const ReshapeOp& op) { return check(arguments == (op.takes_shape ? 2U : 1U), "reshape"); },
            [&](const TransposeOp& op) {
              return keeps_rank(op.permutation.size() == from && are_below(op.permutation, from), "transpose");
            },
            [&](const SliceOp& op) {
              return keeps_rank(op.starts.size() == from && op.strides.size() == from && arguments <= 1 + from, "slice");
            },
            [&](const UpdateOp& op) {
              const bool has_part = arguments >= 2 && type(compute.arguments[1]).dims.size() == from;
              return keeps_rank(has_part && arguments <= 2 + from && op.starts.size() == from, "update");
            },
            [&](const ConcatenateOp& op) { return keeps_rank(is_below(op.dim, rank), "concatenate"); },
            [&](const ReverseOp& op) { return keeps_rank(are_below(op.dims, rank), "reverse"); },
        },
        compute.op);
  }

  static bool is_below(int64_t dim, size_t end) { return dim >= 0 && dim < static_cast<int64_t>(end); }
  static bool are_below(const std::vector<int64_t>& dims, size_t end) {
    return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return is_below(d, end); });
  }

  /// Finds the last kernel before which each value is not known, and values that need themselves.
  Status check_order() {
    enum : int { kNew = -3, kOpen = -2 };
    last_kernel_.assign(program_.values.size(), kNew);
    std::vector<int> open;
    for (size_t first = 0; first < program_.values.size(); ++first) {
      open.push_back(static_cast<int>(first));
      while (!open.empty()) {
        const int v = open.back();
        int& last = last_kernel_[v];
        if (last > kOpen) {
          open.pop_back();
          continue;
        }
        const bool is_back = last == kOpen;  // all sources are known
        last = kOpen;
        int known = at(v).kind == ValueKind::result ? at(v).index : -1;
        bool has_cycle = false;
        each_source(program_, at(v), [&](int source) {
          const int other = last_kernel_[source];
          known = std::max(known, other);
          has_cycle = has_cycle || (is_back && other == kOpen);
          if (!is_back && other == kOpen) has_cycle = has_cycle || source == v;
          if (!is_back && other == kNew) open.push_back(source);
        });
        if (has_cycle) return fail("value " + std::to_string(v) + " needs itself");
        if (open.back() == v) {
          last_kernel_[v] = known;
          open.pop_back();
        }
      }
    }
    return {};
  }

  Status check_kernel(int number) const {
    const ProgramKernel& kernel = program_.kernels[number];
    Status status;
    each_use(kernel, [&](int value) {
      if (!status.ok()) return;
      status = in_range(value);
      if (status.ok()) status = check(at(value).is_typed, "it reads a value without a type");
      if (status.ok()) status = check(last_kernel_[value] < number, "it reads what a later kernel gives");
    });
    STREW_TRY(status);
    const std::vector<TensorSlot> wanted = input_slots(kernel.op);
    STREW_TRY(check(kernel.tensors().size() == wanted.size(), "another number of arguments"));
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      STREW_TRY(check((kernel.arguments[i].use == ArgumentUse::tensor) == (i < wanted.size()),
                      "its tensors are not its first arguments"));
      STREW_TRY(check_argument(kernel.arguments[i], i < wanted.size() ? wanted[i].type : nullptr, is_scatter(kernel.op)));
    }
    return {};
  }

  /// `tensor`: the type of the op's tensor.
  Status check_argument(const KernelArgument& argument, const TensorType* tensor, bool is_scatter) const {
    const TensorType& own = type(argument.value);
    const auto has_dim = [&](int value, int dim) { return value >= 0 && dim >= 0 && dim < type(value).rank(); };
    switch (argument.use) {
      case ArgumentUse::tensor:
        return check(own.dtype == tensor->dtype && own.rank() == tensor->rank(), "an argument of another type");
      case ArgumentUse::slice_sizes:
        return check(!is_scatter && is_list(argument.value), "slice_sizes is no list");
      case ArgumentUse::result_shape:
        return check(is_scatter && is_list(argument.value), "result_shape is no list");
      case ArgumentUse::non_negative:
        return check(is_integer(own.dtype), "what must not be negative is no integer");
      case ArgumentUse::equal_extents:
        return check(has_dim(argument.value, argument.dim) && has_dim(argument.other, argument.other_dim),
                     "an extent that is compared is no dim");
      case ArgumentUse::equal_scalars:
        return check(argument.other >= 0 && is_number(argument.value) && is_number(argument.other),
                     "what is compared is no integer");
    }
    return {};
  }

  const ProgramParts& program_;
  std::vector<int> last_kernel_;  ///< per value; -1: it needs no kernel
};

}  // namespace

Status verify(const ProgramParts& program) { return Verifier(program).run(); }

}  // namespace strew::inline v0
