// See npu_check.h. An op passes through plan_program, print, parse and simulate; the reference runs on the same data.
// Every program is simulated on several numbers of cores and in several orders, and the parsed program is verified by
// the rules of its output format. Tested by strew_npu_differential --plant (main.cc).
#include "tests/differential/npu/npu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "backends/pto/simulate/simulate.h"
#include "compiler/plan/plan.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/pto/verify.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/compare.h"
#include "tests/differential/npu/plant.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/random_combiner.h"
#include "tests/differential/random_op.h"
#include "tests/support/plan.h"
#include "tests/support/ptoas.h"

namespace strew::test {

namespace {

/// A refusal without its names and numbers, so that equal reasons are counted together.
std::string reason_of(const std::string& message) {
  std::string out;
  bool typed = false;
  for (const char c : message) {
    const bool digit = c >= '0' && c <= '9';
    // The digits of a type's name, such as i64, are kept.
    typed = digit ? typed || (!out.empty() && std::isalpha(static_cast<unsigned char>(out.back())) != 0) : false;
    if (digit && !typed && !out.empty() && out.back() == '#') continue;
    out += digit && !typed ? '#' : c;
  }
  return out.substr(0, 150);
}

}  // namespace

namespace {
bool has_flags(const NpuWish& wish) {
  if (wish.options.output == pto::Output::pto_cpp) return true;
  return wish.options.sync != pto::Sync::tool && wish.options.output != pto::Output::pto_as;
}
}  // namespace

NpuWish random_wish(Rng& rng) {
  NpuWish out;
  out.chip = rng.chance(50) ? pto::Chip::a3 : pto::Chip::a5;
  out.options.output = rng.pick<pto::Output>({pto::Output::pto_ir, pto::Output::pto_ir, pto::Output::pto_ir, pto::Output::pto_ir,
                                              pto::Output::pto_cpp, pto::Output::pto_cpp, pto::Output::pto_as});
  out.options.sync = rng.pick<pto::Sync>({pto::Sync::flags, pto::Sync::addresses, pto::Sync::addresses, pto::Sync::tool});
  out.options.buffers = rng.chance(50) ? 0 : 1;
  out.options.blocks = static_cast<int>(rng.pick<int64_t>({0, 1, 2, 3, 7}));
  out.options.tile_rows = rng.chance(40) ? rng.pick<int64_t>({1, 2, 8, 16, 32}) : 0;
  out.options.index_column = out.chip == pto::Chip::a5 && rng.chance(15);
  out.options.through_l1 = out.options.output == pto::Output::pto_cpp && rng.chance(70);
  return out;
}

int random_launches(uint64_t seed) { return static_cast<int>(Rng::stream(seed, 2).pick<int64_t>({0, 1, 2, 2})); }

bool may_judge_signs(const Op& op) { return is_scatter(op) && oob_of(op) != OobPolicy::error && !normalizes_negative(op); }

std::string NpuWish::text() const {
  return fmt::format("{}, {}, {}, {} cores, {} rows{}{}", pto::name(chip), pto::name(options.output),
                     options.sync == pto::Sync::flags       ? "flags"
                     : options.sync == pto::Sync::addresses ? "addresses"
                                                            : "no flags",
                     options.blocks, options.tile_rows,
                     options.index_column ? ", index columns"
                     : options.through_l1 ? ", through l1"
                                          : "",
                     options.non_negative ? ", negative indices are errors" : "");
}

namespace {

/// A table in fractal layout: [block columns, rows, elements of 32 bytes], whose rows are selected by one index each.
Blueprint fractal_blueprint(Rng& rng) {
  const DType dtype = rng.pick<DType>({DType::f32, DType::i32, DType::f16, DType::i16, DType::i8, DType::bf16});
  const int64_t across = rng.between(1, 3), rows = 16 * rng.between(1, 4), count = 16 * rng.between(1, 4);
  const int64_t each = 32 / (bits(dtype) / 8);
  const auto shape = [&](int64_t middle) { return fmt::format("{}[{},{},{}]", name(dtype), across, middle, each); };
  const std::string index = rng.chance(50) ? "i32" : "u32";
  std::string text;
  if (rng.chance(40)) {
    // Ops that can use the L1 buffer: the table's rows are windows, or its elements are.
    const char* policy = rng.pick<const char*>({"undefined", "clamp", "wrap", "fill_window fill=0"});
    const std::string oob = std::string(policy) + (policy[0] == 'f' ? ":" + std::string(name(dtype)) : "");
    if (rng.chance(40)) {
      // Ops that cannot use the L1 buffer, because they index the table in two dims or across its rows: rows,
      // columns, or whole columns.
      struct Table {
        std::string dims, result, rest;
      };
      const int64_t elements = 16 * each * across;
      const Table table = rng.pick<Table>({
          {fmt::format("{}", rows), "", "collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1]"},
          {fmt::format("{},3", rows), "", "collapsed_slice_dims=[0,1] start_index_map=[0] slice_sizes=[1,1]"},
          {fmt::format("3,{}", rows), "", "collapsed_slice_dims=[0,1] start_index_map=[1] slice_sizes=[1,1]"},
          {fmt::format("3,{}", rows), "3,", "offset_dims=[0] collapsed_slice_dims=[1] start_index_map=[1] slice_sizes=[3,1]"},
      });
      text = fmt::format("strew1.gather(operand={}[{}] indices={}[{},1] result={}[{}{}] {} index_vector_dim=1 oob={})",
                         name(dtype), table.dims, index, elements, name(dtype), table.result, elements, table.rest, oob);
    } else {
      text = fmt::format(
          "strew1.gather(operand={}[{},{},{}] indices={}[{},1] result={} offset_dims=[0,2] collapsed_slice_dims=[0] "
          "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,{},{}] oob={})",
          name(dtype), rows, across, each, index, count, shape(count), across, each, oob);
    }
  } else if (rng.chance(30)) {
    text = fmt::format(
        "strew1.gather(operand={} indices={}[{},1] result={} offset_dims=[0,2] collapsed_slice_dims=[1] start_index_map=[1] "
        "index_vector_dim=1 slice_sizes=[{},1,{}] oob={})",
        shape(rows), index, count, shape(count), across, each, rng.pick<const char*>({"undefined", "clamp", "wrap"}));
  } else {
    const bool sums = rng.chance(40);
    text = fmt::format(
        "strew1.scatter(operand={} indices={}[{},1] updates={} update_window_dims=[0,2] inserted_window_dims=[1] "
        "scatter_dims_to_operand_dims=[1] index_vector_dim=1 {}{} oob={})",
        shape(rows), index, count, shape(count), sums ? "combiner=add " : "", rng.chance(60) ? "init=in_place" : "init=copy",
        rng.pick<const char*>({"undefined", "skip_window", "clamp", "wrap"}));
  }
  const Expected<Op> op = parse_op(text);
  return blueprint_of(*op);
}

Blueprint any_npu_blueprint(Rng& rng) {
  if (rng.chance(6)) return fractal_blueprint(rng);
  OpWishes wishes;
  if (rng.chance(90))
    wishes.dtype = rng.pick<DType>({DType::f32, DType::f32, DType::i32, DType::f16, DType::bf16, DType::u8, DType::i8, DType::i16,
                                    DType::u32, DType::i64, DType::u16});
  if (rng.chance(60)) wishes.shape = rng.pick<Shape>({Shape::row, Shape::row, Shape::element, Shape::slice_update});
  const CombinerKind combiner =
      rng.pick<CombinerKind>({CombinerKind::assign, CombinerKind::assign, CombinerKind::add, CombinerKind::add, CombinerKind::max,
                              CombinerKind::min, CombinerKind::mul, CombinerKind::sub, CombinerKind::bit_or});
  if (rng.chance(70) && wishes.dtype && combines(combiner, *wishes.dtype)) {
    wishes.combiner = combiner;
    if (combiner != CombinerKind::assign) wishes.scatter = true;
  }
  wishes.lookups = rng.chance(15);
  if (wishes.lookups) wishes.scatter = true;
  Blueprint out = random_blueprint(rng, wishes);
  const bool packed = rng.chance(92), closed = rng.chance(60);
  for (TensorPlan* tensor : tensors_of(out)) {
    if (packed) tensor->layout = Layout{};
    if (closed)
      for (DimRef& dim : tensor->dims) dim.dynamic = false;
  }
  if (closed) out.dynamic_slice.assign(out.dynamic_slice.size(), false);
  return out;
}

}  // namespace

Blueprint random_npu_blueprint(Rng& rng) {
  for (;;) {  // repeated, because some combinations of wishes are illegal
    Blueprint out = any_npu_blueprint(rng);
    if (verify(make_op(out)).ok()) return out;
  }
}

std::optional<std::string> NpuChecker::run(const pto::TileProgram& program, const pto::Module& module, NpuData& data,
                                           const pto::SimulateOptions& options) {
  data.call.restore(data.before);
  ++tally_.runs;
  const Expected<pto::Launched> launched = pto::launch(program, module, data.call.views(), options);
  if (!launched.ok()) return "the simulator: " + launched.status().message();
  report_ = launched->report;
  if (launched->fault != data.refused)
    return std::string(launched->fault ? "good indices were refused" : "a bad index was accepted");
  return difference_from_reference(data);
}

std::optional<Failure> NpuChecker::check_call(const pto::TileProgram& program, const pto::Module& module, NpuData& data,
                                              Rng& rng) {
  for (int i = 0; i < 4; ++i) {
    pto::SimulateOptions options;
    options.blocks = i == 0 ? std::min(program.blocks, 8) : static_cast<int>(rng.pick<int64_t>({1, 2, 3, 5}));
    if (wish_.options.output == pto::Output::pto_as) options.blocks = 1;
    options.seed = i < 3 ? static_cast<uint64_t>(i) : rng.next();
    options.check_sync = has_flags(wish_);
    const auto wrong = run(program, module, data, options);
    if (wrong) return Failure{*wrong, fmt::format("{}\n  {} cores, order {}", data.text, options.blocks, options.seed), "npu"};
  }
  return std::nullopt;
}

void NpuChecker::plant(const pto::TileProgram& program, NpuData& data, Rng& rng) {
  for (const Planted& planted : plant_bugs(program, rng)) {
    pto::SimulateOptions options;
    bool caught = false;
    for (uint64_t seed = 0; seed < 4 && !caught; ++seed) {
      options.blocks = seed == 0 ? std::min(program.blocks, 4) : 3;
      options.seed = seed;
      options.buffer_bytes = planted.buffer_bytes;
      options.check_sync = has_flags(wish_);
      caught = !pto::verify(planted.module, {pto::Reader::headers, true}).ok() ||
               run(program, planted.module, data, options).has_value();
    }
    auto& [hits, of] = tally_.caught[planted.what];
    hits += caught ? 1 : 0;
    ++of;
  }
}

/// The line of the tally that a program counts in.
static std::string kind_of(const pto::TileProgram& program, const NpuWish& wish, bool looks_up) {
  const char* const layout = program.tiles.layout == "nz" ? " in fractals" : program.tiles.layout == "l1" ? " through l1" : "";
  const char* const flags = wish.options.output == pto::Output::pto_as ? "as PTO-AS" : has_flags(wish) ? "flags" : "no flags";
  return fmt::format("{} {}{}{} {} {}{}{}", pto::name(wish.chip), program.tiles.mode, layout,
                     wish.options.index_column ? " by a column" : "", pto::name(program.tiles.split), flags,
                     looks_up ? ", looks up" : "", wish.options.non_negative ? ", judges signs" : "");
}

/// What ptoas, if there is one, says against the text of a program that is written for it.
std::string NpuChecker::ptoas_errors(const std::string& text) const {
  if (ptoas_.empty() || wish_.options.output != pto::Output::pto_ir) return {};
  const char* flags = wish_.options.sync == pto::Sync::addresses ? "--pto-level=level3"
                      : wish_.options.sync == pto::Sync::tool    ? "--enable-insert-sync"
                                                                 : "";
  const PtoasAnswer answer = run_ptoas(ptoas_, text, std::string(pto::name(wish_.chip)), flags);
  return answer.accepted ? "" : "it refuses the program: " + answer.errors;
}

/// The program as `wish_` wants it or, where the op cannot be planned with that tile height or with a column of indices, with the planner's own
/// choice of these.
Expected<pto::TileProgram> NpuChecker::planned(const VerifiedOp& op, const Plan& plan, bool as_wanted) {
  Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(op), plan, wish_.chip, wish_.options);
  if (program.ok() || as_wanted) return program;
  if (wish_.options.tile_rows == 0 && !wish_.options.index_column && !wish_.options.through_l1) return program;
  wish_.options.tile_rows = 0;
  wish_.options.index_column = wish_.options.through_l1 = false;
  return pto::plan_program(tensor_slots(op), plan, wish_.chip, wish_.options);
}

