// Fuzz target schedule: the text of --schedule, on plans of each kind. What parses prints to text that parses to the same schedule, and a
// schedule is legal or refused with a reason.
#include "schedules/schedule.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strew/text.h"
#include "tests/fuzz/check.h"
#include "tests/support/plan.h"

namespace strew::fuzz {
namespace {

Plan plan_of(std::string_view text) {
  Expected<Op> op = parse_op(text);
  if (!op.ok()) broken("an op of this target is refused: " + op.status().message());
  return canonical_plan(VerifiedOp::of(std::move(op).value()).value()).value();
}

std::vector<Plan> make_plans() {
  return {
      plan_of(
          "strew1.scatter(operand=f32[64,8] indices=i32[16] updates=f32[16,8] update_window_dims=[1] inserted_window_dims=[0] "
          "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
      plan_of("strew1.scatter(operand=i32[64] indices=i32[?] updates=i32[?] inserted_window_dims=[0] "
              "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place order=relaxed combiner=add)"),
      plan_of("strew1.scatter(operand=f32[64,8] indices=i32[4] updates=f32[4,3,8] update_window_dims=[1,2] "
              "scatter_dims_to_operand_dims=[0] index_vector_dim=1 indices_are_sorted=true)"),
      plan_of("strew1.gather(operand=f32[64,8] indices=i32[16] result=f32[16,8] offset_dims=[1] collapsed_slice_dims=[0] "
              "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,8])"),
  };
}

void check_schedule_text(std::string_view text) {
  static const std::vector<Plan> plans = make_plans();
  static const Target target = parse_target("x86-64-v4").value();
  const Expected<ScheduleText> parsed = parse_schedule_text(text);
  if (!parsed.ok()) return check_refusal(parsed.status());
  const Expected<Schedule> schedule = apply(parsed->knobs, Schedule{});
  if (!schedule.ok()) return broken("a schedule that was parsed is refused: " + schedule.status().message());
  const Expected<Schedule> again = parse_schedule(print(*schedule), Schedule{});
  if (!again.ok() || *again != *schedule) broken("a schedule reads back as another one: " + print(*schedule));
  for (const Plan& plan : plans)
    if (const Status legal = check_schedule(*schedule, plan, target); !legal.ok()) check_refusal(legal);
}

}  // namespace
}  // namespace strew::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_schedule_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
