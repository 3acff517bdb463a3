// make_plan: translates an op's dimension numbers to loops, strides and index components.
//
// It makes a loop per dim of positions and window, with a stride per tensor; shape.h has the extents and strides as
// terms in which equal extents share a symbol. The kind and the facts follow from these loops. Then loops of extent 1
// are dropped, and adjacent loops that are contiguous in every tensor are merged. Cost: a few microseconds. Tested by
// tests/golden/plan_test.cc, and by tests/differential against the reference, which does not use plans.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/component_tensor.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/shape.h"

namespace strew::inline v0 {
namespace {

/// Is every result its update (gather: the gathered element), without a conversion?
bool is_pure_move(const Expr& graph, int pairs, bool gather) {
  if (static_cast<int>(graph.results.size()) != pairs) return false;
  for (int i = 0; i < pairs; ++i) {
    const ExprNode& node = graph.result(static_cast<size_t>(i));
    if (node.op != (gather ? ExprOp::current : ExprOp::update) || node.index != i) return false;
  }
  return true;
}

constexpr int64_t kRepeatedDims = 32;  ///< bits of IndexSource::repeated_dims

class Planner {
 public:
  explicit Planner(const VerifiedOp& op) : op_(op), dims_(op.access()), shape_(op, dims_) {}

  Plan run() {
    describe();
    find_repeated();
    make_positions();
    make_window();
    make_lookups();
    make_components();
    make_init();
    classify();
    simplify(plan_.positions);
    simplify(plan_.window);
    simplify(plan_.init);
    plan_.sources.push_back(std::move(source_));
    std::ranges::move(lookups_, std::back_inserter(plan_.sources));
    plan_.symbols = shape_.symbols();
    if (!plan_.gather) plan_.keys = key_form();
    return std::move(plan_);
  }

 private:
  static bool needs_bounds(OobPolicy oob) {
    return oob == OobPolicy::skip_element || oob == OobPolicy::wrap || oob == OobPolicy::fill_element;
  }
  bool is_repeated(int64_t indices_dim) const {
    return indices_dim < kRepeatedDims && (source_.repeated_dims >> indices_dim & 1) != 0;
  }
  int tensor_count() const { return static_cast<int>(plan_.tensors.size()); }
  Loop empty_loop(Term extent) const {
    Loop loop;
    loop.extent = std::move(extent);
    loop.strides.assign(plan_.tensors.size(), constant(0));
    loop.moves.assign(1 + lookups_of(op_).size(), {.scale = constant(1)});
    return loop;
  }

  /// Which of its dims a loop walks in each tensor; -1: none.
  struct Dims {
    int64_t indexed = -1, slices = -1, indices = -1, per_position = -1, per_window = -1;
  };

  void describe() {
    plan_.gather = !is_scatter(op_);
    source_.oob = oob_of(op_);
    if (const auto* s = std::get_if<Scatter>(&op_)) {
      plan_.pairs = static_cast<int>(s->operands.size());
      plan_.init_kind = s->init;
      plan_.init_fill = s->fill;
      plan_.accumulate = s->accumulate;
      plan_.order = s->order;
    } else {
      source_.fill = std::get<Gather>(op_).fill;
    }
    plan_.tensors = shape_.tensors();
    for (int t = 0; t < tensor_count(); ++t)
      if (plan_.gather ? t == plan_.operand(0) : t < plan_.pairs) plan_.tensors[t].source = 0;
    plan_.combine = combine_graph(op_);
    plan_.pure_move = is_pure_move(plan_.combine, plan_.pairs, plan_.gather);
    const auto* const s = std::get_if<Scatter>(&op_);
    if (s == nullptr) return;
    plan_.per_row = dims_.holds_rows(*s);
    for (const RowReduction& reduction : s->row_reductions) {
      const DType dtype = reduction.value.result().dtype;
      const Scalar initial{dtype, {*identity_bits(reduction.fold, dtype), 0}};
      plan_.locals.push_back({reduction.value, reduction.fold, initial, reduction.lanes});
    }
  }

