// libstrew_jax.so: the function that XLA:CPU calls for custom calls of the target "strew" (docs/jax.md). It keeps no state for them: the program is an attribute, so an
// executable that another process loads from a file runs as well. Tested by tests/jax/handler_test.py.
#include <exception>
#include <new>
#include <string>

#include "bindings/jax/call.h"
#include "bindings/jax/programs.h"
#include "strew/export.h"

namespace strew::jax {
namespace {

/// XLA asks once, when the handler is registered, what it was built for.
Failure describe(const XLA_FFI_CallFrame& frame) {
  if (frame.extension_start->type != XLA_FFI_Extension_Metadata) return nullptr;
  const XLA_FFI_Api& api = *frame.api;
  if (api.struct_size < XLA_FFI_Api_STRUCT_SIZE || api.api_version.major_version != XLA_FFI_API_MAJOR ||
      api.api_version.minor_version < XLA_FFI_API_MINOR) {
    const auto text = [](int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); };
    return failure(&api, XLA_FFI_Error_Code_FAILED_PRECONDITION,
                   "strew: jaxlib has version " + text(api.api_version.major_version, api.api_version.minor_version) +
                       " of XLA's FFI, expected " + text(XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR) + " or a later minor version");
  }
  XLA_FFI_Metadata& out = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata;
  out.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
  out.traits = 0;
  out.state_type_id = XLA_FFI_UNKNOWN_TYPE_ID;
  return nullptr;
}

Failure call(const XLA_FFI_CallFrame& frame) {
  if (frame.extension_start != nullptr) return describe(frame);
  const Program* program = nullptr;
  if (Failure const failed = find_program(frame, &program)) return failed;
  return program->run(frame);
}

}  // namespace
}  // namespace strew::jax

extern "C" STREW_API XLA_FFI_Error* strew_jax_call(XLA_FFI_CallFrame* frame) {
  try {
    return strew::jax::call(*frame);
  } catch (const std::bad_alloc&) {
    return strew::jax::failure(frame->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "strew: custom call: out of memory");
  } catch (const std::exception& error) {
    return strew::jax::failure(frame->api, XLA_FFI_Error_Code_INTERNAL, std::string("strew: custom call: ") + error.what());
  }
}
