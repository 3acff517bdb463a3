// See descriptor.h. Builder fills a strew_kernel and the arrays that it points to; Writer lays them out as an image;
// Shapes collects the tensors and the constraints between their dims. The constraints are those rules of verify() that
// concern open dims: dims whose extent is known only at a call. verify() has checked the rules between two static dims.
// Tested by tests/unit/runtime/call/descriptor_test.cc, and by every test that binds arguments.
#include "backends/descriptor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>

#include "backends/arithmetic.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "compiler/op/slot_name.h"
#include "compiler/rewrite/split_wide.h"
#include "schedules/entries.h"
#include "schedules/stores.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

/// Appends arrays, texts and pointers to an image. Places are offsets, because the bytes move when the image grows.
class Writer {
 public:
  Writer() { image_.bytes.resize(sizeof(strew_kernel)); }

  /// Appends a list and returns its offset. `used`: the bytes of an element before the padding at its end. The padding
  /// is zero in the image, so that every build of a kernel gives the same bytes.
  template <class T, size_t used = sizeof(T)>
  uint32_t add(std::span<const T> list) {
    static_assert(std::is_trivially_copyable_v<T> && (std::has_unique_object_representations_v<T> || used < sizeof(T)));
    while (image_.bytes.size() % alignof(std::max_align_t) != 0) image_.bytes.push_back(0);
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    const char* const from = reinterpret_cast<const char*>(list.data());
    image_.bytes.insert(image_.bytes.end(), from, from + list.size_bytes());
    for (size_t end = at + used; used < sizeof(T) && end < image_.bytes.size(); end += sizeof(T))
      std::memset(image_.bytes.data() + end, 0, sizeof(T) - used);
    return at;
  }
  template <class T>
  void array(size_t field, const std::vector<T>& list) {
    if (!list.empty()) point(field, add(std::span<const T>(list)));
  }
  void text(size_t field, std::string_view text) {
    const std::string ended(text);
    point(field, add(std::span<const char>(ended.c_str(), ended.size() + 1)));
  }
  void point(size_t field, uint32_t to) { image_.pointers.push_back({static_cast<uint32_t>(field), to}); }
  void external(size_t field, std::string symbol) {
    image_.externals.push_back({static_cast<uint32_t>(field), std::move(symbol)});
  }
  DescriptorImage finish(const strew_kernel& kernel) {
    std::memcpy(image_.bytes.data(), &kernel, sizeof kernel);
    return std::move(image_);
  }

 private:
  DescriptorImage image_;
};