  /// Where the strides of the indices say that they repeat along a batching dim (torch's i[:, None].expand(-1, n), without a copy), n positions
  /// of one element are one position with a row of n elements. compiler/import/fusion/rows.cc does the same to a file's op, and has the proof that
  /// each element keeps its updates and their order, that every policy judges it as before, and that the first bad index is the one at coordinate
  /// 0. With policy `error` the extent must be known and not 0, since without positions no index would be looked at.
  ///
  /// As there, only the last dims of the operand: a window whose elements do not lie together would be slower than elements. So it is with updates that
  /// lie closer along another dim of the positions, as those of a reduction over the last dim do.
  void find_repeated() {
    if (!lookups_of(op_).empty() || plan_.per_row || !plan_.locals.empty()) return;
    for (int t = 0; t < tensor_count(); ++t)
      if (shape_.shape(t) == Shape::positions) return;
    const bool may_be_open = source_.oob != OobPolicy::error;
    for (size_t d = dims_.operand.size(); d-- > 0;) {
      if (dims_.operand[d].kind == OperandDimKind::window) continue;
      const int64_t p = dims_.operand[d].kind == OperandDimKind::batching ? dims_.operand[d].indices_dim : -1;
      if (p < 0 || p >= kRepeatedDims) return;
      const Term& extent = shape_.indices_dim(p);
      if (extent.is(1)) continue;
      for (int i = 0; i < first_indices(op_, 1); ++i)
        if (!shape_.stride(plan_.indices(i), p).is(0)) return;
      if (!may_be_open && (!extent.is_static() || extent.is(0))) return;
      if (!plan_.gather && updates_lie_closer(p)) return;
      source_.repeated_dims |= uint32_t{1} << p;
    }
  }

  /// Have the updates a shorter stride along a dim of the positions that no batching dim stands for than along dim `p` of the indices?
  bool updates_lie_closer(int64_t p) const {
    const int update = plan_.update(0);
    const Term& own = shape_.stride(update, dims_.slices_dim_of_indices(p));
    return own.is_static() && std::ranges::any_of(dims_.positions, [&](const AccessDims::Position& position) {
             const Term& other = shape_.stride(update, position.slices_dim);
             return position.operand_dim < 0 && !shape_.indices_dim(position.indices_dim).is(1) && other.is_static() &&
                    std::abs(other.factor) < std::abs(own.factor);
           });
  }

  Loop loop_over(const Term& extent, const Dims& dims) const {
    Loop loop = empty_loop(extent);
    const int64_t walked[] = {dims.indexed, dims.indices, dims.slices, dims.per_position, dims.per_window, -1, -1};  // by Shape
    for (int t = 0; t < tensor_count(); ++t) {
      const Shape shape = shape_.shape(t);
      const int64_t d = walked[static_cast<size_t>(shape)];
      if (d < 0 || (shape == Shape::operand && !plan_.is_indexed(t))) continue;
      loop.strides[t] = shape_.stride(t, d);
    }
    return loop;
  }

  void make_positions() {
    for (size_t p = 0; p < dims_.positions.size(); ++p) {
      const AccessDims::Position& position = dims_.positions[p];
      if (is_repeated(position.indices_dim)) continue;
      plan_.positions.push_back(loop_over(shape_.indices_dim(position.indices_dim), {.indexed = position.operand_dim,
                                                                                     .slices = position.slices_dim,
                                                                                     .indices = position.indices_dim,
                                                                                     .per_position = static_cast<int64_t>(p)}));
      if (position.operand_dim < 0 && !plan_.positions.back().extent.is(1)) all_positions_batched_ = false;
    }
  }

  /// The loop over dim window[w] of the operand.
  Loop window_loop(size_t w) const {
    const int64_t d = dims_.window[w];
    Loop loop =
        loop_over(shape_.window_extent(d), {.indexed = d, .slices = dims_.slices_dim(w), .per_window = static_cast<int64_t>(w)});
    set_move(loop, 0, dims_.operand[d].component, source_.oob);
    return loop;
  }
  /// `component`: of source s, which moves the loop's dim; -1: none.
  static void set_move(Loop& loop, size_t s, int component, OobPolicy oob) {
    LoopMove& move = loop.moves[s];
    move.touches = component >= 0 && !loop.extent.is(1);
    if (move.touches) move.component = component;
    move.is_bounded = move.touches && needs_bounds(oob);
  }

