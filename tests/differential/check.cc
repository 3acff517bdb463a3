// See check.h. Checks one op. It must verify, and its text must parse to the same op. Its kernels are built once.
// Then calls are made that differ in extents (where dynamic), index pattern and data. In each call the reference runs
// first, in the same buffers that the engines get afterwards, so guard pages and canary bytes watch it, too. Then
// each kernel runs through Kernel::run, on a number of threads that changes from call to call; sometimes its entries
// are also called directly, on pieces of the work. Building a kernel takes milliseconds; a call takes tens of
// microseconds on one thread, and a few hundred on eight threads that share two cores. Tested by
// tests/differential/run_planted.py.
#include "tests/differential/check.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "backends/reference/reference.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/call.h"
#include "tests/differential/compare.h"
#include "tests/differential/directed_op.h"
#include "tests/differential/fold_bounds.h"
#include "tests/differential/random_indices.h"
#include "tests/differential/random_limits.h"
#include "tests/differential/raw_entries.h"
#include "tests/support/elements.h"

namespace strew::test {

class PreparedCall {
 public:
  PreparedCall(GuardedPool& pool, Rng& rng, Op concrete, DataMode mode) : call(pool, rng, std::move(concrete), mode) {}
  Call call;
  Geometry geometry;
  Rng splits{0};
  int threads = 1;  ///< how many threads the engines use
  bool is_large = false;
  Touched touched;                   ///< by the op's own indices: a look-up may drop more
  bool has_errors = false;           ///< some source with policy error has a bad index
  std::optional<FoldBounds> bounds;  ///< set if the order of updates is open
  Call::Image before, expected;
  Status want;
  BadIndex want_bad_index;
  std::string text;
};

namespace {

/// A caller whose floating-point environment rounds down and flushes subnormals. Kernels must give the same results
/// and leave the environment as it is.
class CallersFloats {
 public:
  explicit CallersFloats(bool odd) : before_(get()) {
    if (odd) set(before_ | kOdd);
    during_ = get();
  }
  ~CallersFloats() { set(before_); }
  bool kept() const { return (get() & ~kFlags) == (during_ & ~kFlags); }

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kOdd = 0x8040 | 0x2000, kFlags = 0x3f;  // FTZ, DAZ, toward minus infinity; sticky exception flags
  static uint64_t get() { return _mm_getcsr(); }
  static void set(uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
#else
  static constexpr uint64_t kOdd = 1 << 24 | 2 << 22, kFlags = 0;  // FZ, toward minus infinity
  static uint64_t get() {
    uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#endif
  uint64_t before_, during_ = 0;
};

/// FoldBounds takes a hundred bytes per element. Calls with more elements than this get indices without duplicates
/// instead.
constexpr int64_t kMostBounded = 200'000;

std::string bad_index_text(const BadIndex& bad) {
  return fmt::format("tensor {}, position {}, component {}, value {}, bound {}", bad.source, bad.position, bad.component,
                     bad.value, bad.bound);
}

/// Is the call defined? Policy `undefined`, or an extent of zero, may leave it without a result.
bool is_answerable(const Geometry& g) {
  bool answerable = true;
  for (size_t d = 0; d < g.operand.size(); ++d) {
    if (g.window[d] <= g.operand[d]) continue;
    const bool is_fixed = g.component[d] < 0 && g.batch_position[d] < 0;
    const bool scatter_drops =
        g.scatter && !g.has_window[d] && (is_fixed || (g.component[d] >= 0 && g.oob != OobPolicy::undefined));
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
  for (size_t v = 0; v < values.size(); ++v) {  // a static window may be larger than a shrunken operand
    const int limit = b.variables[v].at_most;
    if (limit >= 0 && !is_free(b, static_cast<int>(v)) && values[v] < b.variables[v].most) return maxima(b);
  }
  return values;
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
  const OobPolicy oob = oob_of(op);
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

/// Fills in the indices of look-ups, of which each has a pattern of its own. False: one that may not be bad is.
bool store_lookups(Rng& rng, PreparedCall& call) {
  const std::vector<Lookup>& lookups = lookups_of(call.call.op());
  for (size_t l = 0; l < lookups.size(); ++l) {
    const Op gather = lookups[l].gather;
    const Geometry g = geometry_of(gather);
    const Pattern pattern = rng.pick(choose_patterns(rng, gather, false, 1));
    store_indices(gather, call.call.index_origins(l + 1), random_indices(rng, g, pattern, lookups[l].gather.indices_are_sorted));
    const bool any_bad = touched_by(g, load_indices(gather, call.call.index_origins(l + 1))).any_bad;
    if (g.oob == OobPolicy::undefined && any_bad) return false;
    call.has_errors |= g.oob == OobPolicy::error && any_bad;
  }
  return true;
}

/// For in-place scatters: elements that no update reaches must keep their bits. This is the only property of the
/// reference that can be checked without another implementation.
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
  return fmt::format(
      "{} ops, {} calls on {} data sets: {} with duplicates, {} with a bad index ({} errors), {} without effect, {} of more than "
      "{} "
      "elements; {} folds in an open order compared with bounds",
      ops, calls, data_sets, duplicates, bad_index, errors, without_effect, large, kLargeElements, folds);
}

void Tally::add(const Tally& other) {
  ops += other.ops;
  data_sets += other.data_sets;
  calls += other.calls;
  duplicates += other.duplicates;
  bad_index += other.bad_index;
  errors += other.errors;
  without_effect += other.without_effect;
  large += other.large;
  folds += other.folds;
}

std::optional<Failure> Checker::check_text(const Op& op) {
  if (const Status status = verify(op); !status.ok()) return Failure{"verify: " + status.message(), "", "verify"};
  const std::string text = print(op);
  const Expected<Op> parsed = parse_op(text);
  if (!parsed.ok()) return Failure{"parse of printed text: " + parsed.status().message(), "", "text"};
  if (!(*parsed == op)) return Failure{"parse(print(op)) differs; it prints " + print(*parsed), "", "text"};
  return std::nullopt;
}

/// Runs the reference, in the buffers that the engines get afterwards, and stores its results.
std::optional<Failure> Checker::check_reference(const VerifiedOp& op, PreparedCall& p) {
  const auto failed = [&](std::string what, bool stopped = false) {
    return Failure{std::move(what), p.text, "reference", stopped};
  };
  running_ = "reference";
  const Caught caught = catch_fault([&] { p.want = run_reference(op, p.call.views(), &p.want_bad_index); });
  if (caught.faulted) return failed(describe(caught.signal, caught.address), true);
  p.expected = p.call.results();
  if (auto stray = first_stray_write(p.call, p.before, p.expected)) return failed(*stray);
  if (p.want.ok() == p.has_errors)
    return failed(p.want.ok() ? "a bad index was accepted" : "good indices were refused: " + p.want.message());
  if (!p.want.ok() && p.want.code() != Code::out_of_bounds) return failed("status: " + p.want.message());
  if (!p.want.ok() && p.expected != p.before) return failed("it wrote results although an index is bad");
  if (auto changed = changed_untouched(p, p.expected)) return failed(*changed);
  if (p.bounds && p.want.ok()) {
    if (auto outside = p.bounds->first_outside(p.call, p.expected)) return failed(*outside);
    tally_.folds += p.bounds->bounded();
  }
  tally_.add({0, 1, 0, p.touched.twice, p.touched.any_bad, !p.want.ok(), p.expected == p.before});
  return std::nullopt;
}

/// The ways in which the engine runs this data set.
std::vector<Checker::Way> Checker::ways(const Engine& engine, PreparedCall& p) {
  Rng& rng = p.splits;
  std::vector<Way> out;
  const ExecutionLimits small = small_limits(rng, kMostThreads, p.geometry.position_count());
  const auto with = [&](int threads) {
    Way way{Way::Kind::small, small, threads};
    way.limits.most_threads = threads;
    return way;
  };
  if (p.bounds && p.touched.twice && engine.backend != "reference") {
    for (const int threads : kThreadCounts) out.push_back(with(threads));
  } else {
    out.push_back(with(p.threads));
  }
  if (rng.chance(p.is_large ? 60 : 10)) out.push_back({Way::Kind::usual, kDefaultLimits, kMostThreads});
  if (has_entries(engine.kernel) && rng.chance(60)) out.push_back({Way::Kind::raw, small, 1});
  return out;
}

/// Runs the engine once and compares its results. `first`: the results of its first run, for ops whose order of
/// updates is open; this function sets it.
std::optional<Failure> Checker::check_way(const Engine& engine, const Way& way, PreparedCall& p,
                                          std::optional<Call::Image>& first) {
  const auto failed = [&](std::string what, bool stopped = false) { return Failure{std::move(what), p.text, running_, stopped}; };
  const bool raw = way.kind == Way::Kind::raw;
  p.call.restore(p.before);
  room_.set_limits(way.limits);
  BadIndex got_bad_index;
  Status got;
  running_ = fmt::format("{} {} [{}]{}", engine.backend, engine.target, engine.schedule,
                         raw ? " entries in pieces" : fmt::format(" on {} threads", way.threads));
  const CallersFloats floats(!raw && p.splits.chance(10));
  const Caught caught = catch_fault([&] {
    got = raw ? run_entries(engine.kernel, p.call.views(), p.splits, &got_bad_index)
              : engine.kernel.run(p.call.views(), &got_bad_index);
  });
  if (caught.faulted) return failed(describe(caught.signal, caught.address), true);
  if (!floats.kept()) return failed("the caller's floating-point environment changed");
  ++tally_.calls;
  const Status& want = p.want;
  if (want.code() != got.code())
    return failed(fmt::format("status: expected {}, got {}", want.ok() ? "ok" : want.message(), got.ok() ? "ok" : got.message()));
  if (!want.ok() && got_bad_index != p.want_bad_index)
    return failed(fmt::format("bad index: expected {}; got {}", bad_index_text(p.want_bad_index), bad_index_text(got_bad_index)));
  if (auto difference = difference_from(p, p.call.results(), way, first)) return failed(*difference);
  const std::vector<PhaseTrace::Step>& steps = room_.trace().steps();
  if (raw || !want.ok() || engine.backend == "reference") return std::nullopt;
  coverage().ran(steps);
  const Strategy strategy = engine.kernel.schedule().strategy;
  int threads = threads_of(steps, strategy);
  if (steps.empty() && strategy == Strategy::sequential) threads = 1;  // the call ran the range entry directly
  if (threads > 0) coverage().ran(SplitCell{strategy, threads, !p.geometry.scatter, p.geometry.oob, result_dtype(p.call.op())});
  return std::nullopt;
}

/// Compares bit for bit, except elements for which the order of updates is open. Those must be within their bounds,
/// and equal to those of the kernel's first run: their bits may depend on op, schedule and shapes, but not on the
/// number of threads.
std::optional<std::string> Checker::difference_from(PreparedCall& p, const Call::Image& actual, const Way& way,
                                                    std::optional<Call::Image>& first) {
  if (!p.bounds || !p.want.ok()) return first_difference(p.call, p.expected, actual, p.touched);
  Call::Image rest = actual;
  p.bounds->copy_open(p.call, p.expected, rest);
  if (auto difference = first_difference(p.call, p.expected, rest, p.touched)) return difference;
  if (auto outside = p.bounds->first_outside(p.call, actual)) return outside;
  if (way.kind != Way::Kind::small) return std::nullopt;
  if (!first) {
    first = actual;
    return std::nullopt;
  }
  if (auto difference = first_difference(p.call, *first, actual, p.touched))
    return fmt::format("{}, where the expected bits are those that one thread gave", *difference);
  return std::nullopt;
}

std::optional<Failure> Checker::check_call(const VerifiedOp& op, const std::vector<Engine>& engines, PreparedCall& p) {
  if (auto failure = check_reference(op, p)) return failure;
  for (const Engine& engine : engines) {
    std::optional<Call::Image> first;
    for (const Way& way : ways(engine, p))
      if (auto failure = check_way(engine, way, p, first)) return failure;
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
  if (room_.only_records()) return std::nullopt;
  const bool must_be_unique = has_unique_hint(op);
  const auto offset = static_cast<size_t>(rng.below(std::size(kThreadCounts)));
  int done = 0;
  for (const Pattern pattern : choose_patterns(rng, op, must_be_unique, patterns)) {
    Op concrete = instantiate(blueprint, random_values(rng, blueprint));
    if (!is_answerable(geometry_of(concrete))) concrete = instantiate(blueprint, maxima(blueprint));
    if (!is_answerable(geometry_of(concrete))) continue;
    const DataMode mode = random_mode(rng);
    pool_.release_all();
    PreparedCall call(pool_, rng, std::move(concrete), mode);
    call.geometry = geometry_of(call.call.op());
    const Geometry& g = call.geometry;
    const bool keeps_promise = has_sorted_hint(op) && !(sums_in_registers(op) && rng.chance(40));
    store_indices(call.call.op(), call.call.index_origins(), random_indices(rng, g, pattern, keeps_promise));
    const IndexValues values = load_indices(call.call.op(), call.call.index_origins());
    call.touched = touched_by(g, values);
    if (g.oob == OobPolicy::undefined && call.touched.any_bad) continue;
    call.has_errors = g.oob == OobPolicy::error && call.touched.any_bad;
    if (!store_lookups(rng, call)) continue;
    if (must_be_unique && call.touched.twice) continue;
    const int64_t elements = std::max(count_of(g.operand), g.position_count() * g.window_count());
    call.is_large = elements > kLargeElements;
    if (order_is_open(op) && elements > kMostBounded && call.touched.twice) continue;
    if (order_is_open(op) && elements <= kMostBounded) call.bounds.emplace(call.call, g, values);
    if (!g.scatter) call.touched.element.clear();
    call.before = call.call.results();
    call.splits = Rng(rng.next());
    call.threads = kThreadCounts[(static_cast<size_t>(done) + offset) % std::size(kThreadCounts)];
    call.text = fmt::format("{}\n  pattern {}, data mode {}", print(call.call.op()), name(pattern), static_cast<int>(mode));
    tally_.large += call.is_large;
    if (auto failure = check_call(verified, *engines, call)) return failure;
    ++done;
  }
  for (const std::string& name : room_.backend_names()) {
    const bool built = std::any_of(engines->begin(), engines->end(), [&](const Engine& e) { return e.backend == name; });
    if (!built || done == 0) continue;
    coverage().ran(name, *cell, done);
    for (const Lookup& lookup : lookups_of(op)) coverage().ran(name, cell_of(lookup), done);
  }
  return std::nullopt;
}

}  // namespace strew::test
