// Uses of a call's outputs get the names of its results. Then statements that the calls hold go, last first, if nothing reads their results any more. At last each block
// with calls is written in an order in which everything stands behind what it reads: the one that comes first in the text of those that are ready.
//
// Tested by tests/unit/compiler/splice/splice_test.cc.
#include "compiler/splice/rewrite.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "compiler/import/mlir_tokens.h"
#include "compiler/splice/text.h"

namespace strew::inline v0 {
namespace {

/// A statement, or a call, in its block.
struct BlockItem {
  int statement = -1, call = -1;
  size_t place = 0;  ///< in the text: of a call, of the first statement that makes one of its outputs
};

class Rewriter {
 public:
  Rewriter(std::string_view text, const TextIndex& index, const std::vector<PlannedCall>& calls)
      : text_(text), index_(index), calls_(calls), calls_of_(index.blocks.size()) {
    call_of_.assign(index.values.size(), -1);
    places_.assign(index.statements.size(), 0);
    for (const TextBlock& block : index.blocks)
      for (size_t i = 0; i < block.statements.size(); ++i) places_[block.statements[i]] = static_cast<int>(i);
    for (size_t c = 0; c < calls.size(); ++c) {
      calls_of_[calls[c].block].push_back(static_cast<int>(c));
      for (const std::vector<int>& output : calls[c].outputs)
        for (const int v : output) call_of_[v] = static_cast<int>(c);
    }
  }

  Expected<std::string> run() {
    remove_statements();
    name_results();
    size_t at = 0;
    for (const TextFunction& function : index_.functions)
      for (const int block : function.blocks) STREW_TRY(emit_block(block, at));
    copy(at, text_.size());
    return std::move(out_);
  }

 private:
  void remove(int statement) {
    is_removed_[statement] = true;
    for (const int block : index_.statements[statement].blocks)
      for (const int inner : index_.blocks[block].statements) remove(inner);
  }

  void remove_statements() {
    is_removed_.assign(index_.statements.size(), false);
    std::vector<std::vector<int>> readers(index_.values.size());
    for (size_t s = 0; s < index_.statements.size(); ++s)
      for (const int v : index_.statements[s].operands) readers[v].push_back(static_cast<int>(s));
    std::vector<bool> is_operand(index_.values.size(), false);  // of a call
    std::vector<int> candidates;
    for (const PlannedCall& call : calls_) {
      for (const int v : call.inputs) is_operand[v] = is_operand[v] || call_of_[v] < 0;
      candidates.insert(candidates.end(), call.statements.begin(), call.statements.end());
      for (const std::vector<int>& output : call.outputs)
        for (const int v : output) candidates.push_back(index_.values[v].statement);
    }
    std::sort(candidates.begin(), candidates.end(),
              [&](int a, int b) { return index_.statements[a].begin > index_.statements[b].begin; });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const auto is_unread = [&](int v) {
      return !is_operand[v] &&
             (call_of_[v] >= 0 || std::all_of(readers[v].begin(), readers[v].end(), [&](int s) { return is_removed_[s]; }));
    };
    for (const int s : candidates) {
      const std::vector<int>& results = index_.statements[s].results;
      if (std::all_of(results.begin(), results.end(), is_unread)) remove(s);
    }
  }

  /// A result has the name of the value that it takes the place of, if that is free now and no result of several.
  void name_results() {
    for (const TextToken& token : index_.tokens) taken_.emplace(name_at(token));
    names_.resize(index_.values.size());
    for (const PlannedCall& call : calls_) {
      std::vector<std::string>& results = result_names_.emplace_back();
      for (const std::vector<int>& output : call.outputs) {
        const TextValue& value = index_.values[output[0]];
        std::string name;
        if (is_removed_[value.statement] && index_.statements[value.statement].results.size() == 1)
          name = name_in_text(text_, index_, output[0]);
        results.emplace_back();
        name_result(static_cast<int>(result_names_.size()) - 1, results.size() - 1, name.empty() ? new_name() : name);
      }
    }
  }

  void name_result(int call, size_t result, const std::string& name) {
    result_names_[call][result] = name;
    for (const int v : calls_[call].outputs[result]) names_[v] = name;
  }

