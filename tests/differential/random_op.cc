// See random_op.h. The generator draws the roles of the operand's dims and the index positions first, then dtypes and
// combiner, then which extents are dynamic and the layouts. Rows of 1 to 70 elements are drawn more often, because
// vector tails are where mistakes occur; extents of zero and one are common.
//
// Limits: ranks up to 5, kElements elements per tensor (kManyElements in six ops of a hundred, more on request), up
// to three operands. Every generated op must verify: a refused one is a failure of the differential test. Tested by
// every differential run.
#include "tests/differential/random_op.h"

#include <algorithm>
#include <utility>

#include "tests/differential/random_combiner.h"
#include "tests/differential/random_data.h"
#include "tests/differential/random_expr.h"
#include "tests/differential/random_layout.h"

namespace strew::test {
namespace {

constexpr int64_t kElements = 6000, kManyElements = 80000;

/// The common dtypes, which are drawn more often than the others.
bool is_common(DType dtype) {
  const bool integer = is_integer(dtype) && bits(dtype) >= 8;
  return integer || dtype == DType::boolean || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 ||
         dtype == DType::f64;
}

enum class DimRole : uint8_t { window, removed, batching };

class Generator {
 public:
  Generator(Rng& rng, const OpWishes& wishes) : rng_(rng), wishes_(wishes) {}
  Blueprint run();

 private:
  void choose_frame();
  void choose_roles();
  void choose_components();
  void choose_positions();
  void choose_window();
  void choose_sizes();
  void fit_sizes();
  void choose_dtypes();
  void choose_scatter_fields(Scatter& scatter);
  void choose_graph();
  void choose_rows(std::vector<ExprInput>& inputs, const ExprLimits& limits);
  void repeat_results();
  void choose_indices();
  void assemble();
  void choose_lookups();
  void choose_lookup(Role of, size_t index);
  void settle_lookups();
  void fix_policy();
  void clamp();
  int64_t count(const std::vector<DimRef>& dims) const;
  std::vector<DimRef> operand_dims() const;
  std::vector<DimRef> window_dims() const;

  int variable(int64_t most, int at_most = -1, bool position = false) {
    out_.variables.push_back({most, at_most, position});
    return static_cast<int>(out_.variables.size()) - 1;
  }
  int64_t size();
  DType other_dtype(DType like, int percent);
  Scalar fill_value(DType dtype) {  // an op's text holds no addresses, so the only string is the empty one
    if (dtype == DType::string) return {dtype, {0, 0}};
    return random_value(rng_, dtype, rng_.chance(50) ? DataMode::small : DataMode::nasty);
  }
  bool component_of(int dim) const { return std::find(map_.begin(), map_.end(), dim) != map_.end(); }
  std::vector<int64_t> dims_with(DimRole role) const;

