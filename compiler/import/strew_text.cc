// See strew_text.h. A `.strew` file holds ops as `strew explain` prints them, so that an op can be stored and run on
// other tensors. The inputs of an op are its tensors except the results. An in_place op has its operands as inputs,
// too: they are the contents of the result buffers before the call. Tested by tests/error/cli_test.cc.
#include "compiler/import/strew_text.h"

#include <algorithm>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/importer.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMaxOps = 1 << 16;

/// Adds an op, with its inputs and outputs, to the imported file.
class OpAdder {
 public:
  OpAdder(Program& imported, std::string prefix) : imported_(imported), build_(imported, ""), prefix_(std::move(prefix)) {}

  void add(ProgramKernel kernel, std::string name) {
    const Op& op = kernel.op;
    kernel.name = std::move(name);
    const std::vector<TensorSlot> slots = input_slots(op);
    for (const TensorSlot& slot : slots) {
      const auto same =
          std::count_if(slots.begin(), slots.end(), [&](const TensorSlot& other) { return other.role == slot.role; });
      // A tensor in a file is contiguous; the program lays it out with the op's strides.
      const TensorType type{slot.type->dtype, slot.type->dims, {}};
      kernel.arguments.push_back(build_.input({full_name(strew::name(slot.role), slot.index, same > 1), type, false}));
    }
    const std::vector<int> results = build_.kernel(std::move(kernel));
    for (size_t i = 0; i < results.size(); ++i)
      imported_.add_output({full_name("result", static_cast<int>(i), results.size() > 1), results[i]});
  }

 private:
  std::string full_name(std::string_view role, int index, bool several) const {
    return prefix_ + std::string(role) + (several ? std::to_string(index) : "");
  }

  Program& imported_;
  ProgramBuilder build_;
  std::string prefix_;
};

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
    return invalid_argument(path + ": the file has " + std::to_string(lines.size()) + " ops, expected at most " +
                            std::to_string(kMaxOps));
  }
  if (lines.empty()) return invalid_argument(path + ": the file has no op, expected canonical text, one op per line");
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string name = "op_" + std::to_string(i + 1);
    const std::string location = path + ":" + std::to_string(lines[i].first);
    Expected<Op> op = parse_op(lines[i].second);
    if (!op.ok()) return op.status().with_prefix(location);
    STREW_ASSIGN(ProgramKernel kernel, verified_kernel(std::move(*op), location));
    OpAdder(imported, lines.size() > 1 ? name + "." : "").add(std::move(kernel), name);
  }
  return imported;
}

}  // namespace strew::inline v0