  std::string_view name_at(const TextToken& token) const { return text_.substr(token.begin, token.name_end - token.begin); }

  /// A name that the text does not have.
  std::string new_name() {
    std::string out;
    do out = fmt::format("%strew{}", next_name_++);
    while (taken_.contains(out));
    return out;
  }

  /// Names that regions of the block's statements define, and that the block defines, too, behind them: in another order they would be defined twice.
  void rename_in_regions(int block) {
    std::set<std::string_view> own;
    for (const int s : index_.blocks[block].statements)
      for (const int v : index_.statements[s].results)
        if (const size_t at = index_.values[v].definition; at != kNowhere)
          own.insert(text_.substr(at, end_of_name(text_, at) - at));
    for (const int s : index_.blocks[block].statements) {
      const TextStatement& statement = index_.statements[s];
      if (statement.blocks.empty() || is_removed_[s]) continue;
      each_token(index_, statement.begin, statement.end, [&](const TextToken& token) {
        const bool is_inner = token.defines && index_.values[token.value].block != block;
        if (is_inner && own.contains(name_at(token)) && !definitions_.contains(token.begin))
          definitions_[token.begin] = new_name();
      });
      each_inner_call(s, [&](int call) {
        for (size_t r = 0; r < result_names_[call].size(); ++r)
          if (own.contains(result_names_[call][r])) name_result(call, r, new_name());
      });
    }
  }

  void copy(size_t begin, size_t end) {
    append_renamed(out_, text_, index_, begin, end, [&](const TextToken& token) {
      if (!token.defines && !names_[token.value].empty()) return names_[token.value];
      const auto found = definitions_.find(index_.values[token.value].definition);
      return found == definitions_.end() ? ""
                                         : found->second + std::string(text_.substr(token.name_end, token.end - token.name_end));
    });
  }

  std::string name_now(int value) const {
    if (!names_[value].empty()) return names_[value];
    const TextValue& v = index_.values[value];
    const auto found = definitions_.find(v.definition);
    if (found == definitions_.end()) return name_in_text(text_, index_, value);
    return v.within < 0 ? found->second : fmt::format("{}#{}", found->second, v.within);
  }