  Rng& rng_;
  const OpWishes& wishes_;
  Blueprint out_;
  bool scatter_ = true;
  int64_t most_elements_ = kElements;  ///< per tensor
  OobPolicy oob_ = OobPolicy::skip_element;
  CombinerKind combiner_ = CombinerKind::assign;
  std::vector<DimRole> roles_;             // per operand dim
  std::vector<int> operand_variables_;     // per operand dim
  std::vector<int64_t> map_;               // component -> operand dim
  std::vector<DimRef> position_dims_;      // dims of indices without index_vector_dim
  std::vector<int64_t> position_batches_;  // per position dim: its operand batching dim, or -1
  int64_t index_vector_dim_ = 0;
  std::vector<DimRef> window_side_;        // dims of updates or of a gather's result
  std::vector<int64_t> window_side_dims_;  // which of window_side_ are window dims
  std::vector<ExtraKind> extra_kinds_;
  bool rows_ = false;         ///< rows have values of their own, so no index moves a window
  bool per_row_ = false;      ///< results hold one value per row
  bool returns_arg_ = false;  ///< a maximum or minimum whose second result says which position won
};

void Generator::choose_frame() {
  scatter_ = wishes_.scatter.value_or(rng_.chance(65));
  out_.shape = wishes_.shape.value_or(static_cast<Shape>(std::min<int64_t>(rng_.below(5), 3)));
  using P = OobPolicy;
  const std::vector<P> scatter_policies{P::undefined, P::skip_element, P::skip_window, P::clamp, P::wrap, P::error};
  const std::vector<P> gather_policies{P::undefined, P::clamp, P::wrap, P::error, P::fill_element, P::fill_window};
  oob_ = wishes_.oob.value_or(rng_.pick(scatter_ ? scatter_policies : gather_policies));
  const auto any = static_cast<CombinerKind>(rng_.below(static_cast<int64_t>(CombinerKind::expr) + 1));
  const bool graph = rng_.chance(15);
  combiner_ = wishes_.combiner.value_or(graph ? CombinerKind::expr : scatter_ ? any : CombinerKind::assign);
  // If the drawn combiner does not take the wished dtype, it is replaced.
  if (!wishes_.combiner && wishes_.dtype && !combines(combiner_, *wishes_.dtype)) combiner_ = CombinerKind::assign;
}

void Generator::choose_roles() {
  const bool rows = out_.shape == Shape::row;
  const int rank = static_cast<int>(rows ? rng_.between(2, 4) : rng_.chance(4) ? 0 : rng_.chance(6) ? 5 : rng_.between(1, 4));
  roles_.assign(static_cast<size_t>(rank), DimRole::window);
  const auto maybe_batch = [&](int percent) {
    for (DimRole& role : roles_)
      if (rng_.chance(percent)) role = DimRole::batching;
  };
  switch (out_.shape) {
    case Shape::slice_update:
      maybe_batch(rng_.chance(60) ? 30 : 0);
      if (rng_.chance(15))
        for (DimRole& role : roles_)
          if (role == DimRole::window && rng_.chance(30)) role = DimRole::removed;
      break;
    case Shape::row:
      for (size_t d = 0; d + 1 < roles_.size(); ++d) roles_[d] = d == 0 || rng_.chance(40) ? DimRole::removed : DimRole::window;
      if (rank > 2 && rng_.chance(25)) roles_[rng_.chance(50) ? 0 : 1] = DimRole::batching;
      if (rng_.chance(10)) rng_.shuffle(roles_);
      break;
    case Shape::element:
      for (DimRole& role : roles_) role = DimRole::removed;
      if (rank > 1) maybe_batch(rng_.chance(40) ? 40 : 0);
      break;
    case Shape::general:
      for (DimRole& role : roles_)
        role = rng_.chance(60) ? DimRole::window : rng_.chance(65) ? DimRole::removed : DimRole::batching;
      break;
  }
  for (int d = 0; d < rank; ++d) operand_variables_.push_back(variable(size()));
}

std::vector<int64_t> Generator::dims_with(DimRole role) const {
  std::vector<int64_t> out;
  for (size_t d = 0; d < roles_.size(); ++d)
    if (roles_[d] == role) out.push_back(static_cast<int64_t>(d));
  return out;
}

void Generator::choose_components() {
  for (size_t d = 0; d < roles_.size(); ++d) {
    int percent = roles_[d] == DimRole::removed ? 92 : 55;
    if (roles_[d] == DimRole::batching) percent = 0;
    if (roles_[d] == DimRole::window && out_.shape == Shape::row) percent = 4;
    if (rng_.chance(percent)) map_.push_back(static_cast<int64_t>(d));
  }
  const auto moves_window = [&](int64_t d) { return roles_[static_cast<size_t>(d)] == DimRole::window; };
  if (out_.shape == Shape::general && std::none_of(map_.begin(), map_.end(), moves_window) && rng_.chance(85))
    for (size_t d = 0; d < roles_.size() && std::none_of(map_.begin(), map_.end(), moves_window); ++d)
      if (roles_[d] == DimRole::window) map_.push_back(static_cast<int64_t>(d));
  if (map_.empty() && rng_.chance(90))
    for (size_t d = 0; d < roles_.size() && map_.empty(); ++d)
      if (roles_[d] != DimRole::batching && (roles_[d] == DimRole::removed || out_.shape != Shape::row))
        map_.push_back(static_cast<int64_t>(d));
  if (rng_.chance(50)) rng_.shuffle(map_);
}

void Generator::choose_positions() {
  std::vector<std::pair<DimRef, int64_t>> dims;
  for (int64_t d : dims_with(DimRole::batching)) {
    const int same = operand_variables_[static_cast<size_t>(d)];
    const int v = rng_.chance(80) ? same : variable(size(), same, true);
    dims.push_back({{v, 0, false}, d});
  }
  int free = 0;
  if (out_.shape == Shape::row || out_.shape == Shape::element) free = static_cast<int>(rng_.chance(70) ? 1 : 2);
  if (out_.shape == Shape::general) free = static_cast<int>(rng_.chance(15) ? 0 : rng_.between(1, 3));
  for (int i = 0; i < free; ++i) {
    const int64_t count = rng_.chance(5) ? 0 : rng_.chance(8) ? 1 : rng_.chance(15) ? rng_.between(17, 90) : rng_.between(2, 16);
    dims.push_back({{variable(count, -1, true), 0, false}, -1});
  }
  if (rng_.chance(40)) rng_.shuffle(dims);
  for (const auto& [dim, batch] : dims) {
    position_dims_.push_back(dim);
    position_batches_.push_back(batch);
  }
}

/// Draws the extents of windows per operand dim, and the dims of updates (or of a gather's result): position dims and
/// window dims in any order.
void Generator::choose_window() {
  std::vector<DimRef> window;
  for (size_t d = 0; d < roles_.size(); ++d) {
    DimRef extent{-1, 1, false};
    const int full = operand_variables_[d];
    if (roles_[d] == DimRole::window) {
      const bool indexed = component_of(static_cast<int>(d));
      const int full_percent = out_.shape == Shape::row && indexed ? 0 : indexed ? 15 : 75;
      if (rng_.chance(full_percent))
        extent = {full, 0, false};
      else if (out_.shape == Shape::row && indexed)
        extent = {-1, 1, false};
      else if (rng_.chance(85))
        extent = {variable(size(), full), 0, false};
      window.push_back(extent);
    }
    out_.window.push_back(extent);
  }
  std::vector<bool> is_window(window.size() + position_dims_.size(), false);
  for (size_t i = 0; i < window.size(); ++i) is_window[is_window.size() - 1 - i] = true;
  if (rng_.chance(35)) {
    std::vector<int> bits(is_window.begin(), is_window.end());
    rng_.shuffle(bits);
    is_window.assign(bits.begin(), bits.end());
  }
  size_t p = 0, w = 0;
  for (size_t i = 0; i < is_window.size(); ++i) {
    window_side_.push_back(is_window[i] ? window[w++] : position_dims_[p++]);
    if (is_window[i]) window_side_dims_.push_back(static_cast<int64_t>(i));
  }
}

int64_t Generator::size() {
  if (rng_.chance(2)) return 0;
  if (rng_.chance(12)) return 1;
  if (rng_.chance(45)) return rng_.between(2, 6);
  if (rng_.chance(60)) return rng_.between(5, 20);
  if (rng_.chance(92)) return rng_.between(1, 70);
  return rng_.between(128, 400);
}

/// Reduces every variable to the one that bounds it.
void Generator::clamp() {
  for (Variable& v : out_.variables)
    if (v.at_most >= 0) v.most = std::min(v.most, out_.variables[static_cast<size_t>(v.at_most)].most);
}

int64_t Generator::count(const std::vector<DimRef>& dims) const {
  int64_t product = 1;
  for (const DimRef& dim : dims)
    product *= dim.variable < 0 ? dim.constant : out_.variables[static_cast<size_t>(dim.variable)].most;
  return product;
}

std::vector<DimRef> Generator::operand_dims() const {
  std::vector<DimRef> dims;
  for (int v : operand_variables_) dims.push_back({v, 0, false});
  return dims;
}

std::vector<DimRef> Generator::window_dims() const {
  std::vector<DimRef> dims;
  for (int64_t d : window_side_dims_) dims.push_back(window_side_[static_cast<size_t>(d)]);
  return dims;
}

/// Draws the extents: row lengths with vector tails, and the number of elements that was wished for.
void Generator::choose_sizes() {
  const bool large = rng_.chance(6);
  if (large)
    for (Variable& v : out_.variables)
      if (v.most > 1 && rng_.chance(60)) v.most *= rng_.between(3, 30);
  if (!roles_.empty() && roles_.back() == DimRole::window && rng_.chance(50)) {
    const int last = operand_variables_.back();
    out_.variables[static_cast<size_t>(last)].most = rng_.chance(8) ? rng_.between(300, 600) : rng_.between(1, 70);
  }
  // Any extent may be zero beside extents that are not: of the operand, of the positions, or of a window.
  if (rng_.chance(5) && !out_.variables.empty())
    out_.variables[static_cast<size_t>(rng_.below(static_cast<int64_t>(out_.variables.size())))].most = 0;
  const std::vector<DimRef> operand = operand_dims();
  clamp();
  for (int doublings = 0; doublings < 80 && !operand_variables_.empty() && count(operand) < wishes_.elements; ++doublings) {
    Variable& v = out_.variables[static_cast<size_t>(rng_.pick(operand_variables_))];
    v.most = std::max<int64_t>(2 * v.most, 2);
    clamp();
  }
  most_elements_ = wishes_.elements > 0 ? wishes_.elements * 2 : large ? kManyElements : kElements;
}

/// Shrinks extents until every tensor is within the limit. It runs last, after zero extents can no longer become 1:
/// beside a zero the other extents of a tensor may have any size.
void Generator::fit_sizes() {
  for (const std::vector<DimRef>& dims : {operand_dims(), window_side_, position_dims_, window_dims()}) {
    while (count(dims) > most_elements_) {
      Variable* largest = nullptr;
      for (const DimRef& dim : dims) {
        if (dim.variable < 0) continue;
        Variable& v = out_.variables[static_cast<size_t>(dim.variable)];
        if (largest == nullptr || v.most > largest->most) largest = &v;
      }
      largest->most = std::max<int64_t>(1, largest->most * 2 / 3);
      clamp();
    }
  }
}

DType Generator::other_dtype(DType like, int percent) {
  if (!info(like).arithmetic || !rng_.chance(percent)) return like;
  // From wide dtypes to those narrower than 32 bits: a conversion that rounds twice, by way of f32, would be noticed.
  const std::vector<DType> wide{DType::f64, DType::f64, DType::i64, DType::u64, DType::i32, DType::f32};
  const bool narrow = is_float(like) && bits(like) <= 16;
  const std::vector<DType>& from = narrow && rng_.chance(60) ? wide : arithmetic_dtypes();
  for (int tries = 0; tries < 16; ++tries) {
    const DType dtype = rng_.pick(from);
    if (is_complex(like) || !is_complex(dtype)) return dtype;  // a conversion from complex to real would lose the imaginary part
  }
  return like;
}

void Generator::choose_dtypes() {
  const bool is_extremum = scatter_ && !wishes_.combiner && (combiner_ == CombinerKind::min || combiner_ == CombinerKind::max);
  returns_arg_ = is_extremum && rng_.chance(20);
  const size_t pairs = !scatter_ ? 1 : returns_arg_ ? 2 : static_cast<size_t>(rng_.chance(82) ? 1 : rng_.between(2, 3));
  out_.results.resize(pairs);
  out_.operands.resize(pairs);
  if (scatter_) out_.updates.resize(pairs);
  std::vector<DType> legal;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!combines(combiner_, dtype)) continue;
    legal.insert(legal.end(), is_common(dtype) ? 4 : 1, dtype);
  }
  for (size_t i = 0; i < pairs; ++i) {
    const DType dtype = i == 0 ? wishes_.dtype.value_or(rng_.pick(legal)) : rng_.pick(legal);
    out_.results[i].dtype = dtype;
    const bool free = combiner_ == CombinerKind::expr;
    out_.operands[i].dtype = scatter_ ? other_dtype(dtype, 10) : other_dtype(dtype, free ? 30 : 12);
    if (scatter_) out_.updates[i].dtype = other_dtype(dtype, free ? 25 : 15);
  }
  if (returns_arg_) {  // an expression converts nothing by itself
    out_.updates[0].dtype = out_.results[0].dtype;
    out_.results[1].dtype = out_.operands[1].dtype = out_.updates[1].dtype = DType::i64;
  }
}

