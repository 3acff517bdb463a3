// The part's program holds the statements that are found on the way from its outputs back to its inputs, as they stand, but for their names: those are numbered, so that
// equal parts have equal programs. A large constant on the way is an input, so that it stands in the module once, and so is one whose elements stand elsewhere in the file.
//
// Tested by tests/unit/compiler/splice/splice_test.cc.
#include "compiler/splice/call.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/import/mlir_tokens.h"
#include "compiler/op/message.h"
#include "compiler/splice/text.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kLargeConstant = 4096;  ///< bytes of text

bool comes_before(const TextIndex& index, int a, int b) {
  const TextValue &x = index.values[a], &y = index.values[b];
  return std::pair(x.definition, x.number) < std::pair(y.definition, y.number);
}

/// Finds what the part's program holds.
class PartWalk {
 public:
  PartWalk(std::string_view text, const TextIndex& index, const ValueMap& values, const Program& program, const Part& part)
      : text_(text), index_(index), values_(values), program_(program), part_(part) {}

  void run(PlannedCall& call) {
    for (const std::vector<int>& output : call.outputs) need(output[0], true);
    while (!open_.empty()) {
      const int statement = open_.back();
      open_.pop_back();
      const TextStatement& s = index_.statements[statement];
      for (const int v : s.operands) need(v, false);
      for (const int v : s.captures) need(v, false);
    }
    call.statements.assign(taken_.begin(), taken_.end());
    std::sort(call.statements.begin(), call.statements.end(),
              [&](int a, int b) { return index_.statements[a].begin < index_.statements[b].begin; });
    for (const int s : call.statements) add_operands(index_.statements[s], call);
  }

  /// The operand that stands for the value of the text; -1: the program makes it.
  int operand_of(const PlannedCall& call, int text_value) const {
    const int v = values_.program_value[text_value];
    const int shown = v >= 0 && read_.contains(v) ? values_.text_values[v][0] : text_value;
    const auto found = std::find(call.inputs.begin(), call.inputs.end(), shown);
    return found == call.inputs.end() ? -1 : static_cast<int>(found - call.inputs.begin());
  }

 private:
  /// Operands come in the order in which the program reads them first, so that equal parts have them in the same.
  void add_operands(const TextStatement& statement, PlannedCall& call) const {
    each_token(index_, statement.begin, statement.end, [&](const TextToken& token) {
      if (token.defines || operand_of(call, token.value) >= 0) return;
      const int v = values_.program_value[token.value];
      if (v >= 0 && read_.contains(v))
        call.inputs.push_back(values_.text_values[v][0]);
      else if (std::find(others_.begin(), others_.end(), token.value) != others_.end())
        call.inputs.push_back(token.value);
    });
  }

  bool is_outside(const TextValue& value) const {
    if (value.statement < 0) return true;
    const TextStatement& s = index_.statements[value.statement];
    if (!s.operation.ends_with(".constant")) return false;
    const std::string_view own = text_.substr(s.begin, s.end - s.begin);
    return own.size() > kLargeConstant || own.find("dense_resource<") != std::string_view::npos;
  }

  void need(int text_value, bool is_output) {
    const int v = values_.program_value[text_value];
    if (!is_output && v >= 0 && std::binary_search(part_.inputs.begin(), part_.inputs.end(), v)) {
      read_.insert(v);
      return;
    }
    const TextValue& value = index_.values[text_value];
    const bool is_opaque = v >= 0 && (program_.value(v).kind == ValueKind::opaque || program_.value(v).kind == ValueKind::input);
    if (is_outside(value) || is_opaque) {
      if (std::find(others_.begin(), others_.end(), text_value) == others_.end()) others_.push_back(text_value);
    } else if (taken_.insert(value.statement).second) {
      open_.push_back(value.statement);
    }
  }

  const std::string_view text_;
  const TextIndex& index_;
  const ValueMap& values_;
  const Program& program_;
  const Part& part_;
  std::set<int> taken_, read_;
  std::vector<int> open_, others_;
};

/// Writes the part's module.
class ProgramText {
 public:
  ProgramText(std::string_view text, const TextIndex& index, const PlannedCall& call, const PartWalk& walk)
      : text_(text), index_(index), call_(call), walk_(walk) {}