/// The tensors that a call binds, with their types, and the constraints between their dims.
class Shapes {
 public:
  explicit Shapes(const VerifiedOp& op) : op_(op), slots_(tensor_slots(op)), dims_(op.access()) {
    for (const TensorSlot& slot : slots_) types_.push_back(*slot.type);
    for (const Lookup& lookup : lookups_of(op)) lookup_access_.emplace_back(lookup.gather);
    if (const auto* s = std::get_if<Scatter>(&*op)) {
      follow_operands(*s);
      if (!s->lookups.empty()) follow_made(*s);
      constrain(*s);
    } else {
      follow_slice_sizes();
      constrain(std::get<Gather>(*op));
    }
  }
  const std::vector<TensorSlot>& slots() const { return slots_; }
  /// Of an index source.
  const AccessDims& access(size_t source) const { return source == 0 ? dims_ : lookup_access_[source - 1]; }
  /// The tensor's type, in which open extents that follow from the op are filled in.
  const TensorType& type(size_t tensor) const { return types_[tensor]; }
  const std::vector<strew_constraint>& constraints() const { return constraints_; }
  const std::vector<std::string>& labels() const { return labels_; }
  uint32_t find(Role role, int index = 0) const {
    for (uint32_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].role == role && slots_[i].index == index) return i;
    return static_cast<uint32_t>(slots_.size());
  }

 private:
  bool is_looked_up(Role role, int index) const { return lookup_of(op_, role, index) != nullptr; }
  /// Is the extent known only at a call?
  bool open(uint32_t tensor, int64_t dim) const { return types_[tensor].dims[static_cast<size_t>(dim)] == kDynamic; }
  int64_t rank(uint32_t tensor) const { return types_[tensor].rank(); }

  void add(const char* label, uint32_t kind, uint32_t tensor, int64_t dim, uint32_t other, int64_t other_dim) {
    constraints_.push_back({nullptr, kind, tensor, static_cast<uint32_t>(dim), other, static_cast<uint32_t>(other_dim)});
    labels_.emplace_back(label);
  }
  /// Adds a constraint between two dims, unless both are static: verify() has checked those.
  void relate(const char* label, uint32_t kind, uint32_t tensor, int64_t dim, uint32_t other, int64_t other_dim) {
    if (tensor == other && dim == other_dim) return;
    if (open(tensor, dim) || open(other, other_dim)) add(label, kind, tensor, dim, other, other_dim);
  }
  void equal_dims(const char* label, uint32_t tensor, uint32_t other) {
    for (int64_t d = 0; d < rank(tensor); ++d) relate(label, STREW_EQUAL, tensor, d, other, d);
  }
  /// A result with strides, some dims or strides of which are open: the call checks that no two elements share an
  /// address.
  void distinct(const char* label, uint32_t result) {
    const TensorType& type = types_[result];
    if (type.strides.empty() || (is_static(type.dims) && is_static(type.strides))) return;
    add(label, dims_.repeats_along_window(type) ? STREW_DISTINCT_ROWS : STREW_DISTINCT, result, 0, result, 0);
  }

  /// An operand that has no buffer of its own (init fill or in place) has its result's dims, so the static dims of its
  /// type hold for the result.
  void follow_operands(const Scatter& s) {
    if (s.init == InitKind::copy) return;
    for (size_t i = 0; i < s.results.size(); ++i) {
      TensorType& result = types_[i];
      for (size_t d = 0; d < result.dims.size(); ++d)
        if (result.dims[d] == kDynamic) result.dims[d] = s.operands[i].dims[d];
    }
  }
  /// Where a look-up says how long windows are, open extents of what has windows, too, are that.
  void follow_made(const Scatter& s) {
    for (const int64_t d : dims_.window) {
      const auto of_slices = static_cast<size_t>(dims_.operand[static_cast<size_t>(d)].slices_dim);
      int64_t known = kDynamic;
      for (const TensorType& type : s.updates) unify(known, type.dims[of_slices]);
      if (known == kDynamic) continue;
      const auto follow = [&](Role role, int index, size_t dim) {
        if (is_looked_up(role, index)) return;
        int64_t& extent = types_[find(role, index)].dims[dim];
        if (extent == kDynamic) extent = known;
      };
      const auto w = static_cast<size_t>(std::ranges::find(dims_.window, d) - dims_.window.begin());
      for (size_t i = 0; i < s.updates.size(); ++i) follow(Role::updates, static_cast<int>(i), of_slices);
      for (size_t i = 0; i < s.extras.size(); ++i) {
        if (s.extras[i].kind == ExtraKind::per_element) follow(Role::extra, static_cast<int>(i), of_slices);
        if (s.extras[i].kind == ExtraKind::per_window) follow(Role::extra, static_cast<int>(i), w);
      }
    }
  }
  /// An open window dim of a gather's result has the slice size as its extent.
  void follow_slice_sizes() {
    for (const int64_t d : dims_.window) {
      const AccessDims::OperandDim& dim = dims_.operand[static_cast<size_t>(d)];
      int64_t& extent = types_[0].dims[static_cast<size_t>(dim.slices_dim)];
      if (extent == kDynamic) extent = dim.window;
    }
  }

  /// A dim of a tensor of the call.
  struct Dim {
    uint32_t tensor = 0;
    int64_t dim = 0;
  };
  /// A dim that has the extent of window dim w: of the slices or, where all of these are looked up, of the first table. Nothing: the extent is known, and
  /// the table's dim may be longer.
  std::optional<Dim> window_dim(size_t w) const {
    if (slices_ < slots_.size()) return Dim{slices_, dims_.slices_dim(w)};
    const Dim of_table{find(Role::updates), lookup_access_.front().window[w]};
    const int64_t window = lookup_access_.front().operand[static_cast<size_t>(of_table.dim)].window;
    if (types_[of_table.tensor].dims[static_cast<size_t>(of_table.dim)] != window) return std::nullopt;
    return of_table;
  }
  void relate(const char* label, uint32_t kind, uint32_t tensor, int64_t dim, const std::optional<Dim>& other) {
    if (other) relate(label, kind, tensor, dim, other->tensor, other->dim);
  }

  void constrain_extras(const char* label, const std::vector<Extra>& extras) {
    const uint32_t indices = find(Role::indices);
    for (size_t i = 0; i < extras.size(); ++i) {
      if (is_looked_up(Role::extra, static_cast<int>(i))) continue;
      const uint32_t extra = find(Role::extra, static_cast<int>(i));
      if (extras[i].kind == ExtraKind::per_element) constrain_slices(label, extra);
      for (size_t p = 0; extras[i].kind == ExtraKind::per_position && p < dims_.positions.size(); ++p)
        relate(label, STREW_EQUAL, extra, static_cast<int64_t>(p), indices, dims_.positions[p].indices_dim);
      for (size_t w = 0; extras[i].kind == ExtraKind::per_window && w < dims_.window.size(); ++w)
        relate(label, STREW_EQUAL, extra, static_cast<int64_t>(w), window_dim(w));
    }
  }
  /// A tensor has the dims of the slices.
  void constrain_slices(const char* label, uint32_t tensor) {
    if (slices_ < slots_.size()) return equal_dims(label, tensor, slices_);
    constrain_positions(label, tensor);
    for (size_t w = 0; w < dims_.window.size(); ++w) relate(label, STREW_EQUAL, tensor, dims_.slices_dim(w), window_dim(w));
  }
  void constrain_positions(const char* label, uint32_t slices) {
    for (const AccessDims::Position& position : dims_.positions)
      relate(label, STREW_EQUAL, slices, position.slices_dim, find(Role::indices), position.indices_dim);
  }
  void constrain_batching(const char* label, const AccessDims& access, uint32_t indices, uint32_t base) {
    for (size_t d = 0; d < access.operand.size(); ++d)
      if (access.operand[d].kind == OperandDimKind::batching)
        relate(label, STREW_AT_MOST, indices, access.operand[d].indices_dim, base, static_cast<int64_t>(d));
  }

  /// The index tensors of a source, of which the first has number `first`, have the same dims.
  void constrain_indices(int first, size_t more) {
    for (size_t i = 1; i <= more; ++i)
      equal_dims("index_tensors", find(Role::indices, first + static_cast<int>(i)), find(Role::indices, first));
  }

  /// Positions of a look-up are those of the scatter, and so are windows: one that is open is a whole dim of the table.
  void constrain_lookups(const Scatter& s) {
    for (size_t l = 0; l < s.lookups.size(); ++l) {
      const AccessDims& access = lookup_access_[l];
      const int first = first_indices(op_, l + 1);
      const uint32_t table = find(s.lookups[l].of, s.lookups[l].index), indices = find(Role::indices, first);
      for (size_t p = 0; p < access.positions.size(); ++p)
        relate("lookup_dims", STREW_EQUAL, indices, access.positions[p].indices_dim, find(Role::indices),
               dims_.positions[p].indices_dim);
      constrain_indices(first, s.lookups[l].gather.more_indices.size());
      for (size_t w = 0; w < access.window.size(); ++w)
        if (access.operand[static_cast<size_t>(access.window[w])].window == kDynamic)
          relate("lookup_dims", STREW_EQUAL, table, access.window[w], window_dim(w));
      constrain_batching("gather_c17", access, indices, table);
    }
  }

  void constrain(const Scatter& s) {
    const auto n = static_cast<int>(s.results.size());
    int bound = 0;  // the first updates that are not looked up
    while (bound < n && is_looked_up(Role::updates, bound)) ++bound;
    if (bound < n) slices_ = find(Role::updates, bound);
    for (int i = 0; i < n; ++i) {
      const uint32_t result = find(Role::result, i);
      if (i > 0) equal_dims("scatter_c1", result, 0);
      if (i > bound && !is_looked_up(Role::updates, i)) equal_dims("scatter_c3", find(Role::updates, i), slices_);
      if (s.init == InitKind::copy) equal_dims("scatter_c24", find(Role::operand, i), result);
      distinct("op_result_strides", result);
    }
    constrain_indices(0, s.more_indices.size());
    constrain_batching("scatter_c18", dims_, find(Role::indices), 0);
    if (bound < n) constrain_positions("scatter_c4", slices_);
    for (size_t w = 0; w < dims_.window.size(); ++w)
      if (const std::optional<Dim> window = window_dim(w))
        relate("scatter_c4", STREW_AT_MOST, window->tensor, window->dim, 0, dims_.window[w]);
    for (int64_t d = 0; d < rank(0); ++d)
      if (dims_.is_fixed(d) && open(0, d)) add("scatter_empty", STREW_NOT_EMPTY, 0, d, slices_ < slots_.size() ? slices_ : 0, 0);
    constrain_extras("scatter_extras", s.extras);
    constrain_lookups(s);
  }

  void constrain(const Gather& g) {
    const uint32_t operand = find(Role::operand);
    distinct("op_result_strides", 0);
    constrain_indices(0, g.more_indices.size());
    constrain_batching("gather_c17", dims_, find(Role::indices), operand);
    constrain_positions("gather_c22", 0);
    // Policies that are defined even for a gather from an operand without elements, if an index is out of bounds in the
    // empty dim; otherwise the operand's dim must not be empty.
    const bool answers = is_fill(g.oob) || g.oob == OobPolicy::error;
    for (int64_t d = 0; d < rank(operand); ++d) {
      const AccessDims::OperandDim& dim = dims_.operand[static_cast<size_t>(d)];
      const bool allows_empty = answers && !dims_.is_fixed(d);
      if (dims_.in_window(d)) {
        relate("gather_c21", STREW_AT_MOST, 0, dim.slices_dim, operand, d);
      } else if (dim.window == 0) {
        if (allows_empty && open(operand, d)) add("gather_empty", STREW_EMPTY, operand, d, 0, 0);
        if (!allows_empty) add("gather_empty", STREW_NOTHING, 0, 0, operand, d);
      } else if (open(operand, d) && !allows_empty) {
        add("gather_empty", STREW_NOT_EMPTY, operand, d, 0, 0);
      }
    }
    slices_ = 0;
    constrain_extras("gather_extras", g.extras);
  }

  const Op& op_;
  std::vector<TensorSlot> slots_;
  const AccessDims& dims_;
  std::vector<AccessDims> lookup_access_;
  std::vector<TensorType> types_;
  uint32_t slices_ =
      std::numeric_limits<uint32_t>::max();  ///< the tensor that has the dims of the slices; none: all updates are looked up
  std::vector<strew_constraint> constraints_;
  std::vector<std::string> labels_;
};

