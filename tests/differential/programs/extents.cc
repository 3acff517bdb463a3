// See extents.h. Tested by every run of strew_program_differential.
#include "tests/differential/programs/extents.h"

#include <algorithm>
#include <utility>

namespace strew::test {

ExtentId Extents::found(Node node) {
  const auto at = std::find(nodes_.begin(), nodes_.end(), node);
  const auto id = static_cast<ExtentId>(at - nodes_.begin());
  if (at == nodes_.end()) nodes_.push_back(std::move(node));
  return id;
}

ExtentId Extents::constant(int64_t number) { return found({Kind::constant, number, {}, false}); }

ExtentId Extents::variable(int64_t most) {
  most_.push_back(most);
  return found({Kind::variable, static_cast<int64_t>(most_.size()) - 1, {}, true});
}

ExtentId Extents::combined(Kind kind, const ExtentIds& of) {
  if (of.size() == 1) return of[0];
  const bool is_open = std::any_of(of.begin(), of.end(), [&](ExtentId id) { return this->is_open(id); });
  const ExtentId id = found({kind, 0, of, is_open});
  return is_open ? id : constant(most(id));
}

int64_t Extents::value(ExtentId id, const std::vector<int64_t>& variables) const {
  const Node& node = nodes_[static_cast<size_t>(id)];
  if (node.kind == Kind::constant) return node.number;
  if (node.kind == Kind::variable) return variables[static_cast<size_t>(node.number)];
  int64_t out = node.kind == Kind::sum ? 0 : 1;
  for (const ExtentId part : node.parts)
    out = node.kind == Kind::sum ? out + value(part, variables) : out * value(part, variables);
  return out;
}

std::vector<int64_t> Extents::values(const ExtentIds& ids, const std::vector<int64_t>& variables) const {
  std::vector<int64_t> out;
  for (const ExtentId id : ids) out.push_back(value(id, variables));
  return out;
}

}  // namespace strew::test