void Generator::choose_scatter_fields(Scatter& s) {
  const size_t pairs = out_.results.size();
  s.combiner = combiner_;
  s.init = static_cast<InitKind>(rng_.below(3));
  bool wide = combiner_ == CombinerKind::add || combiner_ == CombinerKind::sub || combiner_ == CombinerKind::mul, wide_f64 = wide;
  for (size_t i = 0; i < pairs; ++i) {
    const DType dtype = out_.results[i].dtype;
    if (s.init != InitKind::copy) out_.operands[i].dtype = dtype;
    if (s.init == InitKind::fill) s.fill.push_back(fill_value(dtype));
    wide = wide && is_float(dtype) && bits(dtype) >= 8 && bits(dtype) <= 16;
    wide_f64 = wide_f64 && dtype == DType::f32;
  }
  if (returns_arg_) return_arg(s, out_.results[0].dtype);
  if (wide && rng_.chance(60)) s.accumulate = Accumulate::wide;
  if (wide_f64 && rng_.chance(50)) s.accumulate = Accumulate::wide_f64;
  if (rng_.chance(10)) s.order = Order::relaxed;
  s.unique_indices = rng_.chance(15);
  s.extras.resize(extra_kinds_.size());
  for (size_t e = 0; e < extra_kinds_.size(); ++e) s.extras[e].kind = extra_kinds_[e];
}