class Builder {
 public:
  explicit Builder(const DescriptorRequest& request)
      : r_(request), plan_(request.plan), shapes_(request.op), scatter_(std::get_if<Scatter>(&*request.op)) {
    std::memset(&k_, 0, sizeof k_);  // padding is zero, too
  }

  DescriptorImage run() {
    k_.abi = STREW_ABI_VERSION;
    k_.size = sizeof k_;
    out_.text(offsetof(strew_kernel, name), r_.symbol);
    out_.text(offsetof(strew_kernel, identity), r_.identity);
    out_.text(offsetof(strew_kernel, features), r_.features);
    out_.text(offsetof(strew_kernel, target), r_.target);
    out_.text(offsetof(strew_kernel, schedule), print(r_.schedule));
    out_.text(offsetof(strew_kernel, backend), r_.backend);
    add_tensors();
    add_constraints();
    add_init_kind();
    k_.strategy = static_cast<uint8_t>(r_.schedule.strategy);
    k_.strategies = strategies_of(plan_, r_.schedule);
    k_.adapts = static_cast<uint8_t>(r_.schedule.adapts && !r_.schedule.checked);
    k_.streams = static_cast<uint8_t>(r_.has_entries && chooses_stores(plan_, r_.schedule) && r_.schedule.nontemporal);
    k_.tables = static_cast<uint32_t>(r_.schedule.tables);
    k_.scratch_mib = static_cast<uint32_t>(r_.schedule.scratch_mib);
    if (!plan_.tensors.empty()) {
      add_symbols();
      add_sources();
      add_work();
      add_cuts();
      add_private();
    }
    if (r_.has_entries) add_entries();
    if (r_.has_entries && r_.has_program) out_.external(offsetof(strew_kernel, program), r_.symbol + kProgramSuffix);
    add_parts();
    k_.factor_count = static_cast<uint32_t>(factors_.size());
    out_.array(offsetof(strew_kernel, factors), factors_);
    return out_.finish(k_);
  }

