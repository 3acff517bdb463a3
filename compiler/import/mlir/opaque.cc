// Operations that strew does not run: an Opaque with its place in the dataflow. Regions are translated if there is a scatter or gather in
// them, directly or in a function that they call; what the block arguments are bound to is known to the opaque operation alone. Of the
// regions of others (the comparison of a sort), only what they read from outside is kept; but that of sdy.manual_computation is translated in any case,
// because XLA sees it as if it were not there (compiler/splice/graph.h). Tested by tests/unit/compiler/import/stablehlo/stablehlo_opaque_test.cc.
#include <fmt/format.h>

#include <utility>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"

namespace strew::inline v0 {
namespace {

/// How a region is called in paths: "cond" and "body" of a while.
std::string region_name(mlir::Operation* op, unsigned region) {
  const llvm::StringRef name = op->getName().stripDialect();
  if (name == "while") return region == 0 ? "cond" : "body";
  if (name == "if") return region == 0 ? "true" : "false";
  if (name == "case") return fmt::format("branch_{}", region);
  return op->getNumRegions() == 1 ? "body" : fmt::format("body_{}", region);
}

/// Is `op` the last operation of the block, which hands values to the operation around it (stablehlo.return, scf.yield) or to other blocks
/// (cf.br)?
bool ends_region(mlir::Operation& op, mlir::Block& block) {
  const llvm::StringRef name = op.getName().stripDialect();
  const bool hands_over = name == "return" || name == "yield" || name == "condition" || op.getNumSuccessors() > 0;
  return &op == &block.back() && hands_over && op.getNumResults() == 0 && op.getNumRegions() == 0;
}

bool holds_kernels(mlir::Region& region) {
  bool found = false;
  region.walk([&](mlir::Operation* op) {
    found = is_indexed(op->getName().getStringRef()) || llvm::isa<mlir::func::CallOp>(op);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

}  // namespace

void Translation::add_opaque_value(mlir::Value from, int opaque, int result) {
  bind(from, ProgramBuilder(out, "").opaque_value(opaque, result, value_type(from.getType())));
}

Opaque Translation::opaque_of(mlir::Operation* op, std::string reason) const {
  const llvm::StringRef name = op->getName().getStringRef();
  return {name.str(), location(op), {}, {}, std::move(reason), is_indexed(name)};
}

Status Translation::add_opaque(mlir::Operation* op, std::string reason) {
  Opaque opaque = opaque_of(op, std::move(reason));
  const auto reads = [&](mlir::Value value) {
    if (is_bound(value)) opaque.arguments.push_back(scopes_.back().lookup(value));
  };
  for (const mlir::Value value : op->getOperands()) reads(value);
  llvm::DenseSet<mlir::Value> captured;
  for (mlir::Region& region : op->getRegions())
    region.walk([&](mlir::Operation* inner) {
      for (const mlir::Value value : inner->getOperands())
        if (captured.insert(value).second) reads(value);  // what the region itself defines is not bound yet
    });
  const bool is_indexed_op = opaque.indexed, is_inlined = opaque.operation == "sdy.manual_computation";
  const int number = out.add_opaque(std::move(opaque));
  int next_result = 0;
  for (const mlir::Value result : op->getResults()) add_opaque_value(result, number, next_result++);
  if (is_indexed_op) return {};
  const std::string outer = path_,
                    base = fmt::format("{}{}", path_.empty() ? function_ + "/" : path_, op->getName().stripDialect().str());
  std::string own;
  for (unsigned r = 0; r < op->getNumRegions(); ++r) {
    if (!is_inlined && !holds_kernels(op->getRegion(r))) continue;
    if (own.empty()) {
      const int count = ++numbers_[base + "/"];
      own = count == 1 ? base : fmt::format("{}_{}", base, count);
    }
    path_ = fmt::format("{}/{}/", own, region_name(op, r));
    STREW_TRY(translate_region(op->getRegion(r), number, next_result));
    path_ = outer;
  }
  return {};
}

Status Translation::translate_region(mlir::Region& region, int opaque, int& next_result) {
  const int outer = std::exchange(region_, opaque), outer_next = std::exchange(next_node_, 0),
            outer_call = std::exchange(call_node_, -1);
  for (mlir::Block& block : region)
    for (const mlir::BlockArgument argument : block.getArguments())
      if (!is_bound(argument)) add_opaque_value(argument, opaque, next_result++);
  for (mlir::Block& block : region) {
    for (mlir::Operation& op : block) {
      if (!ends_region(op, block)) {
        STREW_TRY(translate(&op));
        continue;
      }
      for (const mlir::Value value : op.getOperands())
        if (is_bound(value)) out.edit_opaque(opaque)->yields.push_back(scopes_.back().lookup(value));
    }
  }
  region_ = outer;
  next_node_ = outer_next;
  call_node_ = outer_call;
  return {};
}

Status Translation::translate_blocks(mlir::func::FuncOp function, std::vector<int>& results) {
  const int number = out.add_opaque(opaque_of(function, "has several blocks, and which of them run is known at the call only"));
  int next_result = 0;
  STREW_TRY(translate_region(function.getBody(), number, next_result));
  ProgramBuilder build(out, location(function));
  for (const mlir::Type type : function.getResultTypes())
    results.push_back(build.opaque_value(number, next_result++, value_type(type)));
  out.add_node({next_node_++, region_, location(function), {}, results});
  return {};
}

}  // namespace strew::inline v0