void Generator::choose_graph() {
  if (combiner_ != CombinerKind::expr) return;
  const int extras = static_cast<int>(rng_.chance(40) ? 0 : rng_.between(1, 3));
  std::vector<ExprInput> inputs;
  std::vector<DType> results;
  for (size_t i = 0; i < out_.results.size(); ++i) {
    const int index = static_cast<int>(i);
    results.push_back(out_.results[i].dtype);
    inputs.push_back({ExprOp::current, index, scatter_ ? out_.results[i].dtype : out_.operands[i].dtype});
    if (scatter_) inputs.push_back({ExprOp::update, index, out_.updates[i].dtype});
  }
  for (int e = 0; e < extras; ++e) {
    extra_kinds_.push_back(static_cast<ExtraKind>(rng_.below(4)));
    out_.extras.emplace_back();
    out_.extras.back().dtype = other_dtype(results[0], 25);
    inputs.push_back({ExprOp::extra, e, out_.extras.back().dtype});
  }
  ExprLimits limits;
  limits.depth = static_cast<int>(rng_.between(1, 4));
  limits.functions = rng_.chance(40);
  choose_rows(inputs, limits);
  Expr graph = random_expr(rng_, inputs, results, limits);
  if (Scatter* s = std::get_if<Scatter>(&out_.frame))
    s->expr = std::move(graph);
  else
    std::get<Gather>(out_.frame).expr = std::move(graph);
}