 private:
  void add_entries() {
    for (const EntryKind kind : entries_of(plan_, r_.schedule))
      out_.external(offsetof(strew_kernel, entries) + static_cast<size_t>(kind) * sizeof(strew_entry),
                    r_.symbol + "_" + std::string(name(kind)));
  }

  strew_term term(const Term& term) {
    strew_term out{term.factor, static_cast<uint32_t>(factors_.size()), static_cast<uint32_t>(term.symbols.size())};
    for (const int symbol : term.symbols) factors_.push_back(static_cast<uint32_t>(symbol));
    return out;
  }
  Term product(const std::vector<Loop>& loops, size_t from = 0) const {
    Term out = constant(1);
    for (size_t i = from; i < loops.size(); ++i) out = out * loops[i].extent;
    return out;
  }

  /// The tensor's place in strew_args.data: results, operands, the first index tensor, updates, extras, the other index tensors, with a place even for
  /// operands that are not bound.
  uint32_t data_index(const TensorSlot& slot) const {
    const int pairs = scatter_ != nullptr ? static_cast<int>(scatter_->operands.size()) : 1;
    const int extras_at = scatter_ != nullptr ? 3 * pairs + 1 : 3;
    const auto extras = static_cast<int>(extras_of(r_.op).size());
    switch (slot.role) {
      case Role::result:
        return static_cast<uint32_t>(slot.index);
      case Role::operand:
        return static_cast<uint32_t>(pairs + slot.index);
      case Role::indices:
        return static_cast<uint32_t>(slot.index == 0 ? 2 * pairs : extras_at + extras + slot.index - 1);
      case Role::updates:
        return static_cast<uint32_t>(2 * pairs + 1 + slot.index);
      case Role::extra:
        break;
    }
    return static_cast<uint32_t>(extras_at + slot.index);
  }