  void make_window() {
    size_t w = 0;
    for (size_t d = 0; d < dims_.operand.size(); ++d) {
      const AccessDims::OperandDim& dim = dims_.operand[d];
      if (dim.kind == OperandDimKind::window) plan_.window.push_back(window_loop(w++));
      // Where the indices repeat, the operand's coordinate is that of the position.
      if (dim.kind == OperandDimKind::batching && is_repeated(dim.indices_dim))
        plan_.window.push_back(
            loop_over(shape_.indices_dim(dim.indices_dim),
                      {.indexed = static_cast<int64_t>(d), .slices = dims_.slices_dim_of_indices(dim.indices_dim)}));
    }
    // If a fixed dim has extent 0, no update has a destination, so every window is empty. Policy `error` checks the indices all the same.
    for (size_t d = 0; d < dims_.operand.size(); ++d)
      if (dims_.is_fixed(static_cast<int64_t>(d)) && shape_.operand_dim(static_cast<int64_t>(d)).is(0))
        plan_.window = {empty_loop(constant(0))}, has_destinations_ = false;
  }

  /// The sources of look-ups: their loops are those of the scatter, since positions and windows of both have the same dims in the same order.
  void make_lookups() {
    int number = 0;
    for (const Lookup& lookup : lookups_of(op_)) {
      ++number;
      const AccessDims access(lookup.gather);
      const int table = lookup.of == Role::updates ? plan_.update(lookup.index) : plan_.extra(lookup.index);
      const int first = first_indices(op_, static_cast<size_t>(number));
      const auto tensors = static_cast<int>(index_tensors(lookup.gather).size());
      plan_.tensors[table].source = number;
      for (size_t p = 0; p < access.positions.size(); ++p) {
        const AccessDims::Position& position = access.positions[p];
        Loop& loop = plan_.positions[p];
        for (int i = first; i < first + tensors; ++i)
          loop.strides[plan_.indices(i)] = shape_.stride(plan_.indices(i), position.indices_dim);
        if (position.operand_dim >= 0) loop.strides[table] = shape_.stride(table, position.operand_dim);
      }
      for (size_t w = 0; w < access.window.size() && has_destinations_; ++w) {
        Loop& loop = plan_.window[w];
        loop.strides[table] = shape_.stride(table, access.window[w]);
        set_move(loop, static_cast<size_t>(number), access.operand[access.window[w]].component, lookup.gather.oob);
      }
      IndexSource& source = lookups_.emplace_back();
      source.oob = lookup.gather.oob;
      if (is_fill(source.oob)) source.fill = lookup.gather.fill;
      source.components = components_of(lookup.gather, access, first, {table}, [&](int64_t d) { return shape_.dim(table, d); });
    }
  }

  void make_components() {
    std::vector<int> tensors;
    for (int t = 0; t < tensor_count(); ++t)
      if (plan_.tensors[t].source == 0) tensors.push_back(t);
    source_.components = std::visit(
        [&](const auto& op) { return components_of(op, dims_, 0, tensors, [&](int64_t d) { return shape_.operand_dim(d); }); },
        op_);
  }

  /// The components of a scatter's, gather's or look-up's indices, of which the first tensor is index tensor number `first` and which place `tensors`.
  /// `extent`: of a dim of these.
  template <class Access, class Extent>
  std::vector<Component> components_of(const Access& op, const AccessDims& access, int first, const std::vector<int>& tensors,
                                       const Extent& extent) const {
    std::vector<Component> out;
    for (size_t k = 0; k < access.components.size(); ++k) {
      const int64_t d = access.components[k];
      Component& c = out.emplace_back();
      c.tensor = plan_.indices(first + static_cast<int>(tensor_of_component(op, k)));
      c.dtype = plan_.tensors[c.tensor].dtype;
      c.normalize_negative = op.normalize_negative && !is_unsigned_integer(c.dtype);
      c.operand_dim = static_cast<int>(d);
      c.dim = extent(d);
      c.window = window_of(access, d);
      c.index_offset = access.scalar_indices
                           ? constant(0)
                           : shape_.stride(c.tensor, access.index_vector_dim) * constant(static_cast<int64_t>(k));
      c.strides.assign(plan_.tensors.size(), constant(0));
      for (const int t : tensors) c.strides[t] = shape_.stride(t, d);
    }
    return out;
  }
  /// The extent of the window in dim d of what is indexed. Windows of look-ups are those of the scatter, dim by dim.
  Term window_of(const AccessDims& access, int64_t d) const {
    if (!access.in_window(d)) return constant(1);
    const auto w = std::ranges::find(access.window, d) - access.window.begin();
    return shape_.window_extent(dims_.window[static_cast<size_t>(w)]);
  }