/// Reductions over rows, and results that hold one value per row. `inputs`: those of the graph, to which the reductions are added, and from which what
/// only elements have is removed.
void Generator::choose_rows(std::vector<ExprInput>& inputs, const ExprLimits& limits) {
  const auto is_moved = [&](int64_t d) { return component_of(static_cast<int>(d)); };
  if (!scatter_ || !(wishes_.rows || rng_.chance(35)) || std::ranges::any_of(dims_with(DimRole::window), is_moved)) return;
  rows_ = true;
  // What no update reaches is told apart by elements, so windows are whole dims there.
  const auto is_whole = [&](int64_t d) {
    return out_.window[static_cast<size_t>(d)].variable == operand_variables_[static_cast<size_t>(d)];
  };
  per_row_ = rng_.chance(80) && std::ranges::all_of(dims_with(DimRole::window), is_whole);
  std::vector<RowReduction>& reductions = std::get<Scatter>(out_.frame).row_reductions;
  std::vector<ExprInput> of_elements;
  for (const ExprInput& input : inputs)
    if (input.op != ExprOp::current) of_elements.push_back(input);
  if (per_row_)
    std::erase_if(inputs, [&](const ExprInput& input) {
      if (input.op == ExprOp::update) return true;
      const auto e = static_cast<size_t>(input.index);
      return input.op == ExprOp::extra && (extra_kinds_[e] == ExtraKind::per_element || extra_kinds_[e] == ExtraKind::per_window);
    });
  const int64_t count = rng_.chance(70) ? 1 : rng_.between(0, 3);
  reductions = random_reductions(rng_, count, of_elements, static_cast<int>(out_.extras.size()), out_.results[0].dtype, limits);
  for (size_t k = 0; k < reductions.size(); ++k)
    inputs.push_back({ExprOp::extra, static_cast<int>(out_.extras.size() + k), reductions[k].value.result().dtype});
}

/// Results that hold one value per row repeat along windows, and so does the operand that they start from.
void Generator::repeat_results() {
  if (!per_row_) return;
  const auto repeat = [&](TensorPlan& t) { repeat_along(t, dims_with(DimRole::window)); };
  const InitKind init = std::get<Scatter>(out_.frame).init;
  if (dims_with(DimRole::window).empty()) return;
  for (TensorPlan& t : out_.results) repeat(t);
  if (init == InitKind::in_place) out_.operands = out_.results;
  if (init == InitKind::copy)
    for (TensorPlan& t : out_.operands) repeat(t);
}

void Generator::choose_indices() {
  const std::vector<DType> small{DType::i4, DType::u4, DType::i8, DType::u8, DType::i16, DType::u16};
  const std::vector<DType> usual{DType::i32, DType::i64, DType::u32, DType::u64};
  const auto dtype = [&] { return rng_.pick(rng_.chance(25) ? small : usual); };
  out_.indices.dtype = dtype();
  const auto count = static_cast<int64_t>(map_.size());
  const auto positions = static_cast<int64_t>(position_dims_.size());
  out_.indices.dims = position_dims_;
  index_vector_dim_ = positions;
  if (count == 1 && rng_.chance(50)) return;  // one component: indices are scalars
  if (count > 1 && rng_.chance(30)) {
    for (int64_t k = 1; k < count; ++k) {
      TensorPlan& more = out_.more_indices.emplace_back(out_.indices);
      more.dtype = dtype();
    }
    return;
  }
  if (rng_.chance(30)) index_vector_dim_ = rng_.between(0, positions);
  out_.indices.dims.insert(out_.indices.dims.begin() + index_vector_dim_, DimRef{-1, count, false});
}

