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
  bool is_made = false;  ///< of what a look-up makes; the table has the place without
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
  std::vector<std::pair<Place, TensorType*>> all;  ///< with dim 0; not the tensors of look-ups, but what these make
  Role table;                                      ///< the indexed tensor
  Place slices;                                    ///< updates, or a gather's result
};

Place at(Place place, int64_t dim) {
  place.dim = static_cast<int>(dim);
  return place;
}

/// Look-up number `number` of a scatter: its tensors, each with dim 0, and what its dims are.
struct LookupTensors {
  LookupTensors(Scatter& scatter, size_t number)
      : gather(scatter.lookups[number].gather),
        dims(gather),
        table{scatter.lookups[number].of, scatter.lookups[number].index, 0},
        made{table.role, table.index, 0, true},
        indices{Role::indices, first_indices(Op(scatter), number + 1), 0} {}
  Gather& gather;
  AccessDims dims;
  Place table, made, indices;
};
std::vector<LookupTensors> lookups_in(Op& op) {
  std::vector<LookupTensors> out;
  for (size_t l = 0; l < lookups_of(op).size(); ++l) out.emplace_back(std::get<Scatter>(op), l);
  return out;
}

Tensors tensors_of(Op& op) {
  Tensors out;
  const auto place = [&](Role role, size_t index) {
    const int number = static_cast<int>(index);
    return Place{role, number, 0, lookup_of(op, role, number) != nullptr};
  };
  const auto add = [&](Role role, size_t index, TensorType& type) { out.all.emplace_back(place(role, index), &type); };
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
    out.slices = place(Role::updates, 0);
  } else {
    auto& gather = std::get<Gather>(op);
    add(Role::result, 0, gather.result);
    add(Role::operand, 0, gather.operand);
    add(Role::indices, 0, gather.indices);
    for (size_t i = 0; i < gather.more_indices.size(); ++i) add(Role::indices, i + 1, gather.more_indices[i]);
    for (size_t i = 0; i < gather.extras.size(); ++i) add(Role::extra, i, gather.extras[i].type);
    out.table = Role::operand;
    out.slices = place(Role::result, 0);
  }
  return out;
}

/// Extras have dims of the slices: all, those of the positions, or those of the window.
void join_extras(const Op& op, const AccessDims& dims, Place slices, Groups& groups) {
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
    const int number = static_cast<int>(i);
    const Place extra{Role::extra, number, 0, lookup_of(op, Role::extra, number) != nullptr};
    for (size_t d = 0; d < of_slices.size(); ++d) groups.join(at(slices, of_slices[d]), at(extra, static_cast<int64_t>(d)));
  }
}

/// The positions of a look-up are the scatter's; a window that is open is a whole dim of the table.
void join_lookup(const LookupTensors& lookup, const AccessDims& scatter, Groups& groups) {
  const auto add = [&](Place place, TensorType& type) {
    for (size_t d = 0; d < type.dims.size(); ++d) groups.add(at(place, static_cast<int64_t>(d)), &type.dims[d]);
  };
  add(lookup.table, lookup.gather.operand);
  for (size_t t = 0; t < index_tensors(lookup.gather).size(); ++t) {
    const Place indices{Role::indices, lookup.indices.index + static_cast<int>(t), 0};
    add(indices, t == 0 ? lookup.gather.indices : lookup.gather.more_indices[t - 1]);
    for (size_t p = 0; p < scatter.positions.size(); ++p)
      groups.join(at({Role::indices, 0, 0}, scatter.positions[p].indices_dim), at(indices, lookup.dims.positions[p].indices_dim));
  }
  for (const AccessDims::Position& position : lookup.dims.positions)
    if (position.operand_dim >= 0) groups.join(at(lookup.table, position.operand_dim), at(lookup.indices, position.indices_dim));
  for (size_t d = 0; d < lookup.dims.operand.size(); ++d)
    if (const AccessDims::OperandDim& dim = lookup.dims.operand[d]; dim.slices_dim >= 0 && dim.window == kDynamic)
      groups.join(at(lookup.made, dim.slices_dim), at(lookup.table, static_cast<int64_t>(d)));
}

