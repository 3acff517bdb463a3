// Schedules: text round trips, every illegal knob is refused by name, strategies are legal exactly where no destination has two owners,
// and the heuristic's choice is always legal.
#include "schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "schedules/knobs.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/ops.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

Plan plan_of(const std::string& text) { return *test::plan_of(test::op_of(text)); }

const std::string kDims = " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1";
std::string rows(const std::string& rest = "", const std::string& dtype = "f32", const std::string& count = "4096") {
  return "strew1.scatter(operand=" + dtype + "[1000000,64] indices=i32[" + count + "] updates=" + dtype + "[" + count + ",64]" +
         kDims + " init=in_place" + rest + ")";
}
const std::string kElements =
    "strew1.scatter(operand=f32[1000] indices=i32[100000] updates=f32[100000] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)";
const std::string kOverlapping =
    "strew1.scatter(operand=f32[4096,64] indices=i32[512] updates=f32[512,8,64] update_window_dims=[1,2] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)";
const std::string kGather =
    "strew1.gather(operand=f32[1000000,64] indices=i32[4096] result=f32[4096,64] offset_dims=[1] collapsed_slice_dims=[0] "
    "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64])";
const std::string kDecode =
    "strew1.scatter(operand=bf16[8,8,2048,128] indices=i64[8] updates=bf16[8,8,1,128] update_window_dims=[1,2,3] "
    "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 init=in_place "
    "oob=error)";

