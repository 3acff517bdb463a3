// What holds of PTO programs: the printed tree parses to itself, and the simulator runs what the chip's rules allow. See check.h.
//
// Hostile programs loop as long as they like and name any extents: the simulator gets few steps, and every pointer the same small memory.
#include <algorithm>
#include <vector>

#include "backends/pto/simulate/simulate.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/pto/verify.h"
#include "tests/fuzz/check.h"
#include "tests/support/pto_whole.h"
#include "tests/support/rng.h"

namespace strew::fuzz {
namespace {

constexpr int64_t kMostSteps = 2'000;
constexpr size_t kMemoryBytes = size_t{64} << 10;

void check_reads_back(const std::string& text, const pto::Module& module) {
  const Expected<pto::Module> again = pto::parse(text);
  if (!again.ok()) broken("the text of a program is refused: " + again.status().message() + "\n" + text);
  if (!(*again == module)) broken("the text of a program reads back as another one:\n" + text);
}

void check_text(const pto::Module& module, pto::TextForm form) {
  const std::string text = pto::print(module, form);
  check_reads_back(text, module);
  if (pto::print(*pto::parse(text), form) != text) broken("the text of a program changes when printed again:\n" + text);
}

void simulate(const pto::Module& module, const pto::Function& function, uint64_t seed) {
  test::Rng rng(seed);
  std::vector<std::vector<std::byte>> memory;
  std::vector<pto::SimulatedArgument> arguments;
  for (const pto::Argument& argument : function.arguments) {
    pto::SimulatedArgument given;
    given.number = rng.between(0, 16);
    if (argument.type.kind != pto::TypeKind::scalar && argument.type.kind != pto::TypeKind::index) {
      std::vector<std::byte>& bytes = memory.emplace_back(kMemoryBytes);
      for (size_t i = 0; i < bytes.size(); i += 4) bytes[i] = static_cast<std::byte>(rng.below(32));
      given.memory = bytes;
    }
    arguments.push_back(given);
  }
  pto::SimulateOptions options;
  options.blocks = static_cast<int>(rng.between(1, 3));
  options.seed = seed % 5;
  options.check_sync = rng.chance(50);
  options.max_steps = kMostSteps;
  const auto report = pto::simulate(module, function.name, arguments, options);
  if (!report.ok()) check_refusal(report.status());
}

}  // namespace

void check_pto(std::string_view text, pto::Spelling spelling) {
  const Expected<pto::Module> module = pto::parse(text);
  if (!module.ok()) return check_refusal(module.status());
  if (module->spelling != spelling) return;
  check_text(*module, pto::TextForm::pretty);
  if (spelling == pto::Spelling::ir) {
    check_text(*module, pto::TextForm::generic);
    check_reads_back(test::whole_text(*module), *module);
  }
  if (const Status legal = pto::verify(*module); !legal.ok()) return check_refusal(legal);
  const uint64_t seed = seed_of(text);
  for (const pto::Function& function : module->functions) simulate(*module, function, seed);
  check_file(text, ".pto");
}

}  // namespace strew::fuzz