Groups groups_of(const Op& op, const Tensors& tensors, const AccessDims& dims, const std::vector<LookupTensors>& lookups) {
  Groups groups;
  for (const auto& [place, type] : tensors.all)
    for (size_t d = 0; d < type->dims.size(); ++d) groups.add(at(place, static_cast<int64_t>(d)), &type->dims[d]);
  const Place table{tensors.table, 0, 0}, indices{Role::indices, 0, 0};
  for (const auto& [place, type] : tensors.all) {
    const bool is_table = place.role == tensors.table || (is_scatter(op) && place.role == Role::operand);
    const bool is_slices = place.role == tensors.slices.role;
    if (!is_table && !is_slices && place.role != Role::indices) continue;
    for (int64_t d = 0; d < static_cast<int64_t>(type->dims.size()); ++d)
      groups.join(at(is_table ? table : is_slices ? tensors.slices : indices, d), at(place, d));
  }
  for (const AccessDims::Position& position : dims.positions) {
    groups.join(at(indices, position.indices_dim), at(tensors.slices, position.slices_dim));
    if (position.operand_dim >= 0) groups.join(at(table, position.operand_dim), at(indices, position.indices_dim));
  }
  join_extras(op, dims, tensors.slices, groups);
  for (const LookupTensors& lookup : lookups) join_lookup(lookup, dims, groups);
  return groups;
}

OpenDimKind kind_of(const AccessDims::OperandDim& dim) {
  if (dim.kind == OperandDimKind::batching) return OpenDimKind::batching;
  return dim.component >= 0 ? OpenDimKind::indexed : OpenDimKind::whole;
}

/// Sets kind and source. The op's own table decides before windows, and these before the tables of look-ups.
void set_kind(OpenDim& open, const std::vector<std::pair<Place, int64_t*>>& group, const Tensors& tensors, const AccessDims& dims,
              const std::vector<LookupTensors>& lookups) {
  const auto member = [&](Place tensor) {
    const auto found = std::find_if(group.begin(), group.end(), [&](const auto& each) { return at(each.first, 0) == tensor; });
    return found == group.end() ? -1 : found->first.dim;
  };
  if (const int d = member({tensors.table, 0, 0}); d >= 0) {
    open.kind = kind_of(dims.operand[static_cast<size_t>(d)]);
    return;
  }
  if (const int d = member(tensors.slices); d >= 0) {
    const int64_t of_table = dims.slices[static_cast<size_t>(d)].operand_dim;
    if (of_table >= 0) {
      open.kind = dims.operand[static_cast<size_t>(of_table)].component >= 0 ? OpenDimKind::window : OpenDimKind::whole;
      return;
    }
  }
  for (size_t l = 0; l < lookups.size(); ++l)
    if (const int d = member(lookups[l].table); d >= 0) {
      open.kind = kind_of(lookups[l].dims.operand[static_cast<size_t>(d)]);
      open.source = l + 1;
      return;
    }
}

}  // namespace

Expected<std::vector<OpenDim>> open_dims(Op& op, const VerifiedOp& verified) {
  const Tensors tensors = tensors_of(op);
  const AccessDims dims(op);
  const std::vector<LookupTensors> lookups = lookups_in(op);
  const Groups groups = groups_of(op, tensors, dims, lookups);
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
    set_kind(open, group, tensors, dims, lookups);
    for (const auto& [place, extent] : group) {
      open.extents.push_back(extent);
      for (size_t s = 0; s < plan.symbols.size(); ++s) {
        const Symbol& symbol = plan.symbols[s];
        const bool is_it = Place{symbol.role, symbol.index, symbol.dim} == place;
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