  void add_tensors() {
    const std::vector<TensorSlot>& slots = shapes_.slots();
    const bool copies = scatter_ != nullptr && scatter_->init == InitKind::copy;
    const size_t pairs = scatter_ != nullptr ? scatter_->operands.size() : 1;
    std::vector<strew_tensor_rule> rules(slots.size());
    for (size_t i = 0; i < slots.size(); ++i) {
      const TensorSlot& slot = slots[i];
      const TensorType& type = shapes_.type(i);
      strew_tensor_rule& rule = rules[i];
      rule.dtype = static_cast<uint8_t>(type.dtype);
      rule.role = static_cast<uint8_t>(slot.role);
      rule.is_open = !is_static(type.dims) || !is_static(type.strides);
      rule.bits = static_cast<uint8_t>(bits(type.dtype));
      rule.rank = static_cast<uint32_t>(type.dims.size());
      rule.data = data_index(slot);
      rule.may_be = copies && slot.role == Role::result ? static_cast<int32_t>(pairs + i) : -1;
      rule.result_kind = slot.role == Role::result && plan_.per_row ? STREW_PER_ROW : STREW_PER_ELEMENT;
      rule.source = plan_.tensors.empty() ? -1 : plan_.tensors[rule.data].source;
      k_.result_count += slot.role == Role::result;
      k_.packs_results |= static_cast<uint8_t>(slot.role == Role::result && bits(type.dtype) < 8);
    }
    k_.tensor_count = static_cast<uint32_t>(slots.size());
    for (const TensorSlot& slot : slots) k_.data_count = std::max(k_.data_count, data_index(slot) + 1);
    const uint32_t at = out_.add(std::span<const strew_tensor_rule>(rules));
    out_.point(offsetof(strew_kernel, tensors), at);
    for (size_t i = 0; i < slots.size(); ++i) {
      const size_t rule = at + i * sizeof(strew_tensor_rule);
      out_.text(rule + offsetof(strew_tensor_rule, name), slot_name(slots[i].role, slots[i].index));
      out_.text(rule + offsetof(strew_tensor_rule, dtype_name), name(shapes_.type(i).dtype));
      out_.array(rule + offsetof(strew_tensor_rule, dims), shapes_.type(i).dims);
      out_.array(rule + offsetof(strew_tensor_rule, strides), shapes_.type(i).strides);
    }
  }

