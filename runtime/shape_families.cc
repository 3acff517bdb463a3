// See shape_families.h. Each extent of an op belongs to a class: those of windows, and counts, which are all others. A dim of the operand
// counts as a window's where the window covers it, because the two change together.
#include "runtime/shape_families.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {
namespace {

/// Visits the extents of an access, which is a scatter, a gather or a look-up.
template <class Visit>
class AccessExtents {
 public:
  AccessExtents(AccessDims dims, FamilyKind kind, Visit& visit) : dims_(std::move(dims)), kind_(kind), visit_(visit) {}

  void operand(TensorType& type) const {
    for (size_t d = 0; d < type.dims.size(); ++d) {
      const AccessDims::OperandDim& dim = dims_.operand[d];
      extent(dim.kind == OperandDimKind::window && dim.window == type.dims[d], type.dims[d]);
    }
    strides(type);
  }
  void slices(TensorType& type) const {
    for (size_t d = 0; d < type.dims.size(); ++d) extent(dims_.slices[d].operand_dim >= 0, type.dims[d]);
    strides(type);
  }
  void indices(TensorType& type) const {
    for (size_t d = 0; d < type.dims.size(); ++d)
      if (static_cast<int64_t>(d) != dims_.index_vector_dim) extent(false, type.dims[d]);
    strides(type);
  }
  void extras(std::vector<Extra>& all) const {
    for (Extra& extra : all) {
      if (extra.kind == ExtraKind::per_element) {
        slices(extra.type);
        continue;
      }
      for (int64_t& value : extra.type.dims) extent(extra.kind == ExtraKind::per_window, value);
      strides(extra.type);
    }
  }
  void gather(Gather& gather) const {
    operand(gather.operand);
    rest(gather);
  }
  /// A look-up's table stays static where it has to be: in dims of which coordinate 0 or a part is read (compiler/op/verify_lookups.cc).
  void look_up(Gather& gather) const {
    TensorType& table = gather.operand;
    for (size_t d = 0; d < table.dims.size(); ++d) {
      const AccessDims::OperandDim& dim = dims_.operand[d];
      const bool is_window = dim.kind == OperandDimKind::window, is_whole = is_window && dim.window == table.dims[d];
      if (!dims_.is_fixed(static_cast<int64_t>(d)) && is_window == is_whole) extent(is_whole, table.dims[d]);
    }
    strides(table);
    rest(gather);
  }

 private:
  void rest(Gather& gather) const {
    indices(gather.indices);
    for (TensorType& type : gather.more_indices) indices(type);
    slices(gather.result);
    extras(gather.extras);
    for (size_t d = 0; d < gather.slice_sizes.size(); ++d)
      if (dims_.operand[d].kind == OperandDimKind::window) extent(true, gather.slice_sizes[d]);
  }
  void extent(bool is_window, int64_t& value) const {
    if (kind_ != (is_window ? FamilyKind::counts : FamilyKind::windows)) visit_(value);
  }
  void strides(TensorType& type) const {
    for (int64_t& stride : type.strides) visit_(stride);
  }

  const AccessDims dims_;  ///< from before the visitor changes extents
  const FamilyKind kind_;
  Visit& visit_;
};

/// Calls visit(extent) for each extent of the kind's classes, and for each stride, in a fixed order. Those that are open are among them: ops that differ in what is open
/// belong to one family, and their lists of extents have the same length. What a look-up makes has the extents of the tensor
/// that it stands for, so both are opened by the same requests.
template <class Visit>
void for_each_extent(Op& op, FamilyKind kind, Visit visit) {
  if (auto* const gather = std::get_if<Gather>(&op)) return AccessExtents(AccessDims(*gather), kind, visit).gather(*gather);
  auto& scatter = std::get<Scatter>(op);
  const AccessExtents of(AccessDims(scatter), kind, visit);
  for (TensorType& type : scatter.operands) of.operand(type);
  for (TensorType& type : scatter.results) of.operand(type);
  of.indices(scatter.indices);
  for (TensorType& type : scatter.more_indices) of.indices(type);
  for (TensorType& type : scatter.updates) of.slices(type);
  of.extras(scatter.extras);
  for (Lookup& lookup : scatter.lookups) AccessExtents(AccessDims(lookup.gather), kind, visit).look_up(lookup.gather);
}

/// The op with those extents of the kind open that vary.
Op open_some(const Op& op, FamilyKind kind, const std::vector<bool>& varies) {
  Op out = op;
  size_t number = 0;
  for_each_extent(out, kind, [&](int64_t& value) {
    if (varies[number++]) value = kDynamic;
  });
  return out;
}

bool fits(const std::vector<int64_t>& fixed, const std::vector<bool>& varies, const std::vector<int64_t>& extents) {
  for (size_t i = 0; i < fixed.size(); ++i)
    if (!varies[i] && fixed[i] != extents[i]) return false;
  return true;
}

/// Is there nothing that could be opened?
bool is_open(const std::vector<int64_t>& extents) {
  return std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent == kDynamic; });
}

/// How many requests of a family get kernels of their own.
int exact_kernels(FamilyKind kind, int exact) {
  constexpr int kBoth = 4;
  return kind == FamilyKind::both ? kBoth * exact : exact;
}

