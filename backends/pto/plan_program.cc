// plan_program(): plans the program of an op. If possible, the program moves rows of many positions at a time (rows.cc),
// otherwise one window after another (windows.cc). It is written once for each tile height tried, which takes
// microseconds, and the height with the lowest estimated time is taken, of those whose tiles fit the safe part of the
// buffer. Then come addresses and flags. The verifier checks the finished program; a program that breaks a rule is an
// internal error.
//
// Tested by tests/golden/pto_program_test.cc, tests/error/pto_program_error_test.cc and tests/differential/npu.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backends/pto/combine.h"
#include "backends/pto/passes.h"
#include "backends/pto/program.h"
#include "backends/pto/scalars.h"
#include "backends/pto/spread.h"
#include "backends/pto/walk.h"
#include "base/fp_environment.h"
#include "compiler/pto/verify.h"
#include "compiler/rewrite/rewrites.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMostRows = 2048;
constexpr int64_t kMostRowBytes = 32 << 10;
/// The number of vector cores of the largest chips; a launch may use fewer or more.
constexpr int kCoresA3 = 48, kCoresA5 = 64, kVectorPerCube = 2;
/// In instruction starts: what a program of two buffers or of more launches must save; and one of shorter tiles, or shared out in another way.
constexpr double kLeastSaved = 1, kLeastSavedByTiles = 0.5;
/// After so many shorter tiles that saved nothing, no others are tried.
constexpr int kMostInVain = 4;

/// A program that was written, and the estimated time of its first core.
struct Tried {
  TileProgram program;
  CostInputs inputs;
  std::string loop;  ///< Frame::tile_loop
  Sharing sharing = Sharing::first;
  std::vector<Sharing> others;  ///< Frame::others
  int64_t tiles = 0;            ///< of the first core
  double time = 0;
};

/// Does the loop over this variable, in which two tiles are worked on at a time, allocate tiles?
bool has_open_tiles(const std::vector<Statement>& statements, const std::string& loop, bool inside) {
  return std::any_of(statements.begin(), statements.end(), [&](const Statement& s) {
    return (inside && s.opcode == Opcode::alloc_tile) ||
           has_open_tiles(s.body, loop, inside || (s.opcode == Opcode::loop && s.result == loop));
  });
}

/// Fails at a look-up that moves a part of a window only.
Status check_lookups(const Plan& plan) {
  for (size_t s = 1; s < plan.sources.size(); ++s)
    for (size_t k = 0; k < plan.sources[s].components.size(); ++k) {
      const PlaceRule rule = rule_of(plan.sources[s], k);
      if (rule != PlaceRule::cut && rule != PlaceRule::split) continue;
      const PlanTensor& table = plan.tensors[static_cast<size_t>(table_of(plan, s))];
      return unsupported(
          "the look-up of " + std::string(name(table.role)) + " " + std::to_string(table.index) + " cuts windows (policy " +
          std::string(name(plan.sources[s].oob)) +
          "), expected a policy that keeps or drops whole windows, or windows of one coordinate where it is indexed");
    }
  return {};
}

Status check_options(const ProgramOptions& options) {
  const std::string& k = options.kernel;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool identifier =
      !k.empty() && letter(k[0]) && std::all_of(k.begin(), k.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!identifier) return invalid_argument("kernel: the name is '" + k + "', expected letters, digits and _, no digit first");
  if (options.blocks < 0 || options.blocks > 65535)
    return invalid_argument("blocks: " + std::to_string(options.blocks) + ", expected 0 to 65535");
  if (options.tile_rows < 0 || options.tile_rows > kMostRows)
    return invalid_argument("tile_rows: " + std::to_string(options.tile_rows) + ", expected 0 to " + std::to_string(kMostRows));
  return {};
}

