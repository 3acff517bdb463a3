// cut() (strew/partition.h): what lies between values that the caller names. Tested by tests/unit/compiler/program/partition_test.cc.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "compiler/op/message.h"
#include "compiler/program/cut.h"
#include "strew/partition.h"

namespace strew::inline v0 {
namespace {

/// What value_name() calls the values, and what the file calls its inputs and outputs.
class Names {
 public:
  explicit Names(const Program& program) {
    const auto add = [&](const std::string& name, int value) {
      if (!name.empty() && values_.try_emplace(name, value).second) names_.push_back(name);
    };
    for (size_t v = 0; v < program.values().size(); ++v) {
      const Value& value = program.values()[v];
      if (value.name.empty()) values_.try_emplace(value_name(value, static_cast<int>(v)), static_cast<int>(v));
      add(value.name, static_cast<int>(v));
      if (value.kind == ValueKind::input) add(program.input(value.index).name, static_cast<int>(v));
    }
    for (const ProgramOutput& output : program.outputs()) add(output.name, output.value);
  }

  /// The values with these names, one each. `field` gives them.
  Expected<std::vector<int>> find(const char* field, std::span<const std::string> names) const {
    std::vector<int> out;
    for (const std::string& name : names) {
      const auto found = values_.find(name);
      if (found == values_.end())
        return invalid_argument("{}: no value of the file is called '{}'{}", field, name, did_you_mean(name, names_));
      if (std::find(out.begin(), out.end(), found->second) != out.end())
        return invalid_argument("{}: '{}' is given twice, expected once", field, name);
      out.push_back(found->second);
    }
    return out;
  }

 private:
  std::map<std::string, int, std::less<>> values_;
  std::vector<std::string> names_;
};

}  // namespace

Expected<Program> cut(Program program, std::span<const std::string> from, std::span<const std::string> to) {
  const Names names(program);
  STREW_ASSIGN(const std::vector<int> starts, names.find("from", from));
  STREW_ASSIGN(const std::vector<int> ends, names.find("to", to));
  std::vector<ProgramOutput> outputs = to.empty() ? program.outputs() : std::vector<ProgramOutput>();
  for (size_t i = 0; i < ends.size(); ++i) outputs.push_back({to[i], ends[i]});
  std::vector<int> wanted;
  for (const ProgramOutput& output : outputs) wanted.push_back(output.value);
  const CutNeeds needs = cut_needs(program.parts(), std::move(wanted),
                                   [&](int v) { return std::find(starts.begin(), starts.end(), v) != starts.end(); });
  for (size_t i = 0; i < starts.size(); ++i) {
    if (!program.value(starts[i]).is_typed)
      return unsupported("from: '{}' has no type in the file, expected a value that has one", from[i]);
    if (!std::binary_search(needs.inputs.begin(), needs.inputs.end(), starts[i]))
      return invalid_argument(
          "from: '{}' is not read by what computes the outputs, or it became part of a kernel; expected a value between "
          "operations "
          "(strew explain lists them)",
          from[i]);
  }
  for (const int v : needs.inside) {
    const Value& value = program.value(v);
    if (value.kind == ValueKind::opaque)
      return unsupported("{}: strew does not run this operation; expected its result '{}' in from",
                         program.opaque(value.index).location, value_name(program, v));
    if (value.kind == ValueKind::none)
      return unsupported(
          "to: an operation between the values became part of a kernel; expected the kernel's result, or import without fusion");
  }
  return make_cut(std::move(program).parts(), needs, outputs);
}

}  // namespace strew::inline v0