Target machine(int cores) {
  Target target = *parse_target("x86-64-v4");
  target.cores = cores;
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

std::string check(const std::string& text, const std::string& op, const Target& target = machine(4)) {
  const auto schedule = parse_schedule(text, Schedule{});
  if (!schedule.ok()) return schedule.status().message();
  return check_schedule(*schedule, plan_of(op), target).message();
}

TEST(Schedule, TextRoundTrips) {
  const Schedule schedule{Strategy::window, 64, 8, 16, true, 4, 100};
  EXPECT_EQ(print(schedule),
            "strategy=window,vector_bytes=64,unroll=8,prefetch=16,nontemporal=true,tables=4,scratch_mib=100,adapts=false");
  EXPECT_EQ(*parse_schedule(print(schedule), Schedule{}), schedule);
  EXPECT_EQ(*parse_schedule("", schedule), schedule);
  EXPECT_EQ(parse_schedule("unroll=2", schedule)->unroll, 2);
  EXPECT_EQ(parse_schedule("unroll=2", schedule)->prefetch, 16);
}

TEST(Schedule, TextErrorsNameKnobAndValue) {
  const auto message = [](std::string_view text) { return parse_schedule(text, Schedule{}).status().message(); };
  for (const std::string bad : {"two", "2x", "", "-1", "257", "99999999999", "99999999999999999999", "1.5", " 1"})
    EXPECT_EQ(message("prefetch=" + bad), "schedule: prefetch=" + bad + ", expected 0..256");
  EXPECT_EQ(message("unroll=two"), "schedule: unroll=two, expected 1, 2, 4 or 8");
  EXPECT_EQ(message("strategy=magic"),
            "schedule: strategy=magic, expected sequential, positions, window, owner, radix, runs, clip or private");
  EXPECT_EQ(message("strategy=exchange"),
            "schedule: strategy=exchange, expected sequential, positions, window, owner, radix, runs, clip or private");
  EXPECT_EQ(message("nontemporal=1"), "schedule: nontemporal=1, expected true or false");
  EXPECT_EQ(message("unroll"), "schedule: 'unroll', expected knob=value");
  EXPECT_EQ(message("unroll=2,"), "schedule: ends with ',', expected knob=value");
  EXPECT_EQ(message("tile=3"),
            "schedule: unknown knob 'tile', expected strategy, vector_bytes, unroll, prefetch, nontemporal, tables, "
            "scratch_mib, adapts or checked");
  EXPECT_EQ(message("checked=yes"), "schedule: checked=yes, expected true or false");
  EXPECT_THAT(
      message("autoscheduler=Adams2019"),
      testing::StartsWith("schedule: autoscheduler=Adams2019, but Halide's autoschedulers are not used: their scatters sum in "
                          "no fixed order"));
}

TEST(Schedule, ThreadsAreTakenOutOfAUsersText) {
  const auto split = [](std::string_view text) {
    const auto made = parse_schedule_text(text);
    return made.ok() ? std::to_string(made->threads) + " " + print(made->knobs) : made.status().message();
  };
  EXPECT_EQ(split(""), "0 ");
  EXPECT_EQ(split("threads=4"), "4 ");
  EXPECT_EQ(split("prefetch=8,threads=1024,unroll=2"), "1024 unroll=2,prefetch=8");
  EXPECT_EQ(split("threads=3,threads=5,checked=true"), "5 checked=true");
  EXPECT_EQ(split("threads=3,tile"), "schedule: 'tile', expected knob=value");
  EXPECT_EQ(split("threads"), "schedule: 'threads', expected knob=value");
  EXPECT_EQ(parse_schedule("threads=2", Schedule{}).status().message(),
            "schedule: threads=2, but the number of threads is no knob: set KernelOptions::threads");
  EXPECT_EQ(split("threads=2,"), "schedule: ends with ',', expected knob=value");
  for (const std::string bad : {"two", "2x", "", "0", "-1", "1025", "99999999999", "99999999999999999999", "1.5", " 1"})
    EXPECT_EQ(split("threads=" + bad), "schedule: threads=" + bad + ", expected 1..1024");
}

TEST(Schedule, RangesAreChecked) {
  EXPECT_EQ(check("vector_bytes=24", rows()), "schedule: vector_bytes=24, expected 16, 32 or 64");
  EXPECT_EQ(check("vector_bytes=64", rows(), *parse_target("haswell")),
            "schedule: vector_bytes=64, expected at most 32 on x86_64-haswell");
  EXPECT_EQ(check("unroll=3", rows()), "schedule: unroll=3, expected 1, 2, 4 or 8");
  EXPECT_EQ(check("tables=1", rows()), "schedule: tables=1, expected 2..64");
  EXPECT_EQ(check("scratch_mib=0", rows()), "schedule: scratch_mib=0, expected 1..65536");
  EXPECT_EQ(check("prefetch=257", rows()), "schedule: prefetch=257, expected 0..256");
  EXPECT_EQ(check("nontemporal=true", kElements),
            "schedule: nontemporal=true, legal only where bits are moved; this op computes");
  EXPECT_EQ(check("nontemporal=true,prefetch=256,unroll=8", rows()), "");
}

TEST(Knobs, TakeTheirOwnValuesAndNoOthers) {
  for (const Knob& knob : knobs()) {
    const std::string knob_name(knob.name);
    std::vector<std::string> good = {value_of(knob, Schedule{})},
                             bad = {"", " ", "x", "1x", "-1", "99999999999999999999", "True"};
    if (std::holds_alternative<int Schedule::*>(knob.field)) {
      good.push_back(std::to_string(knob.least));
      good.push_back(std::to_string(knob.most));
      bad.push_back(std::to_string(knob.least - 1));
      bad.push_back(std::to_string(knob.most + 1));
      bad.push_back("true");
      if (knob.doubles) bad.push_back(std::to_string(3 * knob.least));
    } else {
      bad.push_back("0");
    }
    for (const std::string& value : good) {
      const auto schedule = parse_schedule(knob_name + "=" + value, Schedule{});
      ASSERT_TRUE(schedule.ok()) << schedule.status().message();
      EXPECT_EQ(value_of(knob, *schedule), value);
      EXPECT_TRUE(check_value(knob, *schedule).ok());
    }
    for (const std::string& value : bad)
      EXPECT_EQ(parse_schedule(knob_name + "=" + value, Schedule{}).status().message(),
                "schedule: " + knob_name + "=" + value + ", expected " + values_of(knob));
  }
}

/// What a program writes into a Schedule by itself is checked by the same rows.
TEST(Knobs, RangesHoldForSchedulesThatWereNotParsed) {
  for (const Knob& knob : knobs()) {
    const auto* const number = std::get_if<int Schedule::*>(&knob.field);
    if (number == nullptr) continue;
    for (const int bad : {knob.least - 1, knob.most + 1}) {
      Schedule schedule;
      schedule.** number = bad;
      EXPECT_EQ(check_schedule(schedule, plan_of(rows()), machine(4)).message(),
                "schedule: " + std::string(knob.name) + "=" + std::to_string(bad) + ", expected " + values_of(knob));
    }
  }
}

TEST(Knobs, EveryMemberHasARow) {
  // A new member of one of the structs does not compile here until it is counted.
  [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i] = Schedule{};
  [[maybe_unused]] const auto& [j, k, l, m, n, o, p, q, r] = ScheduleOverrides{};
  EXPECT_EQ(knobs().size(), 9u);
}

TEST(Overrides, HoldWhatTheirTextNamesAndNothingElse) {
  EXPECT_EQ(print(ScheduleOverrides{}), "");
  EXPECT_EQ(*apply(ScheduleOverrides{}, Schedule{.unroll = 2, .checked = true}), (Schedule{.unroll = 2, .checked = true}));
  const std::string all =
      "strategy=runs,vector_bytes=16,unroll=1,prefetch=7,nontemporal=false,tables=3,scratch_mib=9,adapts=true,checked=false";
  EXPECT_EQ(parse_schedule_text(all)->knobs, (ScheduleOverrides{Strategy::runs, 16, 1, 7, false, 3, 9, true, false}));
  EXPECT_EQ(print(parse_schedule_text(all)->knobs), all);
  for (const Knob& knob : knobs()) {
    const std::string text = std::string(knob.name) + "=" + value_of(knob, Schedule{});
    const ScheduleOverrides one = parse_schedule_text(text)->knobs;
    EXPECT_EQ(print(one), text);
    Schedule other{Strategy::window, 64, 8, 16, true, 4, 100, knob.name == "adapts", true};
    const Schedule applied = *apply(one, other);
    EXPECT_NE(applied, other) << knob.name;
    std::visit([&](auto field) { other.*field = Schedule{}.*field; }, knob.field);
    EXPECT_EQ(applied, other) << knob.name;
  }
}

TEST(Overrides, LaterWordsOfATextWin) {
  EXPECT_EQ(print(parse_schedule_text("unroll=2,tables=4,unroll=8")->knobs), "unroll=8,tables=4");
}

TEST(Overrides, ValuesOutOfRangeAreRefusedWhereTheyAreApplied) {
  const auto message = [](const ScheduleOverrides& overrides) { return apply(overrides, Schedule{}).status().message(); };
  EXPECT_EQ(message({.vector_bytes = 8}), "schedule: vector_bytes=8, expected 16, 32 or 64");
  EXPECT_EQ(message({.unroll = 0}), "schedule: unroll=0, expected 1, 2, 4 or 8");
  EXPECT_EQ(message({.prefetch = -1}), "schedule: prefetch=-1, expected 0..256");
  EXPECT_EQ(message({.tables = 65}), "schedule: tables=65, expected 2..64");
  EXPECT_EQ(message({.scratch_mib = 1 << 30}), "schedule: scratch_mib=1073741824, expected 1..65536");
  const ScheduleOverrides odd{.strategy = static_cast<Strategy>(200)};
  EXPECT_EQ(message(odd), "schedule: strategy=200, expected sequential, positions, window, owner, radix, runs, clip or private");
  EXPECT_EQ(print(odd), "strategy=200");
  EXPECT_EQ(name(*odd.strategy), "invalid");
  EXPECT_EQ(check_schedule({.strategy = *odd.strategy}, plan_of(rows()), machine(4)).message(), message(odd));
}

std::string text_of_file(const char* path) {
  std::ifstream in(test::source_folder() / path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Knobs, AreInTheDocumentAndInTheFuzzersDictionary) {
  const std::string document = text_of_file("schedules/README.md"),
                    dictionary = text_of_file("tests/fuzz/dictionaries/schedule.dict");
  for (const Knob& knob : knobs()) {
    EXPECT_THAT(document, testing::HasSubstr("\n| `" + std::string(knob.name) + "` | " + values_of(knob)));
    EXPECT_THAT(dictionary, testing::HasSubstr("\n\"" + std::string(knob.name) + "=\"\n"));
  }
  for (const Strategy strategy : kStrategies) {
    EXPECT_THAT(document, testing::HasSubstr("`" + std::string(name(strategy)) + "`"));
    EXPECT_THAT(dictionary, testing::HasSubstr("\n\"" + std::string(name(strategy)) + "\"\n"));
  }
}

TEST(Strategies, HaveTraitsThatAgree) {
  for (const Strategy strategy : kStrategies) {
    const StrategyTraits& traits = traits_of(strategy);
    EXPECT_FALSE(traits.what.empty()) << name(strategy);
    EXPECT_TRUE(traits.needs_keys() || !traits.has_owners()) << name(strategy);
    EXPECT_EQ(traits.uses_range(), traits.entries == 0) << name(strategy);
    constexpr uint32_t kOfAll =
        1U << STREW_ENTRY_range | 1U << STREW_ENTRY_check | 1U << STREW_ENTRY_init | 1U << STREW_ENTRY_stream;
    EXPECT_EQ(traits.entries & kOfAll, 0U) << name(strategy);
  }
  EXPECT_TRUE(traits_of(Strategy::radix).has_owners());
  EXPECT_EQ(traits_of(Strategy::window).share, WindowShare::columns);
}

TEST(Schedule, PositionsNeedOneOwnerPerDestination) {
  const std::string refused = "schedule: strategy positions: two positions may touch one destination (kind ";
  EXPECT_EQ(check("strategy=positions", rows()), refused + "row, no unique_indices)");
  EXPECT_EQ(check("strategy=positions", kElements), refused + "element, no unique_indices)");
  EXPECT_EQ(check("strategy=positions", kOverlapping), refused + "general, no unique_indices)");
  EXPECT_EQ(check("strategy=positions", rows(" unique_indices=true")), "");
  EXPECT_EQ(check("strategy=positions", kGather), "");
  EXPECT_EQ(check("strategy=positions", kDecode), "");
}

TEST(Schedule, WindowNeedsAnUnindexedFirstLoop) {
  EXPECT_EQ(check("strategy=window", rows()), "");
  EXPECT_EQ(check("strategy=window", kDecode), "");
  EXPECT_EQ(
      check("strategy=window", kElements),
      "schedule: strategy window: the window has one element, and no innermost loop over a batching dim lies within others");
  const std::string of_rows =
      "strew1.scatter(operand=f32[100,64] indices=i64[900,64,1] updates=f32[900,64] inserted_window_dims=[0] "
      "input_batching_dims=[1] scatter_indices_batching_dims=[1] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=2 combiner=add)";
  EXPECT_EQ(check("strategy=window", of_rows), "");
  EXPECT_EQ(check("strategy=window", kOverlapping),
            "schedule: strategy window: windows may overlap partly along the first window loop (kind general)");
}

TEST(Schedule, PackedResultsHaveOneOwner) {
  EXPECT_EQ(check("strategy=positions", rows(" unique_indices=true", "u4")),
            "schedule: strategy positions: result 0 is packed u4");
  EXPECT_EQ(check("strategy=window", rows("", "u4")), "schedule: strategy window: result 0 is packed u4");
}

TEST(Heuristic, IsLegalEverywhere) {
  for (const std::string& op :
       {rows(), rows(" unique_indices=true"), rows("", "u4"), rows("", "f32", "?"), kElements, kOverlapping, kGather, kDecode}) {
    const Plan plan = plan_of(op);
    for (const char* cpu : {"x86-64", "haswell", "skylake-avx512", "znver5"}) {
      for (int threads : {0, 1, 2, 64}) {
        Target target = *parse_target(cpu);
        target.cores = 8;
        const Schedule schedule = choose_schedule(plan, target, threads);
        EXPECT_EQ(check_schedule(schedule, plan, target).message(), "") << op << " " << print(schedule);
        EXPECT_EQ(schedule, choose_schedule(plan, target, threads));
      }
    }
  }
}

TEST(Heuristic, SplitsWhereItIsLegalAndPays) {
  const auto strategy = [](const std::string& op, int cores, int threads = 0) {
    return choose_schedule(plan_of(op), machine(cores), threads).strategy;
  };
  EXPECT_EQ(strategy(rows(" unique_indices=true"), 4), Strategy::positions);
  EXPECT_EQ(strategy(kElements, 4), Strategy::sequential);  // reading an index costs as much as its update
  EXPECT_EQ(strategy(kDecode, 4), Strategy::sequential);    // 16 KiB: not worth a second thread
  EXPECT_EQ(strategy(rows(" unique_indices=true"), 4, 1), Strategy::sequential);
  EXPECT_EQ(strategy(rows(" unique_indices=true"), 1), Strategy::sequential);
}

/// Owners read all indices on every thread, so that many threads partition instead. (Columns would do for rows this wide, if the cores did not
/// take lines from each other.)
TEST(Heuristic, SharesOutDestinationsByTheNumberOfThreads) {
  const Plan plan = plan_of(rows(" combiner=add", "f32", "400000"));
  const auto strategy = [&](int threads) {
    Target target = machine(threads);
    for (MemoryCosts& level : target.costs.memory) level.line_scale = level.stream_scale = static_cast<float>(threads);
    target.costs.transfer_ns = 1000;
    return choose_schedule(plan, target, 0).strategy;
  };
  EXPECT_EQ(strategy(2), Strategy::owner);
  EXPECT_EQ(strategy(64), Strategy::radix);
}

TEST(Heuristic, TakesTheCostsOfTheMachine) {
  const Plan plan = plan_of(rows(" combiner=add", "f32", "400000"));
  Target target = machine(4);
  EXPECT_NE(choose_schedule(plan, target, 0).strategy, Strategy::sequential);
  target.costs.fork_join_ns = 1e9F;
  EXPECT_EQ(choose_schedule(plan, target, 0).strategy, Strategy::sequential);
  target = machine(4);
  target.costs.key_ns = 1e3F;  // then no strategy looks at destinations
  EXPECT_EQ(choose_schedule(plan, target, 0).strategy, Strategy::window);
  const Plan moves = plan_of(rows(" unique_indices=true", "f32", "400000"));
  target = machine(1);
  EXPECT_TRUE(choose_schedule(moves, target, 0).nontemporal);
  target.costs.streaming_ns = 100;
  EXPECT_FALSE(choose_schedule(moves, target, 0).nontemporal);
  EXPECT_GT(choose_schedule(moves, target, 0).prefetch, 0);
  target.l1d_bytes = target.l2_bytes = int64_t{1} << 40;  // all memory is as near as the first cache
  EXPECT_EQ(choose_schedule(moves, target, 0).prefetch, 0);
}

TEST(Heuristic, TakesWhatIsKnownAboutDuplicates) {
  EXPECT_EQ(choose_schedule(plan_of(rows(" combiner=add indices_are_sorted=true")), machine(4), 0).strategy, Strategy::runs);
  std::string integers = kElements;
  for (size_t at; (at = integers.find("f32")) != std::string::npos;) integers.replace(at, 3, "i32");
  EXPECT_EQ(choose_schedule(plan_of(integers), machine(4), 0).strategy, Strategy::private_tables);
  EXPECT_EQ(choose_schedule(plan_of(integers), machine(4), 1).strategy, Strategy::sequential);
  // Where the tables decide the bits, threads and cores must not decide the strategy.
  std::string relaxed = kElements;
  relaxed.replace(relaxed.find("init="), 0, "order=relaxed ");
  for (const int threads : {1, 2, 16})
    EXPECT_EQ(choose_schedule(plan_of(relaxed), machine(threads), 0).strategy, Strategy::private_tables);
  const std::string batched =
      "strew1.scatter(operand=f32[64,4096,64] indices=i32[64,512] updates=f32[64,512,64] update_window_dims=[2] "
      "inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] "
      "index_vector_dim=2 combiner=add init=in_place)";
  EXPECT_EQ(choose_schedule(plan_of(batched), machine(4), 0).strategy, Strategy::positions);
  EXPECT_EQ(check("strategy=positions", batched), "");
}

TEST(Heuristic, SaysWhatACallCosts) {
  std::string why;
  choose_schedule(plan_of(rows(" combiner=add", "f32", "400000")), machine(1), 0, &why);
  EXPECT_THAT(why, testing::MatchesRegex("about [0-9.]+ ms: lines of the table [0-9.]+ ms, .* [0-9.]+ [mun]s"));
}

TEST(Heuristic, StreamsOnlyWhatIsColdAndMoved) {
  EXPECT_TRUE(choose_schedule(plan_of(rows(" unique_indices=true", "f32", "400000")), machine(4), 0).nontemporal);
  EXPECT_FALSE(choose_schedule(plan_of(rows(" unique_indices=true combiner=add", "f32", "400000")), machine(4), 0).nontemporal);
  EXPECT_FALSE(choose_schedule(plan_of(kDecode), machine(4), 0).nontemporal);  // 64 runs, into a cache that fits the third level
  std::string longer = kDecode;
  for (size_t at; (at = longer.find("2048")) != std::string::npos;) longer.replace(at, 4, "8192");
  EXPECT_TRUE(choose_schedule(plan_of(longer), machine(4), 0).nontemporal);
  EXPECT_FALSE(choose_schedule(plan_of(kGather), machine(4), 0).nontemporal);  // its output stays in the last-level cache
}

}  // namespace
}  // namespace strew
