// MLIR's parser records where operations, and definitions and uses of values, stand. What it does not see, because the tolerant form skips it
// (tolerant_form.h), is found by looking for names in the text: a name whose meaning is not known makes the text unreadable.
//
// Tested by tests/unit/compiler/splice/text_index_test.cc.
#include "compiler/import/mlir/text_index.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Operation.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/import/mlir/manual_axes.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/parse.h"
#include "compiler/import/mlir_tokens.h"

namespace strew::inline v0 {
namespace {

/// The rank of a tensor that XLA hands to a call as it lies in memory; -1: the value is something else.
int rank_of(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding()) return -1;
  mlir::Type element = tensor.getElementType();
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(element)) element = complex.getElementType();
  if (!element.isIntOrFloat()) return -1;
  const unsigned width = element.getIntOrFloatBitWidth();
  return width == 1 || width % 8 == 0 ? static_cast<int>(tensor.getRank()) : -1;
}

class Indexer {
 public:
  Indexer(const ParsedModule& parsed, std::string_view text) : parsed_(parsed), text_(text) {}

  TextIndex run() {
    const auto partitions = parsed_.body().getParentOp()->getAttrOfType<mlir::IntegerAttr>("mhlo.num_partitions");
    if (partitions) out_.partitions = partitions.getInt();
    for (mlir::Operation& op : parsed_.body())
      if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op)) add_function(function);
    for (const auto& alias : parsed_.places().getAttributeAliasDefs()) add_alias(alias.definition.loc);
    for (const auto& alias : parsed_.places().getTypeAliasDefs()) add_alias(alias.definition.loc);
    std::stable_sort(out_.tokens.begin(), out_.tokens.end(),
                     [](const TextToken& a, const TextToken& b) { return a.begin < b.begin; });
    const auto same = [](const TextToken& a, const TextToken& b) { return a.begin == b.begin; };
    out_.tokens.erase(std::unique(out_.tokens.begin(), out_.tokens.end(), same), out_.tokens.end());
    find_unknown_names();
    return std::move(out_);
  }

 private:
  void add_function(mlir::func::FuncOp function) {
    const auto* const place = parsed_.places().getOpDef(function);
    if (place == nullptr) return;
    TextFunction added;
    added.name = function.getName().str();
    added.is_private = function.isPrivate();
    added.begin = parsed_.offset_of(place->scopeLoc.Start);
    added.end = end_of(added.begin, *place);
    for (mlir::Block& block : function.getBody()) added.blocks.push_back(add_block(block, -1));
    out_.functions.push_back(std::move(added));
  }

  /// Where the last token of the operation ends: MLIR says where the next one begins.
  size_t end_of(size_t begin, const mlir::AsmParserState::OperationDefinition& place) const {
    const std::string_view own = text_.substr(0, parsed_.offset_of(place.scopeLoc.End));
    size_t end = begin;
    for (size_t at = begin; at < own.size();) {
      const size_t behind = skip_quiet(own, at);
      if (behind == at ? !llvm::isSpace(own[at]) : own[at] == '"') end = std::max(behind, at + 1);
      at = std::max(behind, at + 1);
    }
    return end;
  }

  int add_block(mlir::Block& block, int statement) {
    const int number = static_cast<int>(out_.blocks.size());
    const Partitioned partitioned = out_.partitions > 1 ? partitioned_in(block.getParentOp()) : Partitioned::no;
    out_.blocks.push_back({statement, {}, {}, partitioned});
    const auto* const place = parsed_.places().getBlockDef(&block);
    for (const mlir::BlockArgument argument : block.getArguments()) {
      const int value = add_value(argument, -1, number, static_cast<int>(argument.getArgNumber()));
      out_.blocks[number].arguments.push_back(value);
      if (place == nullptr || argument.getArgNumber() >= place->arguments.size()) continue;
      const auto& definition = place->arguments[argument.getArgNumber()];
      define(definition.loc, value, 1);
      for (const llvm::SMRange use : definition.uses) add_use(use, value, 1);
    }
    for (mlir::Operation& op : block) {
      const int added = add_statement(op, number);
      out_.blocks[number].statements.push_back(added);
    }
    return number;
  }

  int add_statement(mlir::Operation& op, int block) {
    TextStatement added;
    added.operation = op.getName().getStringRef().str();
    added.indexed = is_indexed(added.operation);
    added.line = parsed_.line_of(&op);
    added.block = block;
    const auto* const place = parsed_.places().getOpDef(&op);
    if (place != nullptr) {
      added.begin = static_cast<size_t>(parsed_.begin_of(&op));
      added.end = end_of(added.begin, *place);
    } else if (out_.unreadable.empty()) {
      out_.unreadable = fmt::format("{}: the operation has no place in the text", parsed_.location(&op));
    }
    for (const mlir::Value operand : op.getOperands()) added.operands.push_back(number_of(operand));
    const int number = static_cast<int>(out_.statements.size());
    out_.statements.emplace_back();
    for (const mlir::OpResult result : op.getResults())
      added.results.push_back(add_value(result, number, block, static_cast<int>(result.getResultNumber())));
    if (place != nullptr) add_groups(*place, added);
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) added.callee = call.getCallee().str();
    for (mlir::Region& region : op.getRegions())
      for (mlir::Block& inner : region) added.blocks.push_back(add_block(inner, number));
    if (op.getNumRegions() > 0) find_captures(op, added);
    out_.statements[number] = std::move(added);
    return number;
  }

  void add_groups(const mlir::AsmParserState::OperationDefinition& place, const TextStatement& statement) {
    for (size_t g = 0; g < place.resultGroups.size(); ++g) {
      const auto& group = place.resultGroups[g];
      const size_t first = group.startIndex;
      const size_t end = g + 1 < place.resultGroups.size() ? place.resultGroups[g + 1].startIndex : statement.results.size();
      if (first >= end) continue;
      const int value = statement.results[first], count = static_cast<int>(end - first);
      define(group.definition.loc, value, count);
      for (const llvm::SMRange use : group.definition.uses) add_use(use, value, count);
    }
  }

  void find_captures(mlir::Operation& op, TextStatement& statement) {
    std::set<int> seen;
    for (mlir::Region& region : op.getRegions())
      region.walk([&](mlir::Operation* inner) {
        for (mlir::Value value : inner->getOperands())
          if (!op.isAncestor(value.getParentRegion()->getParentOp()))
            if (const int number = number_of(value); seen.insert(number).second) statement.captures.push_back(number);
      });
  }

  int add_value(mlir::Value value, int statement, int block, int number) {
    const int added = static_cast<int>(out_.values.size());
    numbers_[value] = added;
    TextValue& out = out_.values.emplace_back();
    out.statement = statement;
    out.block = block;
    out.number = number;
    llvm::raw_string_ostream(out.type) << value.getType();
    out.rank = rank_of(value.getType());
    return added;
  }

  int number_of(mlir::Value value) {
    const auto found = numbers_.find(value);
    if (found != numbers_.end()) return found->second;
    if (out_.unreadable.empty()) out_.unreadable = "a value is read before it is defined";
    return -1;
  }

  TextToken token_at(llvm::SMRange range, int value) const {
    TextToken out;
    out.begin = parsed_.offset_of(range.Start);
    out.name_end = out.end = end_of_name(text_, out.begin);
    out.value = value;
    return out;
  }

  void define(llvm::SMRange range, int value, int count) {
    TextToken token = token_at(range, value);
    token.defines = true;
    for (int i = 0; i < count; ++i) {
      out_.values[value + i].definition = token.begin;
      out_.values[value + i].within = count > 1 ? i : -1;
    }
    if (defined_.insert(token.begin).second) out_.tokens.push_back(token);
  }

  void add_use(llvm::SMRange range, int value, int count) {
    TextToken token = token_at(range, value);
    unsigned within = 0;
    llvm::StringRef rest(text_.substr(token.name_end));
    if (rest.consume_front("#") && !rest.consumeInteger(10, within)) token.end = text_.size() - rest.size();
    token.value += std::min(static_cast<int>(within), count - 1);
    out_.tokens.push_back(token);
  }

  void add_alias(llvm::SMRange range) {
    if (!range.isValid()) return;
    const size_t begin = parsed_.offset_of(range.Start), name_end = end_of_name(text_, begin);
    out_.aliases.push_back({std::string(text_.substr(begin, name_end - begin)), begin, text_.find('\n', begin)});
  }

  void find_unknown_names() {
    size_t next = 0;
    each_name(text_, '%', [&](size_t begin, size_t end) {
      while (next < out_.tokens.size() && out_.tokens[next].begin < begin) ++next;
      const bool is_known = next < out_.tokens.size() && out_.tokens[next].begin == begin;
      if (!is_known && out_.unreadable.empty())
        out_.unreadable =
            fmt::format("line {}: what {} stands for is not known", std::count(text_.begin(), text_.begin() + begin, '\n') + 1,
                        text_.substr(begin, std::min<size_t>(end - begin, 80)));
    });
  }

  const ParsedModule& parsed_;
  const std::string_view text_;
  TextIndex out_;
  llvm::DenseMap<mlir::Value, int> numbers_;
  std::set<size_t> defined_;
};

}  // namespace

TextIndex index_text(const ParsedModule& parsed, std::string_view text) { return Indexer(parsed, text).run(); }

}  // namespace strew::inline v0
