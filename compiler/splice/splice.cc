// splice(): the text is read, its calls of functions are inlined, parts are chosen (policy.h), and the text is written with a call for each (rewrite.h). What
// makes a part unfit for a call of its own leaves it to XLA, with the reason.
//
// Tested by tests/unit/compiler/splice/splice_test.cc and splice_models_test.cc.
#include "strew/splice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fp_environment.h"
#include "base/module.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/mlir_module.h"
#include "compiler/op/message.h"
#include "compiler/splice/call.h"
#include "compiler/splice/inline_calls.h"
#include "compiler/splice/policy.h"
#include "compiler/splice/rewrite.h"

namespace strew::inline v0 {
namespace {

/// The program is not yet folded.
Expected<MlirText> read_text(std::string_view text, const std::string& name, const ImportOptions& import) {
  STREW_ASSIGN(const MlirModule* module,
               open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "reading .mlir"));
  return module->read_text(text, name, import);
}

bool has_indexed(const TextIndex& index) {
  return std::any_of(index.statements.begin(), index.statements.end(), [](const TextStatement& each) { return each.indexed; });
}

/// Why an operation in the block stays XLA's; empty: each device runs it as it stands there.
std::string partition_drawback(const TextIndex& index, Partitioned partitioned) {
  switch (partitioned) {
    case Partitioned::no:
      break;
    case Partitioned::part:
      return "it is divided along the axes of the mesh that the shard_map around it does not name, and a call would gather its "
             "operands";
    case Partitioned::all:
      return fmt::format("it is divided into {} partitions, and a call would gather its operands from all of them",
                         index.partitions);
  }
  return "";
}

/// Replaces the line of "NAME:LINE: ..." by that of the original text.
std::string original(std::string location, const std::string& name, const std::vector<int>& lines) {
  if (lines.empty() || !location.starts_with(name + ":")) return location;
  const size_t begin = name.size() + 1;
  const size_t end = location.find_first_not_of("0123456789", begin);
  if (end == std::string::npos || end == begin || end - begin > 9) return location;
  const auto line = static_cast<size_t>(std::stol(location.substr(begin, end - begin)));
  if (line >= lines.size()) return location;
  return location.replace(begin, end - begin, std::to_string(lines[line]));
}

Spliced unchanged(std::string_view text, const std::string& name, std::string reason) {
  Spliced out;
  out.text = text;
  out.kept.push_back({"module", name, std::move(reason)});
  return out;
}

/// The scatters and gathers of functions whose calls stay.
void keep_called(const TextIndex& index, const std::string& name, std::vector<KeptOperation>& kept) {
  for (const TextFunction& function : index.functions)
    for (const TextStatement& statement : index.statements)
      if (function.is_private && statement.indexed && statement.begin > function.begin && statement.end < function.end)
        kept.push_back(
            {statement.operation, fmt::format("{}:{}: {}", name, statement.line, statement.operation),
             fmt::format("it stands in the function @{}, whose calls cannot be inlined: the function calls itself, or is no "
                         "straight-line code",
                         function.name)});
}

Expected<Spliced> splice_read(std::string_view text, const MlirText& read, const SpliceOptions& options) {
  const ValueMap values(read.program, read.index);
  const auto refusal = [&](int node) {
    const int statement = node < 0 ? -1 : values.statement_of_node[node];
    const int block = statement < 0 ? -1 : read.index.statements[statement].block;
    return partition_drawback(read.index, block < 0 ? Partitioned::all : read.index.blocks[block].partitioned);
  };
  STREW_ASSIGN(const Chosen chosen, choose_parts(read.program, options, read.index.partitions > 1 ? refusal : PlaceRefusal()));
  Spliced out;
  out.kept = chosen.kept;
  std::vector<PlannedCall> calls;
  for (const ChosenPart& part : chosen.parts) {
    Expected<PlannedCall> call = make_call(text, read.index, values, read.program, part);
    if (call.ok()) {
      out.calls.push_back({call->kernel, call->location, call->operations});
      calls.push_back(std::move(*call));
      continue;
    }
    for (const int kernel : part.part.kernels) {
      const std::string& location = read.program.kernel(kernel).location;
      out.kept.push_back({location.substr(location.rfind(' ') + 1), location, call.status().message()});
    }
  }
  if (calls.empty()) {
    out.text = text;
    return out;
  }
  STREW_ASSIGN(out.text, with_calls(text, read.index, calls));
  return out;
}

}  // namespace

Expected<Spliced> splice(std::string_view text, const std::string& name, const SpliceOptions& options) {
  const FpEnvironment environment(true);  // folding computes constants
  const ImportOptions import = import_options(options);
  STREW_ASSIGN(MlirText read, read_text(text, name, import));
  if (!has_indexed(read.index)) return Spliced{std::string(text), {}, {}};
  if (std::ranges::all_of(read.index.blocks, [](const TextBlock& block) { return block.partitioned == Partitioned::all; }))
    return unchanged(text, name, partition_drawback(read.index, Partitioned::all));
  if (!read.index.unreadable.empty()) return unchanged(text, name, read.index.unreadable);
  std::vector<int> lines;
  std::string inlined;
  if (has_calls(read.index)) {
    Expected<InlinedText> found = inline_calls(text, read.index);
    if (!found.ok()) return unchanged(text, name, found.status().message());
    inlined = std::move(found->text);
    lines = std::move(found->lines);
    STREW_ASSIGN(read, read_text(inlined, name, import));
    if (!read.index.unreadable.empty()) return unchanged(text, name, read.index.unreadable);
  }
  STREW_ASSIGN(read.program, finish_import(std::move(read.program), name, import));
  STREW_ASSIGN(Spliced out, splice_read(lines.empty() ? text : inlined, read, options));
  if (out.calls.empty()) out.text = text;
  keep_called(read.index, name, out.kept);
  for (SplicedCall& call : out.calls) call.location = original(std::move(call.location), name, lines);
  for (KeptOperation& kept : out.kept) kept.location = original(std::move(kept.location), name, lines);
  return out;
}

}  // namespace strew::inline v0