void Generator::assemble() {
  const std::vector<DimRef> operand = operand_dims();
  const std::vector<DimRef> per_window = window_dims();
  for (TensorPlan& t : out_.operands) t.dims = operand;
  for (TensorPlan& t : out_.updates) t.dims = window_side_;
  for (TensorPlan& t : out_.results) t.dims = scatter_ ? operand : window_side_;
  for (size_t e = 0; e < out_.extras.size(); ++e) {
    const std::vector<DimRef>* dims[] = {&window_side_, &position_dims_, &per_window, nullptr};
    if (extra_kinds_[e] != ExtraKind::scalar) out_.extras[e].dims = *dims[static_cast<size_t>(extra_kinds_[e])];
  }
  std::vector<int64_t> batching = dims_with(DimRole::batching), index_batching;
  for (int64_t b : batching) {
    const auto p = std::find(position_batches_.begin(), position_batches_.end(), b) - position_batches_.begin();
    const bool after = std::cmp_less(index_vector_dim_, out_.indices.dims.size()) &&
                       out_.indices.dims.size() > position_dims_.size() && p >= index_vector_dim_;
    index_batching.push_back(p + (after ? 1 : 0));
  }
  if (Scatter* s = std::get_if<Scatter>(&out_.frame)) {
    s->dims = {window_side_dims_, dims_with(DimRole::removed), batching, index_batching, map_, index_vector_dim_};
    s->oob = oob_;
    s->normalize_negative = rng_.chance(25);
    s->indices_are_sorted = rng_.chance(12);
  } else {
    Gather& g = std::get<Gather>(out_.frame);
    g.dims = {window_side_dims_, dims_with(DimRole::removed), batching, index_batching, map_, index_vector_dim_};
    g.oob = oob_;
    g.normalize_negative = rng_.chance(25);
    g.indices_are_sorted = rng_.chance(12);
    g.fill.dtype = out_.operands[0].dtype;
    if (oob_ == OobPolicy::fill_element || oob_ == OobPolicy::fill_window) {
      g.fill = fill_value(g.fill.dtype);
    } else {
      g.fill = Gather{}.fill;
    }
    g.extras.resize(extra_kinds_.size());
    for (size_t e = 0; e < extra_kinds_.size(); ++e) g.extras[e].kind = extra_kinds_[e];
  }
}

/// Some updates and extras are looked up.
void Generator::choose_lookups() {
  if (!scatter_ || !(wishes_.lookups || rng_.chance(20))) return;
  for (size_t i = 0; i < out_.updates.size(); ++i)
    if (rng_.chance(i == 0 ? 80 : 40) || (wishes_.lookups && i == 0)) choose_lookup(Role::updates, i);
  for (size_t i = 0; i < out_.extras.size(); ++i)
    if (extra_kinds_[i] <= ExtraKind::per_position && rng_.chance(40)) choose_lookup(Role::extra, i);
  // Sums in an open order are compared with bounds, which are not computed from look-ups.
  if (!out_.lookups.empty()) std::get<Scatter>(out_.frame).order = Order::in_order;
}