/// What the caller must guarantee, besides passing the arguments (TileProgram::requirements).
std::vector<std::string> requirements_of(const TileProgram& program, const Plan& plan, const ProgramOptions& options) {
  const bool strides = std::ranges::any_of(program.arguments, [](const ProgramArgument& a) { return !a.strides.empty(); });
  std::vector<std::string> out = {
      strides ? "every tensor has the strides given here, or is contiguous and row-major without, and its "
                "pointer, on 32 bytes, is that of its lowest element"
              : "every tensor is contiguous, row-major, and starts on 32 bytes",
      "no other program touches the same memory while this one runs"};
  for (const IndexSource& source : plan.sources) {
    if (source.oob != OobPolicy::undefined || source.components.empty()) continue;
    const int indices = plan.tensors[static_cast<size_t>(source.components.front().tensor)].index;
    out.emplace_back("every index is in bounds" + (indices == 0 ? "" : " in indices" + std::to_string(indices)));
  }
  if (!plan.gather && plan.unique.holds && plan.unique.source == "hint") out.emplace_back("no two updates have one destination");
  if (std::ranges::count(program.arguments, "fault", &ProgramArgument::name) > 0)
    out.emplace_back("it looks at fault: if its word 0 is not 0 afterwards, an index was out of bounds and nothing was written");
  if (options.sync == Sync::tool && options.output == Output::pto_ir)
    out.emplace_back("ptoas runs with --enable-insert-sync: the text has no flags");
  if (program.tiles.layout == "l1")
    out.emplace_back(program.chip == Chip::a5
                         ? "the kernel starts on cube cores with the vector cores beside them (a mixed kernel)"
                         : "the kernel starts on cube cores");
  if (program.launches > 1)
    out.emplace_back("it is launched " + std::to_string(program.launches) +
                     " times, one launch after the other, on as many cores, with launch = 0, 1" +
                     (program.launches == 3 ? ", 2" : ""));
  if (program.chip == Chip::a5)
    out.emplace_back("the kernel starts through the runtime's launch, which a5 needs for scatter and gather");
  return out;
}

/// Does the op move nothing, whatever the indices are?
bool moves_nothing(const Plan& plan) {
  const bool no_place = std::any_of(plan.primary().components.begin(), plan.primary().components.end(),
                                    [](const Component& c) { return c.dim.is(0); });
  const bool no_row = std::any_of(plan.sources.begin() + 1, plan.sources.end(), [](const IndexSource& lookup) {
    return !is_fill(lookup.oob) && std::ranges::any_of(lookup.components, [](const Component& c) { return c.dim.is(0); });
  });
  return has_zero(plan.positions) || has_zero(plan.window) || (no_place && !plan.gather) || no_row;
}

/// The plan of a wide accumulation, with its conversions in the expression. Where no two updates meet, each is rounded when it is applied.
/// Otherwise the results become accumulators, and `rounded` receives the dtypes of the op's results.
Plan accumulated(const Plan& plan, std::vector<DType>& rounded) {
  Plan out = plan;
  const DType wide = plan.accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32;
  const ExprOp op = combiner_operator(plan)->op;
  ExprBuilder e;
  std::vector<int32_t> results;
  for (int pair = 0; pair < plan.pairs; ++pair) {
    PlanTensor& result = out.tensors[static_cast<size_t>(plan.result(pair))];
    const DType dtype = result.dtype;
    rounded.push_back(dtype);
    if (!plan.unique.holds) result.dtype = wide;
    const int32_t current = e.as(e.current(pair, result.dtype), wide);
    const int32_t update = e.as(e.update(pair, plan.tensors[static_cast<size_t>(plan.update(pair))].dtype), wide);
    results.push_back(e.as(e.apply(op, {current, update}), result.dtype));
  }
  out.combine = e.returns(std::move(results));
  out.accumulate = Accumulate::native;
  return out;
}

/// Plans one op: tries tile heights and keeps the cheapest program.
class Attempts {
 public:
  /// `rounded`: Attempt::rounded.
  Attempts(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip, const ProgramOptions& options,
           const std::vector<DType>* rounded = nullptr)
      : tensors_(tensors), plan_(plan), chip_(chip), options_(options), rounded_(rounded) {
    if (options_.blocks == 0) options_.blocks = chip == Chip::a3 ? kCoresA3 : kCoresA5;
    if (options.blocks == 0 && options_.through_l1) options_.blocks /= kVectorPerCube;
    if (options_.output == Output::pto_cpp) options_.sync = Sync::addresses;
  }