  void make_init() {
    if (plan_.gather || plan_.init_kind == InitKind::in_place) return;
    std::vector<Loop> rows;
    for (size_t dim = 0; dim < dims_.operand.size(); ++dim) {
      const auto d = static_cast<int64_t>(dim);
      Loop loop = empty_loop(shape_.operand_dim(d));
      for (int t = 0; t < tensor_count(); ++t)
        if (const auto at = static_cast<size_t>(t); shape_.shape(t) == Shape::operand && plan_.tensors[at].bound)
          loop.strides[at] = shape_.stride(t, d);
      // A value per row is written once, if the row has an element: only the call knows where the extent is open.
      const bool repeats = plan_.per_row && dims_.in_window(d);
      if (!repeats)
        plan_.init.push_back(std::move(loop));
      else if (!loop.extent.is_static() || loop.extent.is(0))
        rows.push_back(std::move(loop));
    }
    std::ranges::move(rows, std::back_inserter(plan_.init));
  }

  void classify() {
    const auto is_one = [](const Loop& loop) { return loop.extent.is(1); };
    const bool one_position = std::ranges::all_of(plan_.positions, is_one);
    const bool unit_indexed = std::ranges::all_of(source_.components, [](const Component& c) { return c.window.is(1); });
    const bool no_window = std::ranges::all_of(plan_.window, is_one);
    if (all_positions_batched_)
      plan_.kind = PlanKind::slice_update;
    else if (unit_indexed && no_window)
      plan_.kind = PlanKind::element;
    else if (unit_indexed)
      plan_.kind = PlanKind::row;
    else
      plan_.kind = PlanKind::general;

    if (plan_.gather)
      plan_.unique = {true, "a gather writes each element once"};
    else if (one_position)
      plan_.unique = {true, "one position"};
    else if (all_positions_batched_)
      plan_.unique = {true, "batching dims cover the positions"};
    else if (std::get<Scatter>(op_).unique_indices)
      plan_.unique = {true, "hint"};
    find_facts(source_, has_sorted_indices(op_), one_position);
    for (size_t s = 0; s < lookups_.size(); ++s)
      find_facts(lookups_[s], lookups_of(op_)[s].gather.indices_are_sorted, one_position);
  }

  static void find_facts(IndexSource& source, bool hint, bool one_position) {
    if (one_position)
      source.sorted = {true, "one position"};
    else if (hint)
      source.sorted = {true, "hint"};

    if (source.components.empty())
      source.in_bounds = {true, "no index components"};
    else if (source.oob == OobPolicy::undefined)
      source.in_bounds = {true, "policy undefined: the caller promises"};
    source.checks_first = source.oob == OobPolicy::error && !source.components.empty();
  }