void Generator::choose_lookup(Role of, size_t index) {
  const bool has_window = of == Role::updates || extra_kinds_[index] == ExtraKind::per_element;
  const TensorPlan& made = of == Role::updates ? out_.updates[index] : out_.extras[index];
  LookupPlan plan;
  Lookup lookup{of, static_cast<int>(index), {}};
  Gather& g = lookup.gather;
  // The table's dims: those of the window in their order, between dims that an index chooses, and perhaps one of a batch.
  std::vector<DimRole> roles(has_window ? window_side_dims_.size() : 0, DimRole::window);
  for (int64_t chosen = rng_.chance(75) ? 1 : rng_.between(0, 2); chosen > 0; --chosen)
    roles.insert(roles.begin() + rng_.between(0, static_cast<int64_t>(roles.size())), DimRole::removed);
  int64_t batch = -1;
  if (!position_dims_.empty() && rng_.chance(12)) {
    batch = rng_.below(static_cast<int64_t>(position_dims_.size()));
    if (count({position_dims_[static_cast<size_t>(batch)]}) == 0) batch = -1;
  }
  if (batch >= 0) {
    roles.insert(roles.begin() + rng_.between(0, static_cast<int64_t>(roles.size())), DimRole::batching);
  }
  const std::vector<DimRef> windows = window_dims();
  size_t w = 0;
  int64_t elements = 1;
  for (size_t d = 0; d < roles.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    DimRef extent{-1, 1, false}, window{-1, 1, false};
    if (roles[d] == DimRole::batching) {
      extent = position_dims_[static_cast<size_t>(batch)];
      g.dims.operand_batching_dims.push_back(dim);
    } else if (roles[d] == DimRole::removed) {
      const int64_t most = std::max<int64_t>(1, kElements / std::max<int64_t>(elements, 1));
      extent = {variable(std::clamp<int64_t>(size(), 1, most)), 0, false};
      g.dims.removed_dims.push_back(dim);
      g.dims.index_map.push_back(dim);
    } else {
      extent = window = windows[w++];
      // A part of the dim, which an index may move.
      if (rng_.chance(wishes_.lookup_parts ? 35 : 15)) {
        const int64_t whole = window.variable < 0 ? window.constant : out_.variables[static_cast<size_t>(window.variable)].most;
        extent = {-1, whole + rng_.below(4), false};
        if (!rows_ && rng_.chance(60)) g.dims.index_map.push_back(dim);
      }
    }
    elements *=
        std::max<int64_t>(1, extent.variable < 0 ? extent.constant : out_.variables[static_cast<size_t>(extent.variable)].most);
    plan.table.dims.push_back(extent);
    plan.window.push_back(window);
  }
  if (has_window) g.dims.window_dims = window_side_dims_;
  plan.table.dtype = made.dtype;
  const std::vector<DType> index_dtypes{DType::i32, DType::i64, DType::u32, DType::u64,
                                        DType::i8,  DType::u8,  DType::u4,  DType::i16};
  plan.indices.dtype = rng_.pick(index_dtypes);
  plan.indices.dims = position_dims_;
  const auto count = static_cast<int64_t>(g.dims.index_map.size()), positions = static_cast<int64_t>(position_dims_.size());
  g.dims.index_vector_dim = positions;
  if (count > 1 && rng_.chance(30)) {
    for (int64_t k = 1; k < count; ++k) {
      TensorPlan& more = plan.more_indices.emplace_back(plan.indices);
      more.dtype = rng_.pick(index_dtypes);
    }
  } else if (count != 1 || rng_.chance(50)) {
    if (rng_.chance(30)) g.dims.index_vector_dim = rng_.between(0, positions);
    plan.indices.dims.insert(plan.indices.dims.begin() + g.dims.index_vector_dim, DimRef{-1, count, false});
  }
  const bool has_vectors = std::cmp_greater(plan.indices.dims.size(), position_dims_.size());
  if (batch >= 0) g.dims.indices_batching_dims = {batch + (has_vectors && batch >= g.dims.index_vector_dim ? 1 : 0)};
  using P = OobPolicy;
  const std::vector<P> policies{P::undefined,    P::clamp,       P::wrap,         P::error,      P::error,
                                P::skip_element, P::skip_window, P::fill_element, P::fill_window};
  g.oob = wishes_.lookup_oob.value_or(rng_.pick(policies));
  if (is_fill(g.oob)) g.fill = fill_value(made.dtype);
  g.normalize_negative = rng_.chance(25);
  g.indices_are_sorted = rng_.chance(12);
  out_.lookups.push_back(std::move(plan));
  std::get<Scatter>(out_.frame).lookups.push_back(std::move(lookup));
}