  Expected<TileProgram> best() {
    STREW_TRY(check_options(options_));
    if (options_.non_negative && std::ranges::any_of(plan_.primary().components, &Component::normalize_negative))
      return invalid_argument("non_negative: the op normalises negative indices, expected one to which they are out of bounds");
    if (options_.through_l1) STREW_TRY(check_l1(options_));
    for (const Component& c : plan_.primary().components)
      if (c.dim.is(0) && plan_.gather && !has_zero(plan_.positions))
        return unsupported("an indexed dim is 0, expected one that has places to gather from");
    if (options_.output == Output::pto_as) {
      // If the modes of the chip's instructions implement the op, a straight line of any number of tiles (straight.cc); otherwise a program
      // of one core, unrolled, in which tiles place single elements where no other form does without numbers (placed.cc).
      Frame frame(tensors_, plan_, chip_, options_, {});
      if (rounded_ != nullptr)
        return unsupported("pto-as: wide accumulation rounds the results after all updates, which takes loops; pto-ir has it");
      const bool judges = frame.checks_first();
      return !judges && frame.start().ok() && write_straight(frame) ? finished(std::move(frame.program)) : written_out(judges);
    }
    STREW_ASSIGN(TileProgram best, planned());
    return finished(std::move(best));
  }

 private:
  /// The cheapest program over all heights and ways to share the work. Flags and requirements are still missing (finished()).
  Expected<TileProgram> search() {
    std::map<int, Tried> best;  // by the number of launches
    int in_vain = 0;
    for (const int64_t rows : heights()) {
      Expected<std::optional<Tried>> written = attempt(wanted(rows));
      // Shorter tiles may be shared out in another way, which the output cannot express.
      if (!written.ok() && !best.empty()) break;
      STREW_ASSIGN(std::optional<Tried> tried, std::move(written));
      if (!tried) continue;
      const std::vector<Sharing> others = tried->others;
      bool saves = keep(best, std::move(*tried));
      for (const Sharing sharing : others) {
        STREW_ASSIGN(std::optional<Tried> other, attempt(wanted(rows, sharing)));
        if (other) saves |= keep(best, std::move(*other));
      }
      in_vain = saves ? 0 : in_vain + 1;
      // The scalar unit's statements take long to write.
      if (in_vain == (scalars_ == nullptr ? kMostInVain : 1)) break;
    }
    if (best.empty() && options_.tile_rows > 0)
      return unsupported(
          "tiles of " + std::to_string(options_.tile_rows) +
          " rows do not fit the buffer, or would lose the order of updates; without a height the planner takes one that does");
    if (best.empty())
      return unsupported("no tile of a row fits " + std::to_string(safe_buffer_bytes(chip_)) + " bytes of buffer");
    STREW_ASSIGN(Tried chosen, of_launches(best));
    add_cost(chosen.program, chosen.inputs);
    return std::move(chosen.program);
  }

  /// Keeps `tried` if it is the first of its number of launches or saves something. Returns whether it is kept.
  static bool keep(std::map<int, Tried>& best, Tried tried) {
    const auto [at, is_first] = best.try_emplace(tried.program.launches);
    if (!is_first && tried.time + kLeastSavedByTiles > at->second.time) return false;
    at->second = std::move(tried);
    return true;
  }

  /// The cheapest of the programs of each number of launches, each with two buffers where that is cheaper; of as many launches as can be,
  /// if ProgramOptions asks for several.
  Expected<Tried> of_launches(std::map<int, Tried>& best) {
    std::optional<Tried> chosen;
    Status failed;
    for (auto& [launches, tried] : best) {
      const Status buffers = try_buffers(tried);
      if (failed.ok()) failed = buffers;
      if (!buffers.ok()) continue;
      if (!chosen || options_.launches == 2 || tried.time + kLeastSaved <= chosen->time) chosen = std::move(tried);
    }
    if (!chosen) return failed;
    return std::move(*chosen);
  }

  Attempt wanted(int64_t rows, Sharing sharing = Sharing::first) const {
    return {.rows = rows, .sharing = sharing, .scalars = scalars_, .single = single_, .rounded = rounded_};
  }