  void add_constraints() {
    const std::vector<strew_constraint>& list = shapes_.constraints();
    k_.constraint_count = static_cast<uint32_t>(list.size());
    if (list.empty()) return;
    constexpr size_t kUsed = offsetof(strew_constraint, other_dim) + sizeof(strew_constraint::other_dim);
    const uint32_t at = out_.add<strew_constraint, kUsed>(list);
    out_.point(offsetof(strew_kernel, constraints), at);
    for (size_t i = 0; i < list.size(); ++i)
      out_.text(at + i * sizeof(strew_constraint) + offsetof(strew_constraint, label), shapes_.labels()[i]);
  }

  void add_symbols() {
    std::vector<strew_symbol> list;
    for (const Symbol& symbol : plan_.symbols) {
      // A symbol of an operand that is not bound is read from its result, which has the same dims.
      uint32_t tensor = shapes_.find(symbol.role, symbol.index);
      if (tensor == shapes_.slots().size()) tensor = shapes_.find(Role::result, symbol.index);
      list.push_back({tensor, static_cast<uint32_t>(symbol.dim), symbol.is_stride ? 1u : 0u});
    }
    k_.symbol_count = static_cast<uint32_t>(list.size());
    out_.array(offsetof(strew_kernel, symbols), list);
  }

  void add_init_kind() {
    const InitKind init = scatter_ != nullptr ? scatter_->init : InitKind::in_place;
    k_.init_kind = init == InitKind::copy ? STREW_COPY : init == InitKind::fill ? STREW_FILL : STREW_IN_PLACE;
    k_.is_gather = scatter_ == nullptr;
  }

  void add_sources() {
    std::vector<strew_index_source> list;
    for (size_t s = 0; s < plan_.sources.size(); ++s) {
      const IndexSource& source = plan_.sources[s];
      strew_index_source& out = list.emplace_back();
      std::memset(&out, 0, sizeof out);
      out.kind = STREW_VECTORS;
      out.policy = static_cast<uint32_t>(source.oob);
      out.table = number_of(
          static_cast<int>(std::ranges::find(plan_.tensors, static_cast<int>(s), &PlanTensor::source) - plan_.tensors.begin()));
      out.checks_first = source.checks_first ? 1 : 0;
      out.positions = term(product(plan_.positions));
      out.repeated_dims = source.repeated_dims;
      out.component_count = static_cast<uint32_t>(source.components.size());
    }
    k_.source_count = static_cast<uint32_t>(list.size());
    const uint32_t at = out_.add(std::span<const strew_index_source>(list));
    out_.point(offsetof(strew_kernel, sources), at);
    for (size_t s = 0; s < list.size(); ++s) {
      std::vector<strew_index_component> components;
      for (const Component& c : plan_.sources[s].components)
        components.push_back({number_of(c.tensor), static_cast<uint32_t>(shapes_.access(s).index_vector_dim),
                              static_cast<uint32_t>(c.operand_dim), c.normalize_negative ? 1U : 0U});
      out_.array(at + s * sizeof(strew_index_source) + offsetof(strew_index_source, components), components);
    }
  }
  /// The number among the tensors of a call of plan tensor t, which is bound.
  uint32_t number_of(int t) const {
    const PlanTensor& tensor = plan_.tensors[static_cast<size_t>(t)];
    return shapes_.find(tensor.role, tensor.index);
  }

  void add_work() {
    k_.positions = term(product(plan_.positions));
    k_.window = term(product(plan_.window));
    k_.splits = term(columns_ == nullptr ? constant(1) : columns_->extent);
    k_.init = term(product(plan_.init));
    k_.computes_floats = !computes_floats(plan_) ? STREW_NO_FLOATS : r_.host_fp ? STREW_HOST_FLOATS : STREW_FLOATS;
    add_covers();
  }
  /// Writes the conditions of overwrites_all() (compiler/plan) that a call has to check.
  void add_covers() {
    if (plan_.gather || !plan_.pure_move || !plan_.unique.holds || !lookups_give_all(plan_)) return;
    const bool applies = plan_.primary().in_bounds.holds || plan_.primary().checks_first;
    if (!applies && plan_.primary().oob != OobPolicy::clamp) return;
    k_.may_overwrite = 1;
    if (applies) return;
    std::vector<strew_cover> covers;
    for (const Component& c : plan_.primary().components) covers.push_back({term(c.window), term(c.dim)});
    k_.cover_count = static_cast<uint32_t>(covers.size());
    out_.array(offsetof(strew_kernel, covers), covers);
  }

