// See exact.h. Tested by tests/unit/compiler/splice/policy_test.cc.
#include "compiler/splice/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/op/combiner.h"
#include "compiler/op/expr_math.h"
#include "compiler/splice/graph.h"

namespace strew::inline v0 {
namespace {

/// What arithmetic on floats a value is the result of, directly or moved, selected, negated or converted since.
enum Made : uint8_t {
  kNothing = 0,
  kProduct = 1,  ///< a product, which a sum that reads it takes in
  kSum = 2,      ///< a sum or difference
  kOther = 4,    ///< a quotient, a root, a function, or a reduction, whose last step nobody knows here
  kInF32 = 8,    ///< arithmetic in bf16, which XLA does in f32. It rounds the result to bf16, unless what reads it wants f32
  kAll = 15,
};

bool is_number_of(const ExprNode& node) { return is_float(node.dtype) || is_complex(node.dtype); }

/// A function as the rules see it: `extras` are what is known of its extra inputs; its other inputs are elements in memory.
struct Known {
  Made made = kNothing;
  bool constant = false;
};

class Rules {
 public:
  Rules(const Expr& function, const std::function<Known(int extra)>& extra) : function_(function) {
    for (const ExprNode& node : function.nodes) {
      known_.push_back(node.op == ExprOp::extra     ? extra(node.index)
                       : node.op == ExprOp::literal ? Known{kNothing, true}
                                                    : Known{made(node), constant(node)});
    }
  }

  Made result(size_t i = 0) const { return known_[static_cast<size_t>(function_.results[i])].made; }

  std::string obstacle() const {
    for (const ExprNode& node : function_.nodes)
      if (std::string why = obstacle_of(node); !why.empty()) return why;
    return "";
  }

 private:
  const Known& argument(const ExprNode& node, size_t i) const { return known_[static_cast<size_t>(node.args[i])]; }
  Made of_arguments(const ExprNode& node) const {
    int all = kNothing;
    for (size_t i = 0; i < node.args.size(); ++i) all |= argument(node, i).made;
    return static_cast<Made>(all);
  }
  bool constant(const ExprNode& node) const {
    return !node.args.empty() &&
           std::ranges::all_of(node.args, [&](int32_t n) { return known_[static_cast<size_t>(n)].constant; });
  }
  bool has_constant(const ExprNode& node) const {
    return std::ranges::any_of(node.args, [&](int32_t n) { return known_[static_cast<size_t>(n)].constant; });
  }

  /// Of a node whose arguments are known.
  Made made(const ExprNode& node) const {
    if (!is_number_of(node)) return kNothing;
    const auto computed = [&](int of) { return static_cast<Made>(node.dtype == DType::bf16 ? kInF32 : of); };
    switch (node.op) {
      case STREW_EACH_OP(INPUT):
      case STREW_EACH_OP(BINARY_BITS):
      case STREW_EACH_OP(SHIFT):
      case STREW_EACH_OP(UNARY_BITS):
      case STREW_EACH_OP(UNARY_INTEGER):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case ExprOp::sign:
      case ExprOp::floor:
      case ExprOp::ceil:
      case ExprOp::round_half_even:
      case ExprOp::round_half_away:
      case ExprOp::trunc:
      case ExprOp::bitcast:
        return kNothing;
      case ExprOp::convert:
        return is_number_of(function_.node(node.args[0])) ? of_arguments(node) : kNothing;
      case ExprOp::min:
      case ExprOp::max:
      case ExprOp::neg:
      case ExprOp::abs:
      case STREW_EACH_OP(SELECT):
      case STREW_EACH_OP(COMPLEX):
        return of_arguments(node);
      case ExprOp::add:
      case ExprOp::sub:
        return computed(kSum);
      case ExprOp::mul:
        return computed(is_complex(node.dtype) ? kProduct | kSum : kProduct);
      case ExprOp::div:
      case ExprOp::rem:
      case ExprOp::sqrt:
      case STREW_EACH_OP(UNARY_MATH):
      case STREW_EACH_OP(BINARY_MATH):
      case STREW_EACH_OP(TERNARY_MATH):
        return computed(kOther);
    }
    return kAll;
  }

