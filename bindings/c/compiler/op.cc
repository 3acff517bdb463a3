// Ops and requests of the C interface. Tested by tests/c_api.
#include "strew/op.h"

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "bindings/c/compiler/handles.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/slot_name.h"
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
  if (known.wisdom != nullptr) options.wisdom = known.wisdom->wisdom;
  if (known.compile != nullptr) {
    STREW_ASSIGN(options.compile, value_named<CompileMode>("compile", known.compile, kCompileModes));
  }
  return options;
}

namespace {

/// The dims of a tensor that a call binds to a slot of this type.
Expected<std::vector<int64_t>> dims_of_input(const VerifiedOp& op, Role role, int index, std::span<const strew_tensor> inputs,
                                             const std::vector<TensorSlot>& slots) {
  size_t input = 0;
  for (const TensorSlot& slot : slots) {
    if (slot.role == Role::result) continue;
    if (slot.role == role && slot.index == index) {
      const strew_tensor& given = inputs[input];
      const std::string argument = "inputs[" + std::to_string(input) + "]";
      if (given.rank != slot.type->rank())
        return invalid_argument(argument + ".rank: " + std::to_string(given.rank) + ", expected " +
                                std::to_string(slot.type->rank()));
      if (given.rank > 0) STREW_TRY(check_not_null(given.dims, (argument + ".dims").c_str()));
      return std::vector<int64_t>(given.dims, given.dims + given.rank);
    }
    ++input;
  }
  // A scatter whose operand is no input: its buffer is the result's, or nothing is read.
  return std::get<Scatter>(*op).operands[static_cast<size_t>(index)].dims;
}

Expected<std::vector<int64_t>> result_dims(const strew_op& op, size_t result, std::span<const strew_tensor> inputs) {
  const auto count = static_cast<size_t>(
      std::count_if(op.slots.begin(), op.slots.end(), [](const TensorSlot& slot) { return slot.role == Role::result; }));
  if (result >= count)
    return invalid_argument("result: " + std::to_string(result) + ", expected less than " + std::to_string(count));
  if (inputs.size() != op.slots.size() - count)
    return invalid_argument("input_count: " + std::to_string(inputs.size()) + ", expected " +
                            std::to_string(op.slots.size() - count));
  const std::vector<int64_t>& known = op.slots[result].type->dims;
  if (std::find(known.begin(), known.end(), kDynamic) == known.end()) return known;
  STREW_ASSIGN(std::vector<int64_t> operand, dims_of_input(op.op, Role::operand, static_cast<int>(result), inputs, op.slots));
  if (const auto* const gather = std::get_if<Gather>(&*op.op)) {
    const AccessDims dims(*gather);
    STREW_ASSIGN(const std::vector<int64_t> indices, dims_of_input(op.op, Role::indices, 0, inputs, op.slots));
    std::vector<int64_t> derived = dims.slices_extents(dims.position_extents(indices), dims.window_extents());
    for (size_t d = 0; d < derived.size(); ++d)
      if (derived[d] == kDynamic) derived[d] = known[d];
    operand = std::move(derived);
  }
  for (size_t d = 0; d < operand.size(); ++d)
    if (operand[d] == kDynamic)
      return invalid_argument("result " + std::to_string(result) + ": the extent of dim " + std::to_string(d) +
                              " is open and follows from no input");
  return operand;
}

}  // namespace
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
    STREW_TRY(check_number(number, op->slots.size()));
    const TensorSlot& slot = op->slots[number];
    const TensorType& type = *slot.type;
    return give_struct(
        out,
        make_slot(slot_name(slot.role, slot.index), static_cast<uint8_t>(slot.role), static_cast<uint8_t>(type.dtype),
                  type.rank(), type.dims.data(), type.strides.empty() ? nullptr : type.strides.data()),
        "out");
  });
}

strew_status strew_op_result_dims(const strew_op* op, size_t result, const strew_tensor* inputs, size_t input_count,
                                  int64_t* dims, int32_t rank) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(op, "op"));
    if (input_count != 0) STREW_TRY(check_not_null(inputs, "inputs"));
    STREW_ASSIGN(const std::vector<int64_t> extents, result_dims(*op, result, {inputs, input_count}));
    if (rank < 0 || static_cast<size_t>(rank) != extents.size())
      return invalid_argument("rank: " + std::to_string(rank) + ", expected " + std::to_string(extents.size()));
    if (rank > 0) STREW_TRY(check_not_null(dims, "dims"));
    std::copy(extents.begin(), extents.end(), dims);
    return {};
  });
}

strew_status strew_prepare(const strew_op* op, const strew_request* request, strew_prepared** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const KernelOptions options, kernel_options(request));
    STREW_ASSIGN(PreparedOp prepared, PreparedOp::of(*op->op, options));
    *out = new strew_prepared(std::move(prepared));
    return {};
  });
}

void strew_prepared_free(strew_prepared* prepared) { delete prepared; }