  void add_cuts() {
    const auto result = static_cast<size_t>(plan_.result(0));
    const auto none = constant(0);
    k_.position_stride = term(plan_.positions.empty() ? none : plan_.positions.back().strides[result]);
    const bool slabs = !plan_.gather && plan_.kind != PlanKind::slice_update && !plan_.unique.holds && !plan_.positions.empty();
    k_.slab = term(slabs ? product(plan_.positions, slab_loops(plan_)) : none);
    k_.window_stride = term(columns_ == nullptr ? none : columns_->strides[result]);
    const Component* const mover = clip_mover(plan_);
    k_.clip_extent = term(mover != nullptr ? mover->dim : constant(1));
    k_.clip_stride = term(mover != nullptr ? mover->strides[result] : none);
    if (!legal(Strategy::owner, plan_).ok()) return;
    const KeyForm& keys = *plan_.keys;
    k_.key_stride = term(keys.units[0]);
    std::vector<strew_reach> reaches;
    for (size_t l = 0; l < plan_.positions.size(); ++l)
      reaches.push_back({term(plan_.positions[l].extent), term(keys.positions[l])});
    const std::vector<Component>& components = plan_.primary().components;
    for (size_t k = 0; k < components.size(); ++k) reaches.push_back({term(components[k].dim), term(keys.components[k])});
    k_.reach_count = static_cast<uint32_t>(reaches.size());
    out_.array(offsetof(strew_kernel, reaches), reaches);
  }

  void add_private() {
    if ((k_.strategies >> STREW_STRATEGY_private_tables & 1) == 0) return;
    k_.regroups = combines_exactly(plan_);
    std::vector<uint64_t> identities;
    for (int i = 0; i < plan_.pairs; ++i)
      identities.push_back(*identity_bits(combiner_of(plan_, i), plan_.tensors[static_cast<size_t>(plan_.result(i))].dtype));
    out_.array(offsetof(strew_kernel, identities), identities);
  }

  void add_parts() {
    if (r_.parts.empty()) return;
    k_.part_count = static_cast<uint8_t>(r_.parts.size());
    k_.wide_dtype = static_cast<uint8_t>(wide_dtype(scatter_->accumulate));
    k_.widens_touched = r_.widens_touched;
    for (size_t i = 0; i < r_.parts.size(); ++i)
      if (!r_.parts[i].empty()) out_.external(offsetof(strew_kernel, parts) + i * sizeof(const strew_kernel*), r_.parts[i]);
  }

  const DescriptorRequest& r_;
  const Plan& plan_;
  const Loop* const columns_ = column_loop(plan_);
  const Shapes shapes_;
  const Scatter* scatter_;
  strew_kernel k_;
  std::vector<uint32_t> factors_;
  Writer out_;
};

}  // namespace

DescriptorImage make_descriptor(const DescriptorRequest& request) { return Builder(request).run(); }

std::shared_ptr<const strew_kernel> materialise(const DescriptorImage& image,
                                                const std::function<const void*(const std::string&)>& resolve) {
  static constexpr std::align_val_t kAlignment{alignof(std::max_align_t)};
  char* const bytes = static_cast<char*>(::operator new(image.bytes.size(), kAlignment));
  std::memcpy(bytes, image.bytes.data(), image.bytes.size());
  const auto put = [&](uint32_t at, const void* address) { std::memcpy(bytes + at, &address, sizeof address); };
  for (const DescriptorImage::Pointer& pointer : image.pointers) put(pointer.at, bytes + pointer.to);
  for (const DescriptorImage::External& external : image.externals) put(external.at, resolve(external.symbol));
  return {reinterpret_cast<const strew_kernel*>(bytes),
          [](const strew_kernel* kernel) { ::operator delete(const_cast<strew_kernel*>(kernel), kAlignment); }};
}

}  // namespace strew::inline v0
