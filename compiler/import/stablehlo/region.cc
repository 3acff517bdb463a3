// Translates a region operation by operation; scalar_op.h gives the one or two nodes of each. Calls of private functions are inlined (JAX's
// jnp.where inside `.at[].apply` is one), and rank-0 constants outside the region may be used. MLIR does not check these operations, since
// they are unregistered, so verify() checks dtypes and arities of the graph. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_region_test.cc.
#include "compiler/import/stablehlo/region.h"

#include <llvm/ADT/DenseMap.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Quant/IR/QuantTypes.h>

#include "base/number.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/scalar_op.h"
#include "compiler/op/message.h"
#include "compiler/op/ordered.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMaxNodes = 4096;
constexpr int kMaxCalls = 64;

class RegionReader {
 public:
  explicit RegionReader(Translation& t) : t_(t) {}

  Expected<Expr> run(mlir::Region& region, const std::vector<DType>& elements, const std::vector<DType>& updates) {
    mlir::Block& block = region.front();
    const size_t n = elements.size();
    for (size_t i = 0; i < 2 * n; ++i) {
      const auto pair = static_cast<int32_t>(i % n);
      const mlir::Value argument = block.getArgument(static_cast<unsigned>(i));
      nodes_[argument] =
          i < n ? graph_.current(pair, elements[i]) : graph_.as(graph_.update(pair, updates[i - n]), elements[i - n]);
    }
    std::vector<int32_t> results;
    STREW_TRY(read_block(block, results));
    return ordered(graph_.returns(std::move(results)));
  }

 private:
  /// Translates a block up to its terminator, whose operands become `results`.
  Status read_block(mlir::Block& block, std::vector<int32_t>& results) {
    for (mlir::Operation& op : block) {
      const llvm::StringRef name = op.getName().getStringRef();
      if (graph_.size() > kMaxNodes || ++operations_ > kMaxNodes)
        return t_.parsed.fail(&op, fmt::format("the region has more than {} operations once calls are inlined", kMaxNodes));
      if (name == "stablehlo.return" || name == "func.return") {
        if (&op != &block.back()) return t_.parsed.fail(&op, "is not the last operation of its region");
        return t_.parsed.at(&op, operands(&op, results));
      }
      STREW_TRY(t_.parsed.at(&op, read(&op)));
    }
    return t_.parsed.fail(block.getParentOp(), "the region does not end in stablehlo.return");
  }

  Status operands(mlir::Operation* op, std::vector<int32_t>& out) {
    for (mlir::Value value : op->getOperands()) {
      const auto known = nodes_.find(value);
      if (known != nodes_.end()) {
        out.push_back(known->second);
        continue;
      }
      mlir::Operation* outside = value.getDefiningOp();
      if (!outside || outside->getName().getStringRef() != "stablehlo.constant")
        return invalid_argument("reads a value from outside its region, expected its arguments and constants only");
      STREW_TRY(t_.parsed.at(outside, read_constant(outside)));
      out.push_back(nodes_.lookup(value));
    }
    return {};
  }