/// Ok, or why requests like this one have kernels of their own.
Status may_share(const Op& op, const KernelOptions& options, int exact) {
  if (exact == 0) return unsupported("exact_shapes is 0");
  if (options.backend != BackendChoice::automatic) return unsupported("the request names a backend");
  if (options.schedule != ScheduleOverrides{}) return unsupported("the request names a schedule");
  const auto* const scatter = std::get_if<Scatter>(&op);
  // The schedule may decide the bits of such a sum, and it must not depend on what was asked for before.
  if (scatter != nullptr && scatter->order == Order::relaxed) return unsupported("order is relaxed");
  return {};
}

}  // namespace

Op open_extents(const Op& op, FamilyKind kind, std::vector<int64_t>* extents) {
  Op out = op;
  for_each_extent(out, kind, [&](int64_t& value) {
    if (extents != nullptr) extents->push_back(value);
    value = kDynamic;
  });
  return out;
}

/// Adds a request to a family whose general kernel, if there is one, does not serve it.
std::shared_ptr<ShapeFamilies::General> ShapeFamilies::join(FamilyKind kind, Family& family, const PreparedOp& op,
                                                            std::vector<int64_t> extents) const {
  if (family.general != nullptr && family.general->is_refused) return nullptr;
  if (std::find(family.exact.begin(), family.exact.end(), extents) != family.exact.end()) return nullptr;
  if (family.exact.size() < static_cast<size_t>(exact_kernels(kind, exact_))) {
    family.exact.push_back(std::move(extents));
    return nullptr;
  }
  std::vector<bool> varies = family.varies;
  varies.resize(extents.size(), false);
  for (const std::vector<int64_t>& other : family.exact)
    for (size_t i = 0; i < extents.size(); ++i) varies[i] = varies[i] || other[i] != extents[i];
  if (family.general != nullptr)
    for (size_t i = 0; i < extents.size(); ++i) varies[i] = varies[i] || family.fixed[i] != extents[i];
  // An op with open extents obeys fewer constraints than one without, so it verifies; but not where a look-up reads parts of dims as its windows, which
  // may not be open: such requests keep kernels of their own.
  Expected<PreparedOp> general = PreparedOp::of(open_some(*op.op(), kind, varies), op.options());
  if (!general.ok()) return nullptr;
  family.general = std::make_shared<General>(*std::move(general));
  family.varies = std::move(varies);
  family.fixed = std::move(extents);
  family.exact.clear();
  return family.general;
}

std::shared_ptr<ShapeFamilies::General> ShapeFamilies::note(const PreparedOp& op) {
  const KernelOptions& options = op.options();
  if (!may_share(*op.op(), options, exact_).ok()) return nullptr;
  std::array<std::vector<int64_t>, kFamilyKinds.size()> extents;
  std::array<Hash128, kFamilyKinds.size()> keys;
  for (size_t k = 0; k < kFamilyKinds.size(); ++k)
    keys[k] = kernel_key(open_extents(*op.op(), kFamilyKinds[k], &extents[k]), options).hash;
  const std::lock_guard lock(mutex_);
  for (size_t k = 0; k < kFamilyKinds.size(); ++k) {
    const auto found = families_[k].find(keys[k]);
    if (found == families_[k].end() || found->second.general == nullptr || found->second.general->is_refused) continue;
    if (is_open(extents[k])) continue;
    if (fits(found->second.fixed, found->second.varies, extents[k])) return found->second.general;
  }
  for (size_t k = 0; k < kFamilyKinds.size(); ++k) {
    if (is_open(extents[k])) continue;
    if (families_[k].size() >= kMostFamilies) families_[k].clear();
    if (auto general = join(kFamilyKinds[k], families_[k][keys[k]], op, std::move(extents[k]))) return general;
  }
  return nullptr;
}

std::vector<PreparedOp> possible_generals(const PreparedOp& op, int exact) {
  constexpr size_t kMostCombined = 4;
  std::vector<PreparedOp> out;
  if (!may_share(*op.op(), op.options(), exact).ok()) return out;
  std::set<std::string> known;
  for (const FamilyKind kind : kFamilyKinds) {
    std::vector<int64_t> extents;
    open_extents(*op.op(), kind, &extents);
    std::vector<int64_t> values = extents;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::erase(values, kDynamic);
    const auto add = [&](const std::function<bool(size_t)>& opens) {
      std::vector<bool> varies;
      for (const int64_t extent : extents)
        varies.push_back(extent != kDynamic &&
                         opens(static_cast<size_t>(std::lower_bound(values.begin(), values.end(), extent) - values.begin())));
      Expected<PreparedOp> general = PreparedOp::of(open_some(*op.op(), kind, varies), op.options());
      if (general.ok() && known.insert(print(*general->op())).second) out.push_back(*std::move(general));
    };
    if (values.size() <= kMostCombined) {
      for (size_t set = 1; set < size_t{1} << values.size(); ++set) add([&](size_t v) { return ((set >> v) & 1) != 0; });
      continue;
    }
    for (size_t only = 0; only < values.size(); ++only) add([&](size_t v) { return v == only; });
    add([](size_t) { return true; });
  }
  return out;
}

Expected<std::vector<Sharing>> explain_sharing(const Op& op, const KernelOptions& options, int exact) {
  STREW_TRY(may_share(op, options, exact));
  std::vector<Sharing> out;
  for (const FamilyKind kind : kFamilyKinds) {
    std::vector<int64_t> extents;
    std::string text = print(open_extents(op, kind, &extents));
    if (!is_open(extents) && (out.empty() || out.back().op != text))
      out.push_back({kind, exact_kernels(kind, exact), std::move(text)});
  }
  return out;
}

void ShapeFamilies::clear() {
  const std::lock_guard lock(mutex_);
  for (auto& families : families_) families.clear();
}

}  // namespace strew::inline v0
