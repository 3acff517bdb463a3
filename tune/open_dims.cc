// See open_dims.h.
#include "tune/open_dims.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/op/access_dims.h"
#include "compiler/plan/plan.h"
#include "compiler/rewrite/rewrites.h"

namespace strew::inline v0 {
namespace {

/// One dim of one tensor.
struct Place {
  Role role;
  int index;
  int dim;
  friend auto operator<=>(const Place&, const Place&) = default;
};

std::string text_of(const Place& place) {
  const bool counts = place.index > 0;
  return "dim " + std::to_string(place.dim) + " of " + std::string(name(place.role)) +
         (counts ? " " + std::to_string(place.index) : "");
}

/// Groups of places with the same extent.
class Groups {
 public:
  void add(Place place, int64_t* extent) { nodes_.emplace(place, Node{place, extent}); }
  void join(Place a, Place b) {
    if (!nodes_.contains(a) || !nodes_.contains(b)) return;
    const Place first = root(a), second = root(b);
    if (first != second) nodes_.at(second).parent = first;
  }
  Place root(Place place) const {
    while (nodes_.at(place).parent != place) place = nodes_.at(place).parent;
    return place;
  }
  /// The members of each group, by its root; only groups of which no member is known.
  std::map<Place, std::vector<std::pair<Place, int64_t*>>> open() const {
    std::map<Place, std::vector<std::pair<Place, int64_t*>>> all;
    for (const auto& [place, node] : nodes_) all[root(place)].emplace_back(place, node.extent);
    return all;
  }