  Status read(mlir::Operation* op) {
    const llvm::StringRef name = op->getName().getStringRef();
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) return read_call(call);
    if (name == "stablehlo.constant") return read_constant(op);
    STREW_ASSIGN(const DType dtype, result_dtype(op));
    std::vector<int32_t> args;
    STREW_TRY(operands(op, args));
    const OpRow* const row = find_stablehlo_op(name);
    // JAX says how each value is sharded, also of scalars in regions.
    const bool hands_on = row != nullptr && row->handler == import_optimization_barrier;
    if (hands_on || name == "stablehlo.reshape" || name == "stablehlo.broadcast_in_dim") {
      if (args.size() != 1) return invalid_argument("{} operands, expected 1", args.size());
      nodes_[op->getResult(0)] = args[0];  // a scalar, so nothing moves
      return {};
    }
    if (!is_scalar_op(name)) return invalid_argument("not read in a combiner region, expected elementwise scalar operations");
    const auto quantized = [](mlir::Type type) { return is_quantized(type); };
    if (llvm::any_of(op->getOperandTypes(), quantized) || quantized(op->getResult(0).getType()))
      return read_quantized(op, dtype, std::move(args));
    STREW_ASSIGN(nodes_[op->getResult(0)], add_scalar_op(op, dtype, std::move(args), graph_));
    return {};
  }

  /// The specification's dequantize_op_quantize: the operation on the expressed values, its result quantized again.
  Status read_quantized(mlir::Operation* op, DType dtype, std::vector<int32_t> args) {
    for (size_t i = 0; i < args.size(); ++i) {
      const mlir::Type type = op->getOperand(static_cast<unsigned>(i)).getType();
      if (!is_quantized(type)) continue;
      STREW_ASSIGN(const auto q, uniform(type));
      const int32_t offset = graph_.apply(ExprOp::sub, {graph_.as(args[i], DType::f32), literal(q.getZeroPoint())});
      args[i] = graph_.apply(ExprOp::mul, {offset, literal(q.getScale())});
    }
    const mlir::Type type = op->getResult(0).getType();
    int32_t& result = nodes_[op->getResult(0)];
    STREW_ASSIGN(result, add_scalar_op(op, is_quantized(type) ? DType::f32 : dtype, std::move(args), graph_));
    if (!is_quantized(type)) return {};
    STREW_ASSIGN(const auto q, uniform(type));
    const int32_t steps = graph_.apply(ExprOp::div, {result, literal(q.getScale())}),
                  rounded = graph_.apply(ExprOp::round_half_even, {steps}),
                  stored = graph_.apply(ExprOp::add, {rounded, literal(q.getZeroPoint())}),
                  least = graph_.apply(ExprOp::max, {stored, literal(q.getStorageTypeMin())});
    result = graph_.as(graph_.apply(ExprOp::min, {least, literal(q.getStorageTypeMax())}), dtype);
    return {};
  }

  /// A quantized type whose arithmetic is exact in f32 up to the scale.
  static Expected<mlir::quant::UniformQuantizedType> uniform(mlir::Type type) {
    const auto q = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(element_of(type));
    if (q && q.getExpressedType().isF32() && q.getStorageTypeIntegralWidth() <= 16) return q;
    return invalid_argument("type {}, expected one scale, and integers of at most 16 bits that stand for f32", text_of(type));
  }

  int32_t literal(double value) { return graph_.literal({DType::f32, {encode(DType::f32, value), 0}}); }

  static Expected<DType> result_dtype(mlir::Operation* op) {
    if (op->getNumResults() != 1) return invalid_argument("{} results, expected 1", op->getNumResults());
    for (const mlir::Type type : op->getOperandTypes()) STREW_TRY(scalar_type(type).status());
    return scalar_type(op->getResult(0).getType());
  }

  static Expected<DType> scalar_type(mlir::Type type) {
    STREW_ASSIGN(const TensorType tensor, tensor_type(type));
    if (tensor.rank() != 0) return invalid_argument("type {}, expected rank 0 in a combiner region", text_of(type));
    return tensor.dtype;
  }

  Status read_constant(mlir::Operation* op) {
    STREW_ASSIGN(const DType dtype, result_dtype(op));
    STREW_ASSIGN(const Constant constant, constant_from(Attributes(op).get("value"), TensorType{dtype, {}, {}}));
    nodes_[op->getResult(0)] = graph_.literal(load_element(dtype, constant.data.data(), 0));
    return {};
  }

  Status read_call(mlir::func::CallOp call) {
    STREW_ASSIGN(mlir::func::FuncOp function, t_.callee(call));
    if (depth_ >= kMaxCalls) return invalid_argument("calls are nested more than {} deep", kMaxCalls);
    std::vector<int32_t> args, results;
    STREW_TRY(operands(call, args));
    llvm::DenseMap<mlir::Value, int32_t> outer = std::move(nodes_);
    nodes_.clear();
    for (size_t i = 0; i < args.size(); ++i) nodes_[function.getArgument(static_cast<unsigned>(i))] = args[i];
    ++depth_;
    STREW_TRY(read_block(function.getBody().front(), results));
    --depth_;
    nodes_ = std::move(outer);
    STREW_TRY(t_.check_count(function, results.size()));
    for (size_t i = 0; i < results.size(); ++i) nodes_[call.getResult(static_cast<unsigned>(i))] = results[i];
    return {};
  }

  Translation& t_;
  ExprBuilder graph_;
  llvm::DenseMap<mlir::Value, int32_t> nodes_;
  size_t operations_ = 0;
  int depth_ = 0;
};

}  // namespace

Expected<mlir::Block*> only_block(mlir::Operation* op, std::string_view name, size_t arguments, std::string_view label) {
  if (op->getNumRegions() != 1 || !llvm::hasSingleElement(op->getRegion(0)))
    return invalid_argument("{}, expected one region of one block", name);
  mlir::Block& block = op->getRegion(0).front();
  if (block.getNumArguments() == arguments) return &block;
  return refused(fmt::format("{} has {} arguments, expected {}", name, block.getNumArguments(), arguments), label);
}

Expected<Expr> region_to_expr(Translation& t, mlir::Region& region, const std::vector<DType>& elements,
                              const std::vector<DType>& updates) {
  return RegionReader(t).run(region, elements, updates);
}

}  // namespace strew::inline v0
