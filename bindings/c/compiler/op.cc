// Ops and requests of the C interface. Tested by tests/c_api.
#include "strew/op.h"

#include <cstdio>

#include "bindings/c/compiler/handles.h"
#include "strew/schedule.h"
#include "strew/target.h"
#include "strew/text.h"

namespace strew::inline v0::c_api {

static_assert(kDynamic == STREW_OPEN);
static_assert(static_cast<int>(Role::extra) == STREW_EXTRA && static_cast<int>(Role::indices) == STREW_INDICES);

Expected<KernelOptions> kernel_options(const strew_request* request) {
  constexpr strew_request kDefaults = STREW_REQUEST_INIT;
  STREW_ASSIGN(const strew_request known, known_fields(request, kDefaults, "request"));
  KernelOptions options;
  options.threads = known.threads;
  if (known.backend != nullptr) {
    STREW_ASSIGN(options.backend, parse_backend(known.backend));
  }
  if (known.schedule != nullptr) {
    STREW_ASSIGN(const ScheduleText schedule, parse_schedule_text(known.schedule));
    options.schedule = schedule.knobs;
    if (schedule.threads != 0) options.threads = schedule.threads;
  }
  if (known.target != nullptr) {
    STREW_ASSIGN(options.target, parse_target(known.target));
  }
  if (known.compile != nullptr) {
    STREW_ASSIGN(options.compile, value_named<CompileMode>("compile", known.compile, kCompileModes));
  }
  return options;
}

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_op_parse(const char* text, strew_op** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(text, "text"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(Op op, parse_op(text));
    STREW_ASSIGN(VerifiedOp verified, VerifiedOp::of(std::move(op)));
    *out = new strew_op(std::move(verified));
    return {};
  });
}

void strew_op_free(strew_op* op) { delete op; }
const char* strew_op_text(const strew_op* op) { return op != nullptr ? op->text.c_str() : nullptr; }
size_t strew_op_slot_count(const strew_op* op) { return op != nullptr ? op->slots.size() : 0; }

strew_status strew_op_slot(const strew_op* op, size_t number, strew_slot* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(op, "op"));
    if (number >= op->slots.size())
      return invalid_argument("number: " + std::to_string(number) + ", expected less than " + std::to_string(op->slots.size()));
    const TensorSlot& slot = op->slots[number];
    strew_slot filled = STREW_SLOT_INIT;
    const std::string_view role = name(slot.role);
    if (slot.role == Role::indices)
      std::snprintf(filled.name, sizeof filled.name, "indices");
    else
      std::snprintf(filled.name, sizeof filled.name, "%.*s %d", static_cast<int>(role.size()), role.data(), slot.index);
    filled.role = static_cast<uint8_t>(slot.role);
    filled.dtype = static_cast<uint8_t>(slot.type->dtype);
    filled.rank = slot.type->rank();
    filled.dims = slot.type->dims.data();
    filled.strides = slot.type->strides.empty() ? nullptr : slot.type->strides.data();
    return give_struct(out, filled, "out");
  });
}

strew_status strew_prepare(const strew_op* op, const strew_request* request, strew_prepared** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const KernelOptions options, kernel_options(request));
    STREW_ASSIGN(PreparedOp prepared, PreparedOp::of(*op->op, options));
    *out = new strew_prepared{std::move(prepared)};
    return {};
  });
}

void strew_prepared_free(strew_prepared* prepared) { delete prepared; }