  std::string run() {
    std::string body;
    for (const int s : call_.statements) {
      const TextStatement& statement = index_.statements[s];
      std::string renamed;
      append_renamed(renamed, text_, index_, statement.begin, statement.end,
                     [&](const TextToken& token) { return name_of(token); });
      body += "    " + without_locations(renamed) + "\n";
    }
    std::vector<std::string> arguments, types, results;
    for (size_t i = 0; i < call_.inputs.size(); ++i)
      arguments.push_back(fmt::format("%arg{}: {}", i, index_.values[call_.inputs[i]].type));
    for (const std::vector<int>& output : call_.outputs) {
      const TextValue& value = index_.values[output[0]];
      types.push_back(value.type);
      results.push_back(base_of(value.definition) + (value.within < 0 ? "" : fmt::format("#{}", value.within)));
    }
    const std::string list = fmt::format("{}", fmt::join(types, ", "));
    return fmt::format(
        "{}module attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{\n  func.func public @main({}) -> "
        "({}) "
        "{{\n{}    return {} : {}\n  }}\n}}\n",
        aliases_of(body), fmt::join(arguments, ", "), list, body, fmt::join(results, ", "), list);
  }

 private:
  std::string base_of(size_t definition) {
    const auto [found, is_new] = names_.try_emplace(definition, names_.size());
    return fmt::format("%{}", found->second);
  }

  std::string name_of(const TextToken& token) {
    const int operand = token.defines ? -1 : walk_.operand_of(call_, token.value);
    if (operand >= 0) return fmt::format("%arg{}", operand);
    return base_of(index_.values[token.value].definition) + std::string(text_.substr(token.name_end, token.end - token.name_end));
  }

  /// The definitions of aliases that the text names, and that those name.
  std::string aliases_of(const std::string& body) const {
    std::set<size_t> found;
    std::vector<std::string_view> open{body};
    while (!open.empty()) {
      const std::string_view in = open.back();
      open.pop_back();
      for (const char mark : {'#', '!'})
        each_name(in, mark, [&](size_t begin, size_t end) {
          for (size_t a = 0; a < index_.aliases.size(); ++a) {
            const TextAlias& alias = index_.aliases[a];
            if (alias.name != in.substr(begin, end - begin) || !found.insert(a).second) continue;
            open.push_back(text_.substr(alias.begin + alias.name.size(), alias.end - alias.begin - alias.name.size()));
          }
        });
    }
    std::string out;
    for (const size_t a : found)
      out += fmt::format("{}\n", text_.substr(index_.aliases[a].begin, index_.aliases[a].end - index_.aliases[a].begin));
    return out;
  }

  const std::string_view text_;
  const TextIndex& index_;
  const PlannedCall& call_;
  const PartWalk& walk_;
  std::map<size_t, size_t> names_;  ///< where a name is defined -> its number
};

Status check_boundary(const TextIndex& index, const PlannedCall& call) {
  const auto check = [&](int v) -> Status {
    const TextValue& value = index.values[v];
    if (value.rank >= 0) return {};
    return unsupported(
        "a call can't pass a value of type {}; expected a tensor whose extents are known and whose elements take whole bytes",
        value.type);
  };
  for (const int v : call.inputs) STREW_TRY(check(v));
  for (const std::vector<int>& output : call.outputs) STREW_TRY(check(output[0]));
  return {};
}

/// "dense<[1, 0]> : tensor<2xindex>": the last dim is the fastest.
std::string layout_of(int rank) {
  std::vector<int> dims(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) dims[static_cast<size_t>(d)] = rank - 1 - d;
  return rank == 0 ? "dense<> : tensor<0xindex>" : fmt::format("dense<[{}]> : tensor<{}xindex>", fmt::join(dims, ", "), rank);
}

}  // namespace

