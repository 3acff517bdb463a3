// The costs of machines: every CPU has a row that can be, a costs file is read back as it was written, and one that is broken or of another
// machine is refused with its line. That `strew target --measure` keeps what it finds: tests/error/cli_test.cc.
#include "base/machine_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/machine.h"
#include "schedules/target.h"
#include "strew/options.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MachineCosts, EveryCpuHasARowThatCanBe) {
  for (const CpuInfo& cpu : known_cpus()) {
    const MachineCosts costs = nominal_costs(cpu);
    EXPECT_EQ(costs.source, CostsSource::nominal);
    for (const NamedCost& cost : named_costs(costs)) EXPECT_GT(cost.value, 0) << cpu.name << " " << cost.name;
    for (size_t level = 1; level < costs.memory.size(); ++level) {
      const MemoryCosts &near = costs.memory[level - 1], &far = costs.memory[level];
      EXPECT_LE(near.latency_ns, far.latency_ns) << cpu.name << " level " << level;
      EXPECT_LE(near.read_line_ns, far.read_line_ns) << cpu.name << " level " << level;
      EXPECT_LE(near.stream_ns, far.stream_ns) << cpu.name << " level " << level;
      EXPECT_LE(far.read_line_ns, far.latency_ns) << cpu.name << " level " << level;
    }
    EXPECT_LE(costs.memory[3].line_scale, static_cast<float>(cpu.cores)) << cpu.name;
    EXPECT_LE(costs.last_level_share, 1) << cpu.name;
  }
}

TEST(MachineCosts, NamesAreAllDifferent) {
  std::set<std::string> names;
  for (const NamedCost& cost : named_costs(MachineCosts{})) EXPECT_TRUE(names.insert(cost.name).second) << cost.name;
  EXPECT_EQ(sizeof(MachineCosts), (names.size() + 1) * sizeof(float)) << "a number has no name";  // besides the source
}

TEST(MachineCosts, AreFittedToTheMachine) {
  Machine small = machine();
  small.cpu = find_cpu("znver4");
  small.cores = 1;
  for (const MemoryCosts& level : derived_costs(small).memory) {
    EXPECT_EQ(level.line_scale, 1);
    EXPECT_EQ(level.stream_scale, 1);
  }
  small.cores = 2;
  small.l3_bytes = 0;
  const MachineCosts costs = derived_costs(small);
  EXPECT_EQ(costs.source, CostsSource::derived);
  EXPECT_EQ(costs.memory[2], costs.memory[3]);
  EXPECT_GT(costs.memory[3].line_scale, 1);
  EXPECT_LE(costs.memory[3].line_scale, 2);
  small.cores = 4 * small.cpu->cores;
  EXPECT_GT(derived_costs(small).memory[3].line_scale, nominal_costs(*small.cpu).memory[3].line_scale);
}

MachineCosts example() {
  MachineCosts costs = nominal_costs(*find_cpu("znver5"));
  costs.source = CostsSource::measured;
  costs.fork_join_ns = 123.25F;
  return costs;
}

TEST(CostsFile, IsReadAsItWasWritten) {
  const std::string text = print_costs(example(), "this machine");
  EXPECT_THAT(text, StartsWith("strew costs 1 of this machine\nl1d.latency_ns 1.1\n"));
  EXPECT_THAT(text, HasSubstr("\nfork_join_ns 123.25\n"));
  const auto read = parse_costs(text, "this machine");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, example());
}

TEST(CostsFile, ThatIsBrokenIsRefusedWithItsLine) {
  const std::string text = print_costs(example(), "this machine");
  const auto message = [](const std::string& broken) { return parse_costs(broken, "this machine").status().message(); };
  EXPECT_EQ(message(""), "line 1: '', expected 'strew costs 1 of this machine'");
  EXPECT_EQ(parse_costs(text, "another").status().message(),
            "line 1: 'strew costs 1 of this machine', expected 'strew costs 1 of another'");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string broken = text;
    broken.replace(broken.find(from), from.size(), to);
    return message(broken);
  };
  for (const std::string bad : {"-1", "0", "nan", "inf", "1e30", "x", "", "1 2"})
    EXPECT_EQ(with("l1d.latency_ns 1.1", "l1d.latency_ns " + bad),
              "line 2: 'l1d.latency_ns " + bad + "', expected 'l1d.latency_ns' and a positive number");
  EXPECT_EQ(with("l1d.read_line_ns", "l1d.reads"), "line 3: 'l1d.reads 0.12', expected 'l1d.read_line_ns' and a positive number");
  EXPECT_EQ(message(text.substr(0, text.find("in_flight"))), "line 41: '', expected 'in_flight' and a positive number");
  EXPECT_LT(message(std::string(100'000, 'x')).size(), 200U);
}

TEST(CostsFile, PathIsInTheUsersCacheFolder) {
  Machine one = machine();
  one.cpu = find_cpu("znver4");
  one.cores = 2;
  EXPECT_THAT(machine_key(one), StartsWith("znver4, 2 cores, caches "));
  const std::string path = costs_path(one);
  if (!path.empty() && process_options().costs_file.empty()) {
    EXPECT_THAT(path, HasSubstr("/strew/costs-znver4-2-cores-caches-"));
    EXPECT_EQ(path.find(' '), std::string::npos);
  }
}

TEST(TargetCosts, AreThoseOfTheNamedCpu) {
  const auto named = parse_target("znver3");
  EXPECT_EQ(named->costs, nominal_costs(*find_cpu("znver3")));
  Target target = *named;
  target.costs.position_ns = -1;
  EXPECT_EQ(check(target).message(), "target: costs.position_ns is -1.000000, expected 0 or more");
  target.costs.position_ns = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(check(target).message(), HasSubstr("target: costs.position_ns is "));
  EXPECT_EQ(print(target), print(*named));  // they do not change the code
  EXPECT_NE(parse_target("native")->costs.source, CostsSource::nominal);
}

}  // namespace
}  // namespace strew