  /// Drops loops of extent 1, then merges each loop into the next outer loop if the two are contiguous in every tensor.
  void simplify(std::vector<Loop>& loops) const {
    std::erase_if(loops, [](const Loop& l) { return l.extent.is(1); });
    for (size_t i = loops.size(); i-- > 1;) {
      Loop& outer = loops[i - 1];
      const Loop& inner = loops[i];
      bool mergeable = !inner.is_bounded();
      for (size_t t = 0; t < plan_.tensors.size() && mergeable; ++t)
        mergeable = outer.strides[t] == inner.strides[t] * inner.extent;
      if (!mergeable) continue;
      outer.strides = inner.strides;
      for (size_t s = 0; s < outer.moves.size(); ++s) {
        LoopMove& move = outer.moves[s];
        move.touches |= inner.moves[s].touches;
        if (move.component >= 0) move.scale = move.scale * inner.extent;
      }
      outer.extent = outer.extent * inner.extent;
      loops.erase(loops.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  /// The unit of a result is what its strides have in common, and what an iteration or a step adds is the rest of the stride, which must be
  /// the same for all results.
  std::optional<KeyForm> key_form() const {
    KeyForm form;
    std::vector<Term> steps;
    for (int i = 0; i < plan_.pairs; ++i) {
      std::vector<Term> moves = moves_of(plan_, plan_.result(i));
      const Term unit = common_factor(moves);
      for (Term& move : moves) move = *quotient(move, unit);
      const bool goes_back = std::ranges::any_of(moves, [&](const Term& step) {
        return step.factor < 0 || std::ranges::any_of(step.symbols, [&](SymbolId s) { return plan_.symbols[s].is_stride; });
      });
      if (goes_back || (i > 0 && moves != steps)) return {};
      steps = std::move(moves);
      form.units.push_back(unit);
    }
    const auto first_component = steps.begin() + static_cast<ptrdiff_t>(plan_.positions.size());
    form.positions.assign(steps.begin(), first_component);
    form.components.assign(first_component, steps.end());
    return form;
  }

  const Op& op_;
  const AccessDims& dims_;
  ShapeTerms shape_;
  Plan plan_;
  IndexSource source_;  // of the indexed tensors
  std::vector<IndexSource> lookups_;
  bool has_destinations_ = true;       // false: a fixed dim has extent 0
  bool all_positions_batched_ = true;  // every position dim is a batching dim or has extent 1
};

/// Steps of the loops together; nothing if they do not fit.
std::optional<int64_t> count(const std::vector<Loop>& loops, const int64_t* dyn) {
  std::vector<int64_t> extents;
  for (const Loop& loop : loops) extents.push_back(evaluate(loop.extent, dyn));
  return checked::product(extents);
}

}  // namespace

Plan make_plan(const VerifiedOp& op) { return Planner(op).run(); }

std::vector<Term> moves_of(const Plan& plan, int tensor) {
  const auto at = static_cast<size_t>(tensor);
  std::vector<Term> moves;
  for (const Loop& loop : plan.positions) moves.push_back(loop.strides[at]);
  for (const Component& c : plan.primary().components) moves.push_back(c.strides[at]);
  return moves;
}

int64_t position_count(const Plan& plan, const int64_t* dyn) {
  return count(plan.positions, dyn).value_or(std::numeric_limits<int64_t>::max());
}

bool lookups_give_all(const Plan& plan) {
  return std::all_of(plan.sources.begin() + (plan.sources.empty() ? 0 : 1), plan.sources.end(), [](const IndexSource& source) {
    if (source.in_bounds.holds || source.checks_first || is_fill(source.oob)) return true;
    const bool moves_all = source.oob == OobPolicy::clamp || source.oob == OobPolicy::wrap;
    return moves_all && std::ranges::all_of(source.components, [](const Component& c) {
             return c.dim.is_static() && c.window.is_static() && c.dim.factor >= std::max<int64_t>(c.window.factor, 1);
           });
  });
}

bool overwrites_all(const Plan& plan, const int64_t* dyn) {
  if (plan.gather || !plan.pure_move || !plan.unique.holds || !lookups_give_all(plan)) return false;
  // If the window covers its dim, clamp makes every start 0.
  const IndexSource& source = plan.primary();
  const bool fills_dims =
      std::ranges::all_of(source.components, [&](const Component& c) { return evaluate(c.window, dyn) == evaluate(c.dim, dyn); });
  const bool all_apply = source.in_bounds.holds || source.checks_first || (source.oob == OobPolicy::clamp && fills_dims);
  if (!all_apply) return false;
  const std::optional<int64_t> positions = count(plan.positions, dyn), window = count(plan.window, dyn),
                               written = positions && window ? checked::mul(*positions, *window) : std::nullopt;
  return written && written == count(plan.init, dyn);
}

namespace {

/// Does each iteration of the loop, over positions, write to other elements of all results?
bool walks_results(const Plan& plan, const Loop& loop) {
  for (int i = 0; i < plan.pairs; ++i)
    if (loop.strides[plan.result(i)].is(0)) return false;
  return true;
}

}  // namespace

size_t slab_loops(const Plan& plan) {
  size_t count = 0;
  while (count < plan.positions.size() && walks_results(plan, plan.positions[count])) ++count;
  return count;
}

const Loop* column_loop(const Plan& plan) {
  if (!plan.window.empty()) return &plan.window.front();
  if (plan.gather || plan.positions.size() < 2 || has_row_values(plan)) return nullptr;
  const Loop& last = plan.positions.back();
  return walks_results(plan, last) ? &last : nullptr;
}

int64_t split_count(const Plan& plan, const int64_t* dyn) {
  const Loop* const columns = column_loop(plan);
  return columns == nullptr ? 1 : evaluate(columns->extent, dyn);
}

}  // namespace strew::inline v0