  /// Writes what stands from `at` to the end of the block's last statement, and sets `at` to that.
  Status emit_block(int block, size_t& at) {
    const std::vector<int>& statements = index_.blocks[block].statements;
    if (statements.empty()) return {};
    copy(at, index_.statements[statements[0]].begin);
    std::vector<BlockItem> items;
    for (const int s : statements)
      if (!is_removed_[s]) items.push_back({s, -1, index_.statements[s].begin});
    for (const int c : calls_of_[block]) items.push_back({-1, c, place_of(calls_[c])});
    if (!calls_of_[block].empty()) {
      STREW_TRY(sort(block, items));
      rename_in_regions(block);
    }
    const std::string line = line_start(index_.statements[statements[0]].begin);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].call >= 0) {
        if (i > 0) out_ += line;
        emit_call(items[i].call);
        continue;
      }
      if (i > 0) emit_gap(block, items[i].statement, line);
      STREW_TRY(emit_statement(items[i].statement));
    }
    at = index_.statements[statements.back()].end;
    return {};
  }

  size_t place_of(const PlannedCall& call) const {
    size_t out = kNowhere;
    for (const std::vector<int>& output : call.outputs)
      out = std::min(out, index_.statements[index_.values[output[0]].statement].begin);
    return out;
  }

  /// The end of a line, and the blanks before what stands at `place`.
  std::string line_start(size_t place) const {
    const size_t line = text_.rfind('\n', place);
    const std::string_view blanks = line == std::string_view::npos ? "" : text_.substr(line + 1, place - line - 1);
    return "\n" + std::string(blanks.find_first_not_of(" \t") == std::string_view::npos ? blanks : "");
  }

  /// What stands between the statement and the one before it.
  void emit_gap(int block, int statement, const std::string& line) {
    const int place = places_[statement];
    if (place == 0)
      out_ += line;
    else
      copy(index_.statements[index_.blocks[block].statements[place - 1]].end, index_.statements[statement].begin);
  }

  Status emit_statement(int number) {
    const TextStatement& statement = index_.statements[number];
    size_t at = statement.begin;
    for (const int block : statement.blocks) STREW_TRY(emit_block(block, at));
    copy(at, statement.end);
    return {};
  }

  void emit_call(int number) {
    const PlannedCall& call = calls_[number];
    std::vector<std::string> operands;
    for (const int v : call.inputs) operands.push_back(name_now(v));
    out_ += fmt::format("{} = {}", fmt::join(result_names_[number], ", "), call_text(index_, call, operands));
  }

  /// What the statement, or what is in its regions, reads: values.
  void reads_of(int number, std::vector<int>& out) const {
    const TextStatement& statement = index_.statements[number];
    out.insert(out.end(), statement.operands.begin(), statement.operands.end());
    out.insert(out.end(), statement.captures.begin(), statement.captures.end());
    each_inner_call(number, [&](int call) { out.insert(out.end(), calls_[call].inputs.begin(), calls_[call].inputs.end()); });
  }

  template <class Use>
  void each_inner_call(int number, const Use& use) const {
    for (const int block : index_.statements[number].blocks) {
      for (const int c : calls_of_[block]) use(c);
      for (const int inner : index_.blocks[block].statements) each_inner_call(inner, use);
    }
  }

  Status sort(int block, std::vector<BlockItem>& items) const {
    std::map<int, size_t> of_statement, of_call;
    for (size_t i = 0; i < items.size(); ++i)
      (items[i].call >= 0 ? of_call[items[i].call] : of_statement[items[i].statement]) = i;
    std::vector<std::vector<size_t>> behind(items.size());
    std::vector<int> missing(items.size(), 0);
    for (size_t i = 0; i < items.size(); ++i) {
      std::vector<int> reads;
      if (items[i].call >= 0)
        reads = calls_[items[i].call].inputs;
      else
        reads_of(items[i].statement, reads);
      for (const int v : reads) {
        const int call = call_of_[v], statement = index_.values[v].statement;
        const auto& in = call >= 0 ? of_call : of_statement;
        const auto found = in.find(call >= 0 ? call : statement);
        if (found == in.end() || found->second == i) continue;
        behind[found->second].push_back(i);
        ++missing[i];
      }
    }
    const auto later = [&](size_t a, size_t b) { return std::pair(items[a].place, a) > std::pair(items[b].place, b); };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> ready(later);
    for (size_t i = 0; i < items.size(); ++i)
      if (missing[i] == 0 && items[i].statement != index_.blocks[block].statements.back()) ready.push(i);
    std::vector<BlockItem> out;
    while (!ready.empty()) {
      const size_t i = ready.top();
      ready.pop();
      out.push_back(items[i]);
      for (const size_t reader : behind[i])
        if (--missing[reader] == 0 && items[reader].statement != index_.blocks[block].statements.back()) ready.push(reader);
    }
    for (const BlockItem& item : items)
      if (item.statement >= 0 && item.statement == index_.blocks[block].statements.back()) out.push_back(item);
    if (out.size() != items.size()) return internal_error("what calls of strew read waits for what they make");
    items = std::move(out);
    return {};
  }

  const std::string_view text_;
  const TextIndex& index_;
  const std::vector<PlannedCall>& calls_;
  std::vector<std::vector<int>> calls_of_;              ///< per block
  std::vector<int> call_of_;                            ///< per value: the call whose result takes its place; -1: none
  std::vector<int> places_;                             ///< per statement: its number in its block
  std::vector<bool> is_removed_;                        ///< per statement
  std::vector<std::string> names_;                      ///< per value: its new name; empty: it keeps its own
  std::vector<std::vector<std::string>> result_names_;  ///< per call
  std::map<size_t, std::string> definitions_;           ///< where a name is defined -> the one that it gets there
  std::set<std::string, std::less<>> taken_;            ///< all names of the text
  int next_name_ = 0;
  std::string out_;
};

}  // namespace

Expected<std::string> with_calls(std::string_view text, const TextIndex& index, const std::vector<PlannedCall>& calls) {
  return Rewriter(text, index, calls).run();
}

}  // namespace strew::inline v0