  /// The tile heights to try, tallest first: powers of two, and the op's own extents, for which no tile is partial.
  std::vector<int64_t> heights() const {
    if (options_.tile_rows > 0) return {options_.tile_rows};
    std::vector<int64_t> out;
    for (const std::vector<Loop>* loops : {&plan_.positions, &plan_.window})
      for (const Loop& loop : *loops)
        if (loop.extent.is_static() && loop.extent.factor > 0 && loop.extent.factor <= kMostRows)
          out.push_back(loop.extent.factor);
    for (int64_t rows = kMostRows; rows >= 1; rows /= 2) out.push_back(rows);
    std::sort(out.rbegin(), out.rend());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// The program for one tile height, or nothing if its tiles do not fit the buffer.
  Expected<std::optional<Tried>> attempt(const Attempt& wanted) {
    if (wanted.rows > tallest_) return std::optional<Tried>();
    Frame frame(tensors_, plan_, chip_, options_, wanted);
    STREW_TRY(frame.start());
    frame.build.hoist_tiles(wanted.buffered);
    const int64_t most = kMostRowBytes * 8 / frame.widest();
    const Expected<RowWalk> walk = row_walk(frame, most);
    if (options_.through_l1) return attempt_l1(frame, walk, wanted);
    if (walk.ok()) {
      const Term& extent = walk->axis.extent;
      const bool too_tall = options_.tile_rows == 0 && extent.is_static() && wanted.rows > std::max<int64_t>(extent.factor, 1);
      const bool no_fractals = walk->fractals > 0 && wanted.rows % 16 != 0;
      if (too_tall || no_fractals || wanted.rows > row_limit(frame)) return std::optional<Tried>();
      const int64_t bytes = wanted.rows * row_bytes(frame, *walk) * (wanted.buffered ? 2 : 1);
      if (!fits(wanted.rows, bytes)) return std::optional<Tried>();
      STREW_TRY(write_rows(frame, *walk));
      return measured(frame, wanted.rows);
    }
    if (options_.index_column)
      return unsupported("index layout column: windows are copied one by one and there is no index tile (" +
                         walk.status().message() + "), expected layout row");
    const Status windows = write_windows(frame);
    if (windows.ok()) return measured(frame, wanted.rows);
    // If the op could never be a program of rows, only the reason why windows cannot be copied is of use.
    const bool never_rows = plan_.primary().components.empty() || plan_.positions.empty() || bits(index_of(plan_).dtype) < 32;
    if (never_rows) return windows;
    return unsupported(windows.message() + "; nor can rows be scattered or gathered: " + walk.status().message());
  }

  Expected<std::optional<Tried>> attempt_l1(Frame& frame, const Expected<RowWalk>& walk, const Attempt& wanted) {
    if (!walk.ok())
      return walk.status().message().starts_with("gather-to") ? walk.status()
                                                              : unsupported("gather-to l1: " + walk.status().message());
    if (wanted.buffered || !fits_l1(*walk, wanted.rows)) return std::optional<Tried>();
    STREW_ASSIGN(const bool written, write_l1(frame, *walk));
    return written ? measured(frame, wanted.rows) : std::optional<Tried>();
  }

  /// A lower bound of the bytes that one row of a tile and its index take in the buffer: it rules out tall tiles
  /// without writing the program.
  static int64_t row_bytes(const Frame& frame, const RowWalk& walk) {
    const Words& words = frame.words(frame.table(0));
    const int64_t bytes = walk.width * words.count * std::max<int64_t>(1, walk.fractals) * bits(words.element.dtype) / 8;
    return bytes + 4;
  }

  /// Do tiles of `rows` rows fit, which take that many bytes? If not, this bounds the heights that can, because the bytes
  /// grow with the rows.
  bool fits(int64_t rows, int64_t bytes) {
    const int64_t safe = safe_buffer_bytes(chip_);
    if (bytes <= safe) return true;
    tallest_ = static_cast<int64_t>(static_cast<double>(rows) * static_cast<double>(safe) / static_cast<double>(bytes));
    return false;
  }

  /// The most rows that a tile may have if the order of updates is to be kept.
  int64_t row_limit(const Frame& frame) const {
    const Expected<Combine> combine = choose_combine(frame);
    if (!combine.ok() || combine->any_order || combine->way == CombineWay::assign) return kMostRows;
    if (combine->way == CombineWay::atomic && chip_ == Chip::a3) return kMostRows;
    return 1;
  }

  /// The written program with its size and time, or nothing if its tiles do not fit.
  std::optional<Tried> measured(Frame& frame, int64_t rows) {
    Tried out{std::move(frame.program), frame.build.cost_inputs(), frame.tile_loop, frame.attempt.sharing,
              std::move(frame.others)};
    TileProgram& program = out.program;
    out.inputs.launches = program.launches;
    if (options_.launches == 1) std::erase_if(out.others, [](Sharing s) { return s != Sharing::items; });
    frame.build.finish(program, options_.kernel);
    Function& function = program.module.functions[0];
    const PlacedBytes placed = place_tiles(function, options_.sync == Sync::addresses);
    program.ub_bytes = program.cost.ub_peak = placed.ub;
    if (!fits(rows, placed.ub) || placed.l1 > l1_bytes()) return std::nullopt;
    // ptoas would give the two tiles of an iteration the same addresses if they were allocated inside the loop.
    open_tiles_ =
        frame.attempt.buffered && options_.sync != Sync::addresses && has_open_tiles(function.body, frame.tile_loop, false);
    if (open_tiles_) return std::nullopt;
    const CoreCost cost = first_core_cost(function, out.inputs);
    out.tiles = cost.tiles;
    out.time = time_of(cost, program.tiles.buffers) + kLaunchCost * (program.launches - 1);
    return out;
  }

  /// Adds to the chosen program what it still lacks: guarded arithmetic, flags and requirements. Verifies it.
  Expected<TileProgram> finished(TileProgram program) const {
    Function& function = program.module.functions[0];
    if (options_.output == Output::pto_ir) STREW_TRY(guard_arithmetic(function));
    std::set<std::string> apart;
    for (const ProgramArgument& a : program.arguments)
      if (plan_.gather && program.tiles.mode != "copy" && a.role == ArgumentRole::result) apart.insert(a.name);
    const bool is_line = options_.output == Output::pto_as;
    if (options_.sync != Sync::tool && !is_line) write_flags(function, chip_, apart);
    program.kernel = options_.kernel;
    program.chip = program.module.chip = chip_;
    program.blocks = is_line ? 1 : options_.blocks;
    const std::vector<std::string> own = std::move(program.requirements);
    program.requirements = requirements_of(program, plan_, options_);
    program.requirements.insert(program.requirements.end(), own.begin(), own.end());
    const Status legal = verify(program.module, {reader_of(options_.output), !is_line});
    if (!legal.ok())
      return internal_error("the program planned for " + std::string(name(chip_)) +
                            " breaks a rule of the chip: " + legal.message());
    if (is_line) program.module.chip = Chip::any;  // PTO-AS text does not name a chip
    return program;
  }

  /// The program without what finished() adds.
  Expected<TileProgram> planned() {
    const auto plan = [&] { return moves_nothing(plan_) ? initial_values() : search(); };
    // Values of rows are folded by the scalar unit, window by window.
    Expected<TileProgram> by_tiles = has_row_values(plan_) ? unsupported("rows of the op have values of their own") : plan();
    const bool refused = !by_tiles.ok() && by_tiles.status().code() == Code::unsupported;
    if (!refused || options_.output == Output::pto_as || options_.through_l1 || options_.index_column) return by_tiles;
    // Where tiles do not combine the elements, the scalar unit does.
    const Expected<lowered::Graph> graph = scalar_graph(plan_.combine);
    if (!graph.ok())
      return unsupported(by_tiles.status().message() + "; nor can the scalar unit combine: " + graph.status().message());
    scalars_ = &*graph;
    tallest_ = kMostRows;
    single_ = has_row_values(plan_);
    Expected<TileProgram> by_scalars = plan();
    if (!single_ && !by_scalars.ok() && by_scalars.status().code() == Code::unsupported) {
      single_ = true;
      by_scalars = plan();
    }
    scalars_ = nullptr;
    single_ = false;
    return by_scalars;
  }

  /// The program of an op that moves nothing: it writes the initial values of the results.
  Expected<TileProgram> initial_values() {
    Frame frame(tensors_, plan_, chip_, options_, {.scalars = scalars_, .single = single_, .rounded = rounded_});
    STREW_TRY(frame.start());
    write_window_check(frame);
    frame.program.tiles = {"copy", CoreSplit::single, 0, 0, "nd", 1};
    Status written;
    const Number elements = frame.scatter() ? frame.elements(frame.table(0)) : ProgramBuilder::number(0);
    if (!elements.is(0) && plan_.init_kind != InitKind::in_place) {
      frame.build.note("there is nothing to move: one core makes what is there before updates");
      frame.build.when(frame.build.equal(frame.build.core(), ProgramBuilder::number(0)),
                       [&] { written = write_init(frame, ProgramBuilder::number(0), elements); });
    }
    STREW_TRY(written);
    std::optional<Tried> tried = measured(frame, 0);
    if (!tried) return internal_error("a copy does not fit the buffer");
    add_cost(tried->program, tried->inputs);
    return std::move(tried->program);
  }

  /// PTO-AS: the program of one core with all loops unrolled. `judges`: it looks at all indices before it writes.
  Expected<TileProgram> written_out(bool judges) {
    options_.blocks = 1;
    options_.sync = Sync::tool;
    options_.buffers = 1;
    Status by_loops = unsupported("pto-as: only tiles of single elements check indices");
    if (!judges) {
      Expected<TileProgram> program = planned();
      by_loops = program.ok() ? unroll(*program, chip_) : program.status();
      if (by_loops.ok()) return finished(std::move(*program));
    }
    if (by_loops.code() != Code::unsupported) return by_loops;
    Frame frame(tensors_, plan_, chip_, options_, {});
    STREW_TRY(frame.start());
    STREW_TRY(write_placed(frame, moves_nothing(plan_)));
    TileProgram program = std::move(frame.program);
    frame.build.finish(program, options_.kernel);
    STREW_TRY(unroll(program, chip_));
    return finished(std::move(program));
  }

  /// Replaces `best` by a program with double buffering, with tiles down to a quarter of its height, if that is cheaper or wanted. Fails if
  /// it is wanted and there is none.
  Status try_buffers(Tried& best) {
    const bool must = options_.buffers == 2;
    const auto cannot = [&](const std::string& why) {
      return must ? invalid_argument("buffers: 2, expected 1: " + why) : Status();
    };
    if (options_.buffers == 1) return {};
    if (options_.through_l1) return cannot("gathers into L1 have one buffer");
    if (best.program.tiles.mode == "copy") return cannot("windows are copied one by one, in one buffer");
    const double least = best.time;
    const int64_t height = best.program.tiles.mode == "elem" ? best.program.tiles.cols : best.program.tiles.rows;
    tallest_ = height;
    std::optional<Tried> buffered;
    bool open = false;
    const int64_t least_rows = options_.tile_rows > 0 ? height : std::max<int64_t>(1, height / 4);
    for (int64_t rows = height; rows >= least_rows; rows /= 2) {
      Attempt tall = wanted(rows, best.sharing);
      tall.buffered = true;
      Expected<std::optional<Tried>> written = attempt(tall);
      if (!written.ok()) {
        if (must) return written.status();
        break;
      }
      std::optional<Tried> tried = std::move(*written);
      open |= open_tiles_;
      const bool pairs = tried && !tried->loop.empty() && (must || tried->tiles > 1);
      if (pairs && (!buffered || tried->time < buffered->time)) buffered = std::move(tried);
    }
    if (buffered && (must || buffered->time + kLeastSaved <= least)) {
      best = std::move(*buffered);
      return {};
    }
    return cannot(
        open ? "tiles are allocated in the loop, where ptoas would place both at one address; --sync addresses would work"
             : "a core has one tile, or two do not fit");
  }

  std::span<const TensorSlot> tensors_;
  const Plan& plan_;
  Chip chip_;
  ProgramOptions options_;
  int64_t tallest_ = kMostRows;              ///< no taller tiles fit the buffer
  const lowered::Graph* scalars_ = nullptr;  ///< Attempt::scalars
  bool single_ = false;                      ///< Attempt::single
  bool open_tiles_ = false;                  ///< two buffers of the program written last would be one to ptoas
  const std::vector<DType>* rounded_;        ///< Attempt::rounded
};

}  // namespace

Expected<TileProgram> plan_program(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip,
                                   const ProgramOptions& options) {
  const FpEnvironment environment(true);
  if (chip == Chip::any) return invalid_argument("chip: any, expected a3 or a5");
  if (has_row_values(plan) && options.output == Output::pto_as)
    return unsupported(
        "pto-as: rows of the op have values of their own, which the scalar unit folds in order; pto-ir would work");
  if (plan.sources.empty()) return unsupported("nothing is indexed, expected an op with indices");
  if (!moves_nothing(plan)) STREW_TRY(check_lookups(plan));
  if (plan.accumulate == Accumulate::native) return Attempts(tensors, plan, chip, options).best();
  // Without updates, nothing is accumulated.
  if (moves_nothing(plan)) return Attempts(tensors, plan, chip, options).best();
  if (combiner_operator(plan) == nullptr) return internal_error("wide accumulation of other than add, sub or mul");
  std::vector<DType> rounded;
  const Plan wide = accumulated(plan, rounded);
  return Attempts(tensors, wide, chip, options, plan.unique.holds ? nullptr : &rounded).best();
}

}  // namespace strew::inline v0::pto
