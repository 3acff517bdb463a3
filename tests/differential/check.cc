// The differential check. See check.h.
//
// Per op: verify, text round trip, kernels built once; then calls that differ in extents (where dynamic), index pattern and data. The
// reference runs first in the very buffers the engines get afterwards, so guards and canaries watch it too. Cost: a kernel build is
// milliseconds, a call tens of microseconds, most of it the reference.
#include "tests/differential/check.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "backends/reference/reference.h"
#include "compiler/op/text.h"
#include "compiler/op/verify.h"
#include "tests/differential/call.h"
#include "tests/differential/compare.h"
#include "tests/differential/random_indices.h"
#include "tests/differential/split_run.h"
#include "tests/support/elements.h"

namespace strew::test {

class PreparedCall {
 public:
  PreparedCall(GuardedPool& pool, Rng& rng, Op concrete, DataMode mode) : call(pool, rng, std::move(concrete), mode) {}
  Call call;
  Rng splits{0};
  Touched touched;
  Call::Image before;
  std::string text;
};

namespace {

/// A caller that rounds down and flushes subnormals: kernels must neither notice nor change it.
class CallersFloats {
 public:
  explicit CallersFloats([[maybe_unused]] bool odd) {
#if defined(__x86_64__)
    before_ = _mm_getcsr();
    if (odd) _mm_setcsr(before_ | 0x8040u | 0x2000u);  // FTZ, DAZ, toward minus infinity
    during_ = _mm_getcsr();
#endif
  }
  ~CallersFloats() {
#if defined(__x86_64__)
    _mm_setcsr(before_);
#endif
  }
  bool kept() const {
#if defined(__x86_64__)
    return (_mm_getcsr() & ~0x3fu) == (during_ & ~0x3fu);  // but for the sticky exception flags
#else
    return true;
#endif
  }

