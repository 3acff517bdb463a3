// See strew_text.h. A `.strew` file holds ops as `strew explain` prints them, so that an op can be stored and run on
// other tensors. The inputs of an op are its tensors except the results. An in_place op has its operands as inputs,
// too: they are the contents of the result buffers before the call. Tested by tests/error/cli_test.cc.
#include "compiler/import/strew_text.h"

#include <algorithm>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/importer.h"
#include "compiler/op/message.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMaxOps = 1 << 16;

/// Adds an op, with its inputs and outputs, whose names start with `prefix`. A tensor in a file is contiguous; the program lays it out with the
/// op's strides.
void add_op(Program& program, ProgramKernel kernel, const std::string& prefix) {
  ProgramBuilder build(program, "");
  const auto full_name = [&](Role role, int index, bool several) {
    return prefix + std::string(name(role)) + (several ? std::to_string(index) : "");
  };
  const std::vector<TensorSlot> slots = input_slots(kernel.op);
  for (const TensorSlot& slot : slots) {
    const bool several = std::count_if(slots.begin(), slots.end(), [&](const TensorSlot& s) { return s.role == slot.role; }) > 1;
    kernel.arguments.emplace_back(
        build.input({full_name(slot.role, slot.index, several), {slot.type->dtype, slot.type->dims, {}}, false}));
  }
  const std::vector<int> results = build.kernel(std::move(kernel));
  for (size_t i = 0; i < results.size(); ++i)
    program.add_output({full_name(Role::result, static_cast<int>(i), results.size() > 1), results[i]});
}

}  // namespace

Expected<Program> import_strew_text(std::string_view text, const std::string& path, const ImportOptions&) {
  Program imported;
  imported.set_format("strew");
  std::vector<std::pair<int, std::string_view>> lines;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (!line.empty() && line.front() != '#') lines.emplace_back(number, line);
  }
  if (lines.size() > kMaxOps) {
    return invalid_argument("{}: the file has {} ops, expected at most {}", path, lines.size(), kMaxOps);
  }
  if (lines.empty()) return invalid_argument(path + ": the file has no op, expected canonical text, one op per line");
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string location = path + ":" + std::to_string(lines[i].first);
    Expected<Op> op = parse_op(lines[i].second);
    if (!op.ok()) return op.status().with_prefix(location);
    STREW_ASSIGN(ProgramKernel kernel, verified_kernel(std::move(*op), location));
    kernel.name = "op_" + std::to_string(i + 1);
    const std::string prefix = lines.size() > 1 ? kernel.name + "." : "";
    add_op(imported, std::move(kernel), prefix);
  }
  return imported;
}

}  // namespace strew::inline v0
