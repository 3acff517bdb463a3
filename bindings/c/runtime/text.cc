// Texts of the C interface that belong to the caller, and what a kernel says of itself. Tested by tests/c_api/texts.c.
#include "bindings/c/runtime/handles.h"

namespace strew::inline v0::c_api {
namespace {

/// A text of the kernel's descriptor; null for a null pointer.
const char* text_of(const strew_kernel_ref* kernel, const char* strew_kernel::*member) {
  return kernel != nullptr ? kernel->current().callable->kernel.*member : nullptr;
}

}  // namespace

Status give_text(std::string text, strew_text** out) {
  *out = new strew_text{std::move(text)};
  return {};
}

strew_slot make_slot(std::string_view name, uint8_t role, uint8_t dtype, int32_t rank, const int64_t* dims,
                     const int64_t* strides) {
  strew_slot slot = STREW_SLOT_INIT;
  name.copy(slot.name, sizeof slot.name - 1);
  slot.role = role;
  slot.dtype = dtype;
  slot.rank = rank;
  slot.dims = dims;
  slot.strides = strides;
  return slot;
}

Status check_number(size_t number, size_t count) {
  if (number < count) return {};
  return invalid_argument("number: " + std::to_string(number) + ", expected less than " + std::to_string(count));
}

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

const char* strew_text_chars(const strew_text* text) { return text != nullptr ? text->chars.c_str() : ""; }
size_t strew_text_length(const strew_text* text) { return text != nullptr ? text->chars.size() : 0; }
void strew_text_free(strew_text* text) { delete text; }

size_t strew_kernel_slot_count(const strew_kernel_ref* kernel) {
  return kernel != nullptr ? kernel->callable->kernel.tensor_count : 0;
}
strew_status strew_kernel_slot(const strew_kernel_ref* kernel, size_t number, strew_slot* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    const strew_kernel& descriptor = kernel->callable->kernel;
    STREW_TRY(check_number(number, descriptor.tensor_count));
    const strew_tensor_rule& rule = descriptor.tensors[number];
    return give_struct(out, make_slot(rule.name, rule.role, rule.dtype, static_cast<int32_t>(rule.rank), rule.dims, rule.strides),
                       "out");
  });
}

const char* strew_kernel_symbol(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::name); }
const char* strew_kernel_identity(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::identity); }
const char* strew_kernel_schedule(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::schedule); }
const char* strew_kernel_target(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::target); }
const char* strew_kernel_features(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::features); }
const char* strew_kernel_backend(const strew_kernel_ref* kernel) { return text_of(kernel, &strew_kernel::backend); }