 private:
  unsigned before_ = 0, during_ = 0;
};

std::string fault_text(const strew_fault& f) {
  return fmt::format("position {}, component {}, value {}, bound {}", f.position, f.component, f.value, f.bound);
}

/// Does policy `undefined` or a zero extent leave this call without a meaning?
bool is_answerable(const Geometry& g) {
  bool answerable = true;
  for (size_t d = 0; d < g.operand.size(); ++d) {
    if (g.window[d] <= g.operand[d]) continue;
    const bool scatter_drops = g.scatter && !g.has_window[d] && g.component[d] >= 0 && g.oob != OobPolicy::undefined;
    const bool no_positions = g.scatter && !g.has_window[d] && g.position_count() == 0;
    answerable &= scatter_drops || no_positions;
  }
  return answerable;
}

std::vector<int64_t> random_values(Rng& rng, const Blueprint& b) {
  std::vector<int64_t> values = maxima(b);
  if (rng.chance(35)) return values;
  for (size_t v = 0; v < values.size(); ++v) {
    const Variable& variable = b.variables[v];
    if (is_free(b, static_cast<int>(v)))
      values[v] = rng.chance(6) ? 0 : rng.chance(30) ? values[v] : rng.between(std::min<int64_t>(1, values[v]), values[v]);
    if (variable.at_most >= 0) values[v] = std::min(values[v], values[static_cast<size_t>(variable.at_most)]);
  }
  for (size_t v = 0; v < values.size(); ++v) {  // a static window may not exceed a shrunken operand
    const int limit = b.variables[v].at_most;
    if (limit >= 0 && !is_free(b, static_cast<int>(v)) && values[v] < b.variables[v].most) return maxima(b);
  }
  return values;
}

/// Where the order of a fold may change its value, `relaxed` promises nothing to compare: such ops run without duplicates.
bool order_matters(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->order == Order::in_order) return false;
  using K = CombinerKind;
  if (s->combiner.kind == K::expr || s->combiner.kind == K::div) return true;
  if (s->combiner.kind != K::add && s->combiner.kind != K::sub && s->combiner.kind != K::mul) return false;
  return std::any_of(s->results.begin(), s->results.end(),
                     [](const TensorType& t) { return is_float(t.dtype) || is_complex(t.dtype); });
}

DType result_dtype(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr ? s->results[0].dtype : std::get<Gather>(op).result.dtype;
}

bool has_unique_hint(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr && s->unique_indices;
}

bool has_sorted_hint(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr ? s->indices_are_sorted : std::get<Gather>(op).indices_are_sorted;
}

DataMode random_mode(Rng& rng) {
  const int64_t roll = rng.below(100);
  return roll < 42 ? DataMode::ordinary : roll < 78 ? DataMode::nasty : roll < 90 ? DataMode::small : DataMode::bits;
}

std::vector<Pattern> choose_patterns(Rng& rng, const Op& op, bool must_be_unique, int count) {
  const OobPolicy oob = is_scatter(op) ? std::get<Scatter>(op).oob : std::get<Gather>(op).oob;
  std::vector<Pattern> all;
  for (int p = 0; p < kPatternCount; ++p) {
    const auto pattern = static_cast<Pattern>(p);
    if (oob != OobPolicy::undefined || is_in_range(pattern))
      all.push_back(must_be_unique && is_in_range(pattern) ? Pattern::unique : pattern);
  }
  rng.shuffle(all);
  std::vector<Pattern> out;
  for (int i = 0; i < count; ++i) out.push_back(all[static_cast<size_t>(i) % all.size()]);
  return out;
}

/// In place, what no update reaches keeps its bits: the one thing about the reference that can be checked without another.
std::optional<std::string> changed_untouched(const PreparedCall& p, const Call::Image& after) {
  const Scatter* s = std::get_if<Scatter>(&p.call.op());
  if (s == nullptr || s->init != InitKind::in_place) return std::nullopt;
  for (size_t i = 0; i < after.size(); ++i) {
    if (p.before[i] == after[i]) continue;
    const TensorType& type = s->results[i];
    const int64_t origin = p.call.origin_offset(static_cast<int>(i));
    const std::vector<int64_t> elements = element_numbers(type.dims, strides_of(type));
    for (size_t e = 0; e < elements.size(); ++e) {
      if (p.touched.element[e] != 0) continue;
      if (load_element(p.before[i].data() + origin, type.dtype, elements[e]) !=
          load_element(after[i].data() + origin, type.dtype, elements[e])) {
        return fmt::format("result {}: element {} (row-major) changed, but no update reaches it", i, e);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Checker::describe(int signal, const void* address) const {
  return fmt::format("{} at {} in {}", signal_name(signal), pool_.describe(address), running_);
}

std::string Tally::text() const {
  return fmt::format("{} ops, {} calls on {} data sets: {} with duplicates, {} with a bad index ({} errors), {} without effect",
                     ops, calls, data_sets, duplicates, bad_index, errors, without_effect);
}

void Tally::add(const Tally& other) {
  ops += other.ops;
  data_sets += other.data_sets;
  calls += other.calls;
  duplicates += other.duplicates;
  bad_index += other.bad_index;
  errors += other.errors;
  without_effect += other.without_effect;
}

std::optional<Failure> Checker::check_text(const Op& op) {
  if (const Status status = verify(op); !status.ok()) return Failure{"verify: " + status.message(), "", "verify"};
  const std::string text = print(op);
  const Expected<Op> parsed = parse_op(text);
  if (!parsed.ok()) return Failure{"parse of printed text: " + parsed.status().message(), "", "text"};
  if (!(*parsed == op)) return Failure{"parse(print(op)) differs; it prints " + print(*parsed), "", "text"};
  return std::nullopt;
}

std::optional<Failure> Checker::check_call(const VerifiedOp& op, const std::vector<Engine>& engines, PreparedCall& p) {
  const auto failed = [&](std::string what, std::string engine, bool stopped = false) {
    return Failure{std::move(what), p.text, std::move(engine), stopped};
  };
  strew_fault want_fault{}, got_fault{};
  Status want, got;
  running_ = "reference";
  Caught caught = catch_fault([&] { want = run_reference(op, p.call.views(), &want_fault); });
  if (caught.faulted) return failed(describe(caught.signal, caught.address), "reference", true);
  const Call::Image expected = p.call.results();
  if (auto stray = first_stray_write(p.call, p.before, expected)) return failed(*stray, "reference");
  const Geometry g = geometry_of(p.call.op());
  if (want.ok() == (g.oob == OobPolicy::error && p.touched.any_bad))
    return failed(want.ok() ? "a bad index was accepted" : "good indices were refused: " + want.message(), "reference");
  if (!want.ok() && want.code() != Code::out_of_bounds) return failed("status: " + want.message(), "reference");
  if (!want.ok() && expected != p.before) return failed("it wrote results although an index is bad", "reference");
  if (auto changed = changed_untouched(p, expected)) return failed(*changed, "reference");
  tally_.add({0, 1, 0, p.touched.twice, p.touched.any_bad, !want.ok(), expected == p.before});
  for (const Engine& engine : engines) {
    for (const bool split : {false, true}) {
      if (split && !can_split(engine.kernel)) continue;
      p.call.restore(p.before);
      got_fault = {};
      bool by_strategy = false;
      const bool alone = engine.kernel.schedule().strategy == Strategy::sequential;
      const int threads = alone ? 1 : kThreadCounts[p.splits.below(std::size(kThreadCounts))];
      running_ = fmt::format("{} [{}]{}", engine.backend, engine.schedule, split ? " in pieces" : "");
      const CallersFloats floats(!split && p.splits.chance(10));
      caught = catch_fault([&] {
        got = split ? run_split(engine.kernel, p.call.views(), threads, p.splits, &got_fault, by_strategy)
                    : engine.kernel.run(p.call.views(), &got_fault);
      });
      if (caught.faulted) return failed(describe(caught.signal, caught.address), running_, true);
      if (!floats.kept()) return failed("the caller's floating-point environment changed", running_);
      ++tally_.calls;
      if (want.code() != got.code()) {
        return failed(
            fmt::format("status: expected {}, got {}", want.ok() ? "ok" : want.message(), got.ok() ? "ok" : got.message()),
            running_);
      }
      if (!want.ok() && std::memcmp(&want_fault, &got_fault, sizeof want_fault) != 0) {
        return failed(fmt::format("fault: expected {}; got {}", fault_text(want_fault), fault_text(got_fault)), running_);
      }
      if (auto difference = first_difference(p.call, expected, p.call.results(), p.touched)) return failed(*difference, running_);
      if (by_strategy && want.ok())
        coverage().ran(SplitCell{engine.kernel.schedule().strategy, threads, !g.scatter, g.oob, result_dtype(op)});
    }
  }
  return std::nullopt;
}

std::optional<Failure> Checker::check(const Blueprint& blueprint, uint64_t seed, int patterns, std::optional<Strategy> wish) {
  const Op op = make_op(blueprint);
  ++tally_.ops;
  if (auto failure = check_text(op)) return failure;
  const VerifiedOp verified = VerifiedOp::of(op).value();
  Rng rng(seed);
  const Expected<Cell> cell = room_.cell(op);
  if (!cell.ok()) return Failure{"plan: " + cell.status().message(), "", "plan"};
  running_ = "building kernels";
  Expected<std::vector<Engine>> engines = std::vector<Engine>{};
  const Caught caught = catch_fault([&] { engines = room_.build(op, Rng(seed ^ 0x5eed), wish); });
  if (caught.faulted) return Failure{signal_name(caught.signal) + " while building kernels", "", "build", true};
  if (!engines.ok()) return Failure{engines.status().message(), "", "build"};
  const bool must_be_unique = has_unique_hint(op) || order_matters(op);
  int done = 0;
  for (const Pattern pattern : choose_patterns(rng, op, must_be_unique, patterns)) {
    Op concrete = instantiate(blueprint, random_values(rng, blueprint));
    if (!is_answerable(geometry_of(concrete))) concrete = instantiate(blueprint, maxima(blueprint));
    const Geometry g = geometry_of(concrete);
    if (!is_answerable(g)) continue;
    const DataMode mode = random_mode(rng);
    pool_.release_all();
    PreparedCall call(pool_, rng, std::move(concrete), mode);
    store_indices(call.call.op(), call.call.indices_origin(), random_indices(rng, g, pattern, has_sorted_hint(op)));
    call.touched = touched_by(g, load_indices(call.call.op(), call.call.indices_origin()));
    if (g.oob == OobPolicy::undefined && call.touched.any_bad) continue;
    if (must_be_unique && call.touched.twice) continue;
    if (!g.scatter) call.touched.element.clear();
    call.before = call.call.results();
    call.splits = Rng(rng.next());
    call.text = fmt::format("{}\n  pattern {}, data mode {}", print(call.call.op()), name(pattern), static_cast<int>(mode));
    if (auto failure = check_call(verified, *engines, call)) return failure;
    ++done;
  }
  for (const std::string& name : room_.backend_names()) {
    const bool built = std::any_of(engines->begin(), engines->end(), [&](const Engine& e) { return e.backend == name; });
    if (built && done > 0) coverage().ran(name, *cell, done);
  }
  return std::nullopt;
}

}  // namespace strew::test