/// What is open of look-ups must follow from other tensors (compiler/op/verify_lookups.cc).
void Generator::settle_lookups() {
  auto* const scatter = std::get_if<Scatter>(&out_.frame);
  if (out_.lookups.empty()) return;
  const std::vector<int64_t> windows = dims_with(DimRole::window);
  for (size_t l = 0; l < out_.lookups.size(); ++l) {
    const Lookup& lookup = scatter->lookups[l];
    LookupPlan& plan = out_.lookups[l];
    TensorPlan& made = lookup.of == Role::updates ? out_.updates[static_cast<size_t>(lookup.index)]
                                                  : out_.extras[static_cast<size_t>(lookup.index)];
    // Positions are open where those of the indices are.
    size_t of_indices = 0;
    for (size_t d = 0; d < made.dims.size(); ++d) {
      const bool is_window = !lookup.gather.dims.window_dims.empty() &&
                             std::ranges::find(window_side_dims_, static_cast<int64_t>(d)) != window_side_dims_.end();
      if (is_window) continue;
      if (static_cast<int64_t>(of_indices) == index_vector_dim_) ++of_indices;
      made.dims[d].dynamic = out_.indices.dims[of_indices++].dynamic;
    }
    size_t w = 0;
    for (size_t d = 0; d < plan.table.dims.size(); ++d) {
      const auto has = [&](const std::vector<int64_t>& list) {
        return std::ranges::find(list, static_cast<int64_t>(d)) != list.end();
      };
      if (has(lookup.gather.dims.removed_dims) || has(lookup.gather.dims.operand_batching_dims)) continue;
      DimRef& extent = made.dims[static_cast<size_t>(window_side_dims_[w])];
      DimRef& table = plan.table.dims[d];
      const bool is_whole = table.variable >= 0 && table.variable == plan.window[d].variable;
      if (!is_whole) {
        extent.dynamic = false;
        for (auto* const group : {&out_.results, &out_.operands})
          for (TensorPlan& t : *group) t.dims[static_cast<size_t>(windows[w])].dynamic = false;
      }
      ++w;
    }
  }
  // A window is open or static in all that are looked up, as it is in the first updates.
  for (size_t w = 0; w < window_side_dims_.size(); ++w) {
    const auto at = static_cast<size_t>(window_side_dims_[w]);
    const auto made_dim = [&](const Lookup& lookup) -> DimRef* {
      if (lookup.gather.dims.window_dims.empty()) return nullptr;
      const auto i = static_cast<size_t>(lookup.index);
      return &(lookup.of == Role::updates ? out_.updates[i] : out_.extras[i]).dims[at];
    };
    DimRef& of_updates = out_.updates[0].dims[at];
    const bool is_open = of_updates.dynamic && std::ranges::all_of(scatter->lookups, [&](const Lookup& each) {
                           const DimRef* const dim = made_dim(each);
                           return dim == nullptr || dim->dynamic;
                         });
    if (std::ranges::any_of(scatter->lookups, [&](const Lookup& each) { return made_dim(each) != nullptr; }))
      of_updates.dynamic = is_open;
    for (size_t l = 0; l < out_.lookups.size(); ++l) {
      DimRef* const dim = made_dim(scatter->lookups[l]);
      if (dim == nullptr) continue;
      dim->dynamic = is_open;
      size_t nth = 0;
      for (size_t d = 0; d < out_.lookups[l].table.dims.size(); ++d) {
        const DimensionNumbers& numbers = scatter->lookups[l].gather.dims;
        const auto has = [&](const std::vector<int64_t>& list) {
          return std::ranges::find(list, static_cast<int64_t>(d)) != list.end();
        };
        if (has(numbers.removed_dims) || has(numbers.operand_batching_dims) || nth++ != w) continue;
        out_.lookups[l].window[d].dynamic = is_open;
        out_.lookups[l].table.dims[d].dynamic = is_open;
      }
    }
  }
}

/// Some policies give no result for extents of zero. Then an indexed or removed dim becomes 1.
void Generator::fix_policy() {
  for (size_t d = 0; d < roles_.size(); ++d) {
    Variable& v = out_.variables[static_cast<size_t>(operand_variables_[d])];
    const bool unit = out_.window[d].variable < 0;  // inserted, collapsed or batching, or a window of extent 1
    const bool promised = component_of(static_cast<int>(d)) && oob_ == OobPolicy::undefined;
    const bool dropped = scatter_ && roles_[d] == DimRole::removed && !promised;
    const bool batch = scatter_ && roles_[d] == DimRole::batching;
    if (v.most == 0 && unit && !dropped && !batch) v.most = 1;
  }
}

Blueprint Generator::run() {
  choose_frame();
  if (!scatter_) out_.frame = Gather{};
  choose_roles();
  choose_components();
  choose_positions();
  choose_window();
  choose_sizes();
  fix_policy();
  fit_sizes();
  choose_dtypes();
  choose_graph();
  if (scatter_) choose_scatter_fields(std::get<Scatter>(out_.frame));
  choose_indices();
  assemble();
  choose_lookups();
  choose_dynamic_dims(rng_, out_);
  settle_lookups();
  choose_layouts(rng_, out_);
  repeat_results();
  for (const Lookup& lookup : lookups_of(out_.frame)) {
    const auto i = static_cast<size_t>(lookup.index);
    (lookup.of == Role::updates ? out_.updates[i] : out_.extras[i]).layout = {};
  }
  return std::move(out_);
}

}  // namespace

Blueprint random_blueprint(Rng& rng, const OpWishes& wishes) { return Generator(rng, wishes).run(); }

}  // namespace strew::test
