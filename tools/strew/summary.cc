// See summary.h. Tested by tests/error/model_test.cc.
#include "tools/strew/summary.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "strew/text.h"
#include "tools/strew/message.h"

namespace strew::cli {
namespace {

constexpr size_t kMostNames = 3, kMostOperations = 10, kMostRefused = 10;

std::string counted(size_t count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); }

/// A line for each of the first opaque operations that `is_meant` and that have a reason.
template <class IsMeant>
std::string reasons_text(const Program& imported, const char* what, const char* more, const IsMeant& is_meant) {
  std::string out;
  size_t count = 0;
  for (const Opaque& opaque : imported.opaques()) {
    if (!is_meant(opaque) || opaque.reason.empty()) continue;
    if (++count <= kMostRefused) out += std::string("  ") + what + printable(opaque.location + ": " + opaque.reason) + "\n";
  }
  return count <= kMostRefused ? out : out + "  and " + std::to_string(count - kMostRefused) + more;
}

}  // namespace

std::vector<KernelGroup> distinct_kernels(const Program& imported) {
  std::vector<KernelGroup> groups;
  std::map<std::string, size_t> by_op;
  for (size_t k = 0; k < imported.kernels().size(); ++k) {
    std::string op = print(imported.kernel(k).op);
    const auto [found, is_new] = by_op.emplace(op, groups.size());
    if (is_new) groups.push_back({std::move(op), {}});
    groups[found->second].kernels.push_back(static_cast<int>(k));
  }
  return groups;
}

std::string names_text(const Program& imported, const KernelGroup& group) {
  const size_t all = group.kernels.size(), shown = all <= kMostNames ? all : kMostNames - 1;
  std::string out;
  for (size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + printable(imported.kernel(group.kernels[i]).name);
  return shown == all ? out : out + " and " + std::to_string(all - shown) + " more";
}

std::vector<int> kernel_outputs(const Program& imported, int kernel) {
  std::vector<int> out;
  for (const TensorSlot& slot : tensor_slots(imported.kernel(kernel).op))
    if (slot.role == Role::result) out.push_back(-1);
  for (size_t v = 0; v < imported.values().size(); ++v) {
    const Value& value = imported.value(v);
    if (value.kind == ValueKind::result && value.index == kernel) out[static_cast<size_t>(value.result)] = static_cast<int>(v);
  }
  return out;
}

std::vector<KernelTensor> kernel_tensors(const Program& imported, int number) {
  const ProgramKernel& kernel = imported.kernel(number);
  const std::vector<int> results = kernel_outputs(imported, number);
  size_t argument = is_in_place(kernel.op) ? std::get<Scatter>(*kernel.op).operands.size() : 0;
  std::vector<KernelTensor> out;
  for (const TensorSlot& slot : tensor_slots(kernel.op)) {
    const int value = slot.role == Role::result ? results[static_cast<size_t>(slot.index)] : kernel.tensor(argument++);
    out.push_back({slot.role, value, slot.type, {}});
    if (value < 0) continue;
    const Value& from = imported.value(value);
    // The op may read a value in another shape than the file's.
    const size_t rank = slot.type->dims.size();
    if (from.symbols.size() != rank || from.type.dims.size() != rank) continue;
    for (size_t d = 0; d < rank; ++d)
      out.back().symbols.push_back(slot.type->dims[d] == from.type.dims[d] ? from.symbols[d] : "");
  }
  return out;
}

std::string tensors_text(const Program& imported, int kernel) {
  std::string out;
  bool is_named = false;
  for (const KernelTensor& tensor : kernel_tensors(imported, kernel)) {
    is_named |= std::any_of(tensor.symbols.begin(), tensor.symbols.end(), [](const std::string& s) { return !s.empty(); });
    out += (out.empty() ? "" : ", ") + std::string(name(tensor.role)) + " " +
           (tensor.value < 0 ? "" : printable(value_name(imported, tensor.value)) + " ") +
           printable(type_text(*tensor.type, tensor.symbols));
  }
  return is_named ? out : "";
}

nlohmann::ordered_json dims_json(const TensorType& type, const std::vector<std::string>& symbols) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const bool is_named = d < symbols.size() && !symbols[d].empty();
    if (type.dims[d] == kDynamic)
      out.push_back(is_named ? symbols[d] : "?");
    else
      out.push_back(type.dims[d]);
  }
  return out;
}

std::vector<std::pair<std::string, int>> other_operations(const Program& imported) {
  std::map<std::string, int> counts;
  for (const Opaque& opaque : imported.opaques())
    if (!opaque.indexed && !opaque.operation.empty()) ++counts[opaque.operation];
  std::vector<std::pair<std::string, int>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::string summary_text(const Program& imported, size_t distinct) {
  const size_t kernels = imported.kernels().size();
  std::string out = counted(kernels, "kernel");
  if (kernels > 1) out += " (" + std::to_string(distinct) + " distinct)";
  const std::vector<std::pair<std::string, int>> others = other_operations(imported);
  size_t all = 0;
  for (const auto& [name, count] : others) all += static_cast<size_t>(count);
  if (all == 0) return out;
  out += ", " + counted(all, "other operation") + ": ";
  for (size_t i = 0; i < std::min(others.size(), kMostOperations); ++i)
    out += (i == 0 ? "" : ", ") + printable(others[i].first) + " " + std::to_string(others[i].second);
  return out + (others.size() > kMostOperations ? ", …" : "");
}

std::string refused_text(const Program& imported) {
  return reasons_text(imported, "refused: ", " more that are refused\n", [](const Opaque& opaque) { return opaque.indexed; });
}

namespace {

/// The notes about policies with the kernels that have them; `rules`: those that the file chose; `kept`: those that --oob does not change.
std::vector<std::pair<std::string, KernelGroup>> policy_notes(const Program& imported, bool rules, bool kept) {
  std::vector<std::pair<std::string, KernelGroup>> said;
  for (size_t k = 0; k < imported.kernels().size(); ++k) {
    for (const std::string& note : imported.kernel(k).notes) {
      const bool is_rule = note.starts_with("policy "),
                 is_kept = note.starts_with("keeps ") || note.ends_with("--oob does not apply");
      if (!(rules && is_rule) && !(kept && is_kept)) continue;
      auto found = std::find_if(said.begin(), said.end(), [&](const auto& each) { return each.first == note; });
      if (found == said.end()) found = said.insert(said.end(), {note, {}});
      found->second.kernels.push_back(static_cast<int>(k));
    }
  }
  return said;
}

bool asks_for_policy(const ImportOptions& options) { return options.override_oob || options.scatter_oob || options.gather_oob; }

}  // namespace

std::string policies_text(const Program& imported, const ImportOptions& options) {
  std::string out;
  for (const auto& [note, group] : policy_notes(imported, true, asks_for_policy(options)))
    out += "  " + names_text(imported, group) + ": " + printable(note) + "\n";
  return out;
}

std::string policies_kept(const Program& imported, const ImportOptions& options) {
  std::string out;
  if (!asks_for_policy(options)) return out;
  for (const auto& [note, group] : policy_notes(imported, false, true))
    out += (out.empty() ? "" : "; ") + names_text(imported, group) + ": " + note;
  return out;
}

std::string not_run_text(const Program& imported) {
  return reasons_text(imported, "not run: ", " more that are not run\n", [](const Opaque& opaque) { return !opaque.indexed; });
}

}  // namespace strew::cli