ValueMap::ValueMap(const Program& program, const TextIndex& index) {
  program_value.assign(index.values.size(), -1);
  text_values.resize(program.values().size());
  std::map<int64_t, int> statements;
  for (size_t s = 0; s < index.statements.size(); ++s)
    statements[static_cast<int64_t>(index.statements[s].begin)] = static_cast<int>(s);
  for (const FileNode& node : program.nodes()) {
    const auto found = statements.find(node.begin);
    statement_of_node.push_back(found == statements.end() ? -1 : found->second);
    if (found == statements.end()) continue;
    const TextStatement& statement = index.statements[found->second];
    const auto set = [&](const std::vector<int>& in_text, const std::vector<int>& in_program) {
      for (size_t i = 0; i < in_text.size() && i < in_program.size(); ++i)
        if (in_text[i] >= 0 && program_value[in_text[i]] < 0) program_value[in_text[i]] = in_program[i];
    };
    set(statement.results, node.results);
    set(statement.operands, node.arguments);
  }
  for (size_t t = 0; t < program_value.size(); ++t)
    if (program_value[t] >= 0) text_values[program_value[t]].push_back(static_cast<int>(t));
  for (std::vector<int>& each : text_values)
    std::sort(each.begin(), each.end(), [&](int a, int b) { return comes_before(index, a, b); });
}

Expected<PlannedCall> make_call(std::string_view text, const TextIndex& index, const ValueMap& values, const Program& program,
                                const ChosenPart& chosen) {
  const Part& part = chosen.part;
  PlannedCall call;
  for (const int v : part.outputs) {
    std::vector<int> made;
    for (const int t : values.text_values[v])
      if (index.values[t].statement >= 0) made.push_back(t);
    if (made.empty()) return internal_error("no statement makes what the part gives");
    call.outputs.push_back(made);
    const int block = index.values[made[0]].block;
    if (call.block >= 0 && call.block != block) return unsupported("what it would run together stands in different regions");
    call.block = block;
  }
  PartWalk walk(text, index, values, program, part);
  walk.run(call);
  STREW_TRY(check_boundary(index, call));
  for (const auto& [output, input] : chosen.in_place) {
    const int v = part.inputs[static_cast<size_t>(input)];
    const int operand = values.text_values[v].empty() ? -1 : walk.operand_of(call, values.text_values[v][0]);
    if (operand >= 0) call.in_place.emplace_back(output, operand);
  }
  for (const int s : call.statements)
    if (index.statements[s].indexed) call.operations.push_back(index.statements[s].operation);
  const int first = part.kernels.empty() ? -1 : part.kernels[0];
  if (first < 0) return unsupported("it has no scatter or gather");
  call.kernel = program.kernel(first).name;
  call.location = program.kernel(first).location;
  call.program = ProgramText(text, index, call, walk).run();
  return call;
}

std::string call_text(const TextIndex& index, const PlannedCall& call, const std::vector<std::string>& operands) {
  std::vector<std::string> types, results, operand_layouts, result_layouts, aliases;
  for (const int v : call.inputs) {
    types.push_back(index.values[v].type);
    operand_layouts.push_back(layout_of(index.values[v].rank));
  }
  for (const std::vector<int>& output : call.outputs) {
    results.push_back(index.values[output[0]].type);
    result_layouts.push_back(layout_of(index.values[output[0]].rank));
  }
  for (const auto& [result, operand] : call.in_place)
    aliases.push_back(fmt::format(
        "#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, operand_tuple_indices = []>",
        results.size() == 1 ? "" : std::to_string(result), operand));
  const std::string list = fmt::format("{}", fmt::join(results, ", "));
  return fmt::format(
      "stablehlo.custom_call @strew({}) {{api_version = 4 : i32, backend_config = {{identity = {} : i64, name = {}, program = "
      "{}}}, "
      "has_side_effect = false, operand_layouts = [{}], output_operand_aliases = [{}], result_layouts = [{}]}} : ({}) -> {}",
      fmt::join(operands, ", "), static_cast<int64_t>(hash_text(call.program).low), mlir_string(call.kernel),
      mlir_string(call.program), fmt::join(operand_layouts, ", "), fmt::join(aliases, ", "), fmt::join(result_layouts, ", "),
      fmt::join(types, ", "), results.size() == 1 ? list : "(" + list + ")");
}

}  // namespace strew::inline v0