 private:
  struct Node {
    Place parent;
    int64_t* extent;
  };
  std::map<Place, Node> nodes_;
};

struct Tensors {
  std::vector<std::pair<Place, TensorType*>> all;  ///< with dim 0
  Role table, slices;                              ///< the indexed tensor; updates, or a gather's result
};

Tensors tensors_of(Op& op) {
  Tensors out;
  const auto add = [&](Role role, size_t index, TensorType& type) {
    out.all.push_back({{role, static_cast<int>(index), 0}, &type});
  };
  if (auto* scatter = std::get_if<Scatter>(&op)) {
    for (size_t i = 0; i < scatter->results.size(); ++i) {
      add(Role::result, i, scatter->results[i]);
      add(Role::operand, i, scatter->operands[i]);
      add(Role::updates, i, scatter->updates[i]);
    }
    add(Role::indices, 0, scatter->indices);
    for (size_t i = 0; i < scatter->more_indices.size(); ++i) add(Role::indices, i + 1, scatter->more_indices[i]);
    for (size_t i = 0; i < scatter->extras.size(); ++i) add(Role::extra, i, scatter->extras[i].type);
    out.table = Role::result;
    out.slices = Role::updates;
  } else {
    auto& gather = std::get<Gather>(op);
    add(Role::result, 0, gather.result);
    add(Role::operand, 0, gather.operand);
    add(Role::indices, 0, gather.indices);
    for (size_t i = 0; i < gather.more_indices.size(); ++i) add(Role::indices, i + 1, gather.more_indices[i]);
    for (size_t i = 0; i < gather.extras.size(); ++i) add(Role::extra, i, gather.extras[i].type);
    out.table = Role::operand;
    out.slices = Role::result;
  }
  return out;
}

/// Extras have dims of the slices: all, those of the positions, or those of the window.
void join_extras(const Op& op, const AccessDims& dims, Role slices, Groups& groups) {
  const std::vector<Extra>& extras = extras_of(op);
  for (size_t i = 0; i < extras.size(); ++i) {
    std::vector<int64_t> of_slices;
    for (size_t d = 0; d < dims.slices.size(); ++d) {
      const bool is_window = dims.slices[d].operand_dim >= 0;
      if (extras[i].kind == ExtraKind::per_element || (extras[i].kind == ExtraKind::per_window && is_window) ||
          (extras[i].kind == ExtraKind::per_position && !is_window))
        of_slices.push_back(static_cast<int64_t>(d));
    }
    if (extras[i].kind == ExtraKind::scalar || of_slices.size() != extras[i].type.dims.size()) continue;
    for (size_t d = 0; d < of_slices.size(); ++d)
      groups.join({slices, 0, static_cast<int>(of_slices[d])}, {Role::extra, static_cast<int>(i), static_cast<int>(d)});
  }
}

Groups groups_of(const Op& op, const Tensors& tensors, const AccessDims& dims) {
  Groups groups;
  for (const auto& [place, type] : tensors.all)
    for (size_t d = 0; d < type->dims.size(); ++d) groups.add({place.role, place.index, static_cast<int>(d)}, &type->dims[d]);
  const Place table{tensors.table, 0, 0}, slices{tensors.slices, 0, 0};
  const auto at = [](Place place, int64_t dim) { return Place{place.role, place.index, static_cast<int>(dim)}; };
  for (const auto& [place, type] : tensors.all) {
    const bool is_table = place.role == tensors.table || (is_scatter(op) && place.role == Role::operand);
    const bool is_slices = place.role == tensors.slices;
    for (size_t d = 0; d < type->dims.size() && (is_table || is_slices); ++d)
      groups.join(at(is_table ? table : slices, static_cast<int64_t>(d)), at(place, static_cast<int64_t>(d)));
  }
  const Place indices{Role::indices, 0, 0};
  for (const auto& [place, type] : tensors.all)
    for (size_t d = 0; d < type->dims.size() && place.role == Role::indices; ++d)
      groups.join(at(indices, static_cast<int64_t>(d)), at(place, static_cast<int64_t>(d)));
  for (const AccessDims::Position& position : dims.positions) {
    groups.join(at(indices, position.indices_dim), at(slices, position.slices_dim));
    if (position.operand_dim >= 0) groups.join(at(table, position.operand_dim), at(indices, position.indices_dim));
  }
  join_extras(op, dims, tensors.slices, groups);
  return groups;
}

OpenDimKind kind_of(const std::vector<std::pair<Place, int64_t*>>& group, const Tensors& tensors, const AccessDims& dims) {
  OpenDimKind kind = OpenDimKind::position;
  for (const auto& [place, extent] : group) {
    const auto d = static_cast<size_t>(place.dim);
    if (place.role == tensors.table && place.index == 0) {
      const AccessDims::OperandDim& dim = dims.operand[d];
      if (dim.kind == OperandDimKind::batching) return OpenDimKind::batching;
      return dim.component >= 0 ? OpenDimKind::indexed : OpenDimKind::whole;
    }
    if (place.role == tensors.slices && place.index == 0 && dims.slices[d].operand_dim >= 0)
      kind =
          dims.operand[static_cast<size_t>(dims.slices[d].operand_dim)].component >= 0 ? OpenDimKind::window : OpenDimKind::whole;
  }
  return kind;
}

}  // namespace

Expected<std::vector<OpenDim>> open_dims(Op& op, const VerifiedOp& verified) {
  const Tensors tensors = tensors_of(op);
  const AccessDims dims(op);
  const Groups groups = groups_of(op, tensors, dims);
  STREW_ASSIGN(const Canonical canonical, canonicalise(verified));
  const Plan plan = make_plan(canonical.op);
  std::vector<OpenDim> out;
  for (const auto& [root, group] : groups.open()) {
    const auto known = std::find_if(group.begin(), group.end(), [](const auto& each) { return *each.second != kDynamic; });
    const bool is_open = std::any_of(group.begin(), group.end(), [](const auto& each) { return *each.second == kDynamic; });
    if (known != group.end() && is_open) {
      // Another tensor's type says what the extent must be.
      for (const auto& [place, extent] : group)
        if (*extent == kDynamic) *extent = *known->second;
    }
    if (known != group.end()) continue;
    OpenDim open;
    open.where = text_of(group.front().first);
    open.kind = kind_of(group, tensors, dims);
    for (const auto& [place, extent] : group) {
      open.extents.push_back(extent);
      for (size_t s = 0; s < plan.symbols.size(); ++s) {
        const Symbol& symbol = plan.symbols[s];
        const bool is_it = symbol.role == place.role && symbol.index == place.index && symbol.dim == place.dim;
        if (is_it && !symbol.is_stride && open.name.empty()) {
          open.name = "s" + std::to_string(s);
          open.where = text_of(place);
        }
      }
    }
    out.push_back(std::move(open));
  }
  const auto rank = [](const OpenDim& dim) { return static_cast<int>(dim.kind); };
  std::stable_sort(out.begin(), out.end(), [&](const OpenDim& a, const OpenDim& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace strew::inline v0