  std::string obstacle_of(const ExprNode& node) const {
    const bool reads_numbers = std::ranges::any_of(node.args, [&](int32_t n) { return is_number_of(function_.node(n)); });
    if (!is_number_of(node) && !reads_numbers) return "";
    const auto says = [&](std::string_view why) { return fmt::format("{} of {} {}", name(node.op), name(node.dtype), why); };
    if (find_math_function(node.op) != nullptr) return says("has other bits in XLA");
    const Made before = of_arguments(node);
    switch (node.op) {
      case STREW_EACH_OP(INPUT):
      case STREW_EACH_OP(BINARY_BITS):
      case STREW_EACH_OP(SHIFT):
      case STREW_EACH_OP(UNARY_BITS):
      case STREW_EACH_OP(UNARY_INTEGER):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(SELECT):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(UNARY_MATH):
      case STREW_EACH_OP(BINARY_MATH):
      case STREW_EACH_OP(TERNARY_MATH):
      case ExprOp::rem:
      case ExprOp::bitcast:
      case ExprOp::neg:
      case ExprOp::abs:
        return "";
      case ExprOp::convert:
        return convert_obstacle(node, before);
      case ExprOp::min:
      case ExprOp::max:
      case ExprOp::sign:
      case ExprOp::floor:
      case ExprOp::ceil:
      case ExprOp::round_half_even:
      case ExprOp::round_half_away:
      case ExprOp::trunc:
        return small_obstacle(node);
      case ExprOp::add:
      case ExprOp::sub:
        if ((before & kProduct) != 0) return says("reads a product, and XLA rounds both once");
        if ((before & kOther) != 0)
          return says("reads the result of a function, and XLA may round its last step together with it");
        if ((before & kSum) != 0 && has_constant(node)) return says("follows a sum, and XLA adds constants of both first");
        return small_obstacle(node);
      case ExprOp::mul:
        if (is_complex(node.dtype)) return says("has other bits in XLA, which rounds its products and sums once");
        if ((before & kOther) != 0) return says("reads the result of a function, and XLA may compute both in another way");
        if ((before & kProduct) != 0 && has_constant(node))
          return says("follows a product, and XLA multiplies constants of both first");
        return small_obstacle(node);
      case ExprOp::div:
      case ExprOp::sqrt:
        if (is_complex(node.dtype)) return says("has other bits in XLA");
        if (before != kNothing) return says("reads the result of arithmetic, and XLA may compute both in another way");
        if (has_constant(node)) return says("has a constant operand, and XLA may multiply by its reciprocal");
        return small_obstacle(node);
    }
    return "";
  }

  /// Floats of less than 16 bits, which XLA computes in f16.
  static std::string small_obstacle(const ExprNode& node) {
    if (!is_float(node.dtype) || bits(node.dtype) >= 16) return "";
    return fmt::format("{} of {} has other bits in XLA, which computes it in f16", name(node.op), name(node.dtype));
  }

  /// XLA converts to bf16 and f16 through f32, which rounds twice what f32 does not hold.
  std::string convert_obstacle(const ExprNode& node, Made before) const {
    const DType from = function_.node(node.args[0]).dtype;
    const bool is_small = (is_float(from) && bits(from) < 16) || (is_float(node.dtype) && bits(node.dtype) < 16);
    const bool rounds_twice =
        is_float(node.dtype) && bits(node.dtype) == 16 && (from == DType::f64 || (is_integer(from) && bits(from) > 24));
    if (is_small || rounds_twice)
      return fmt::format("a conversion from {} to {} has other bits in XLA, which rounds twice", name(from), name(node.dtype));
    if ((before & kInF32) != 0 && node.dtype != DType::bf16)
      return fmt::format("a conversion to {} reads arithmetic in bf16, which XLA does not round before it", name(node.dtype));
    return "";
  }

  const Expr& function_;
  std::vector<Known> known_;
};

class Tracer {
 public:
  explicit Tracer(const Program& program) : program_(program) {}