std::optional<Failure> NpuChecker::check(const Blueprint& blueprint, uint64_t seed, const std::optional<NpuWish>& wanted) {
  Rng rng(seed);
  const Op op = make_op(blueprint);
  const NpuWish& wish = wish_ = random_wish(rng);
  // Draws of its own, so that the draws that follow are those of an op that is not asked.
  wish_.options.non_negative = may_judge_signs(op) && Rng::stream(seed, 1).chance(oob_of(op) == OobPolicy::wrap ? 40 : 10);
  wish_.options.launches = random_launches(seed);
  if (wanted) wish_ = *wanted;
  ++tally_.ops;
  refusal_.clear();
  const Expected<VerifiedOp> verified = VerifiedOp::of(op);
  if (!verified.ok()) return Failure{"verify: " + verified.status().message(), "", "verify"};
  const Expected<Plan> plan = canonical_plan(*verified);
  if (!plan.ok()) return std::nullopt;
  const auto failed = [&](const std::string& what) { return Failure{what, wish.text(), "npu"}; };
  Expected<pto::TileProgram> program = invalid_argument("not planned");
  const Caught caught = catch_fault([&] { program = planned(*verified, *plan, wanted.has_value()); });
  if (caught.faulted) return failed("plan_program: " + signal_name(caught.signal));
  const std::string asked = fmt::format("{} {}", pto::name(wish.chip), pto::name(wish.options.output));
  auto& [planned, of] = tally_.asked[asked];
  ++of;
  if (!program.ok()) {
    if (program.status().code() != Code::unsupported) return failed("plan_program: " + program.status().message());
    refusal_ = asked + ": " + program.status().message();
    ++tally_.refusals[reason_of(refusal_)];
    return std::nullopt;
  }
  ++tally_.planned;
  ++planned;
  ++tally_.kinds[kind_of(*program, wish, !lookups_of(op).empty())];
  program_ = pto::print(program->module);
  const pto::Reader reader = wish.options.output == pto::Output::pto_ir ? pto::Reader::ptoas : pto::Reader::headers;
  if (const Status status = pto::verify(program->module, {reader, wish.options.output != pto::Output::pto_as}); !status.ok())
    return failed("its own verifier: " + status.message());
  const std::string text = pto::print(program->module, rng.chance(50) ? pto::TextForm::pretty : pto::TextForm::generic);
  Expected<pto::Module> read = pto::parse(text);
  if (!read.ok()) return failed("its text: " + read.status().message());
  if (!(*read == program->module)) return failed("its text is another program");
  read->chip = wish.chip;  // PTO-AS text does not name the chip
  if (const std::string errors = ptoas_errors(text); !errors.empty()) return failed("ptoas: " + errors);
  // A PTO-AS program with argument row0 is one step, which its caller repeats. tests/unit/backends/pto/pto_cores_test.cc runs
  // those.
  const auto& arguments = program->arguments;
  if (std::any_of(arguments.begin(), arguments.end(), [](const pto::ProgramArgument& a) { return a.name == "row0"; }))
    return std::nullopt;
  for (int i = 0; i < 3; ++i) {
    pool_.release_all();
    const DrawnData drawn = draw_npu_data(pool_, rng, blueprint, *verified, {most_moved_, wish.options.non_negative});
    if (drawn.too_large) return std::nullopt;  // each core may read every update
    if (drawn.data == nullptr) continue;
    NpuData& data = *drawn.data;
    data.text += "; " + wish.text();
    ++tally_.data_sets;
    if (auto failure = check_call(*program, *read, data, rng)) return failure;
    // Bugs are planted only in programs of which every part ran: a bug in code that does not run changes no result.
    if (plants_ && wish.options.output != pto::Output::pto_as && report_.buffer_bytes == program->ub_bytes)
      plant(*program, data, rng);
  }
  return std::nullopt;
}

}  // namespace strew::test
