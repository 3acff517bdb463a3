// What holds of every op that verifies: text, canonical form, plan, schedule, PTO program. See check.h.
#include "backends/backend.h"
#include "backends/pto/program.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/verify.h"
#include "compiler/rewrite/rewrites.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "tests/fuzz/check.h"

namespace strew::fuzz {
namespace {

void check_text(const Op& op) {
  const std::string text = print(op);
  const Expected<Op> again = parse_op(text);
  if (!again.ok()) broken("the text of an op is refused: " + again.status().message() + "\n" + text);
  if (*again != op || print(*again) != text)
    broken("the text of an op reads back as another op:\n" + text + "\n" + print(*again));
  if (hash(*again) != hash(op)) broken("equal ops have different hashes: " + text);
}

void check_schedule_of(const VerifiedOp& op, const Plan& plan, const Target& target, Schedule& schedule) {
  schedule = choose_schedule(plan, target, 0);
  if (const Status legal = check_schedule(schedule, plan, target); !legal.ok())
    broken("the chosen schedule is illegal: " + legal.message() + "\n" + print(op));
  const Expected<Schedule> again = parse_schedule(print(schedule), Schedule{});
  if (!again.ok() || *again != schedule) broken("a schedule reads back as another one: " + print(schedule));
}

std::string kind_of(pto::Output output) {
  if (output == pto::Output::pto_as) return "pto-as";
  return output == pto::Output::pto_ir ? "pto-ir" : "pto-cpp";
}

void check_program(const VerifiedOp& op, const Plan& plan, uint64_t choice) {
  constexpr pto::Output kOutputs[] = {pto::Output::pto_ir, pto::Output::pto_as, pto::Output::pto_cpp};
  const pto::Chip chip = choice % 2 == 0 ? pto::Chip::a3 : pto::Chip::a5;
  pto::ProgramOptions options;
  options.output = kOutputs[choice / 2 % 3];
  const Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(op), plan, chip, options);
  if (!program.ok()) return check_refusal(program.status());
  pto::Rules rules;
  rules.reader = options.output == pto::Output::pto_ir ? pto::Reader::ptoas : pto::Reader::headers;
  rules.emitted = options.output != pto::Output::pto_as;  // PTO-AS leaves modes at their default out
  if (const Status legal = pto::verify(program->module, rules); !legal.ok())
    broken("the program of an op breaks the chip's rules: " + legal.message() + "\n" + print(op));
  const Expected<std::string> text = pto::program_text({*program}, kind_of(options.output));
  if (!text.ok()) broken("the program of an op cannot be printed: " + text.status().message() + "\n" + print(op));
  if (options.output == pto::Output::pto_cpp) return;
  const Expected<pto::Module> again = pto::parse(*text);
  if (!again.ok()) broken("the program of an op is refused: " + again.status().message() + "\n" + print(op));
  if (!(*again == program->module)) broken("the program of an op reads back as another one:\n" + print(op) + "\n" + *text);
}

}  // namespace

void check_op(const VerifiedOp& op, uint64_t choice) {
  check_text(op);
  const Expected<Canonical> canonical = canonicalise(op);
  if (!canonical.ok()) broken(canonical.status().message() + "\n" + print(op));
  const Plan plan = make_plan(canonical->op);
  if (print(plan).empty()) broken("a plan has no text: " + print(op));
  static const Target target = parse_target("x86-64-v3").value();
  Schedule schedule;
  check_schedule_of(op, plan, target, schedule);
  const BuildRequest request{tensor_slots(op), plan, schedule, target, "fuzz"};
  for (const Backend* backend : backends())
    if (const Status able = backend->can_build(request); !able.ok()) check_refusal(able);
  check_program(op, plan, choice);
}

}  // namespace strew::fuzz