  Known known(int value) {
    const Value& v = program_.value(value);
    switch (v.kind) {
      case ValueKind::constant:
        return {kNothing, true};
      case ValueKind::input:
      case ValueKind::zeros:
      case ValueKind::stack:
      case ValueKind::extent:
      case ValueKind::none:
        return {};
      case ValueKind::opaque:
        if (const int whole = piece_of(program_, value); whole >= 0)
          return {once(value, [&] { return known(whole).made; }), is_constant(whole)};
        return {of_opaque(program_.opaque(v.index).operation), false};
      case ValueKind::result:
        return {once(value, [&] { return of_kernel(program_.kernel(v.index), v.result); }), false};
      case ValueKind::compute:
        break;
    }
    const Compute& compute = program_.compute(v.index);
    const bool constant = std::ranges::all_of(compute.arguments, [&](int argument) { return is_constant(argument); });
    return {once(value, [&] { return of_compute(compute); }), constant};
  }

 private:
  /// Made of constants alone, through operations that move them.
  bool is_constant(int value) const {
    for (int steps = 0; steps < 16; ++steps) {
      const Compute* const compute = program_.compute_of(value);
      const int whole = piece_of(program_, value);
      if (whole < 0 && (compute == nullptr || compute->arguments.empty())) break;
      value = whole >= 0 ? whole : compute->arguments[0];
    }
    return program_.constant_of(value) != nullptr;
  }

  /// What `find` finds; of a value that is being found already, or of the last of too many, nobody knows.
  template <class Find>
  Made once(int value, const Find& find) {
    constexpr size_t kMost = 1000;
    if (found_.size() >= kMost) return kAll;
    const auto [at, is_new] = found_.try_emplace(value, kNothing);
    if (is_new) {
      const Made made = find();
      found_[value] = made;
      return made;
    }
    return at->second;
  }

  Made of_all(const std::vector<int>& values) {
    int all = kNothing;
    for (const int value : values) all |= known(value).made;
    return static_cast<Made>(all);
  }

  static Made of_opaque(const std::string& operation) {
    if (is_fusible(operation)) return kAll;
    const bool multiplies = operation == "stablehlo.dot_general" || operation == "stablehlo.dot" ||
                            operation == "stablehlo.convolution" || operation == "chlo.ragged_dot";
    return multiplies ? kProduct : kNothing;
  }

  Made of_compute(const Compute& compute) {
    if (const auto* const map = compute.as<MapOp>())
      return Rules(map->function, [&](int extra) { return known(compute.arguments[static_cast<size_t>(extra)]); }).result();
    const bool computes = compute.as<ReduceOp>() != nullptr || compute.as<ScanOp>() != nullptr;
    if (computes) return is_float(compute.results[0].dtype) || is_complex(compute.results[0].dtype) ? kAll : kNothing;
    return of_all(compute.arguments);
  }

  /// A gather only moves; a scatter of several windows ends in memory.
  Made of_kernel(const ProgramKernel& kernel, int result) {
    const Op& op = kernel.op;
    if (const auto* const gather = std::get_if<Gather>(&op)) {
      if (!gather->expr.empty()) return kAll;
      return known(kernel.tensor(0)).made;
    }
    const auto& scatter = std::get<Scatter>(op);
    if (windows_of(kernel.op) != 1) return kNothing;
    if (scatter.combiner != CombinerKind::assign) return kAll;
    const size_t first = scatter.init == InitKind::fill ? 1 : scatter.operands.size() + 1;
    std::vector<int> read{kernel.tensor(first + static_cast<size_t>(result))};
    if (scatter.init != InitKind::fill) read.push_back(kernel.tensor(static_cast<size_t>(result)));
    return of_all(read);
  }

  const Program& program_;
  std::map<int, Made> found_;
};

}  // namespace

std::string obstacle(const Expr& function) {
  return Rules(function, [](int) { return Known(); }).obstacle();
}

std::string obstacle(const Program& program, int compute) {
  const Compute& around = program.compute(compute);
  Tracer tracer(program);
  if (const auto* const map = around.as<MapOp>())
    return Rules(map->function, [&](int extra) { return tracer.known(around.arguments[static_cast<size_t>(extra)]); }).obstacle();
  const auto* const reduce = around.as<ReduceOp>();
  const bool adds = std::ranges::any_of(
      around.results, [](const TensorType& type) { return !is_integer(type.dtype) && type.dtype != DType::boolean; });
  if (reduce != nullptr && adds) return fmt::format("XLA reduces {} in another order", name(around.results[0].dtype));
  return reduce != nullptr ? obstacle(reduce->function) : "";
}

bool is_arithmetic(const Program& program, int value) { return Tracer(program).known(value).made != kNothing; }

}  // namespace strew::inline v0
