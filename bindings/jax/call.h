// What the handler knows of a call of XLA's: its threads, and how failures are told. XLA's interface is declared by jaxlib's header xla/ffi/api/c_api.h alone. Tested by
// tests/jax/handler_test.py.
#pragma once

#include <cstdint>
#include <string>

#include "strew/strew.h"
#include "xla/ffi/api/c_api.h"

namespace strew::jax {

/// Null is success.
using Failure = XLA_FFI_Error*;

/// `message`: one sentence.
Failure failure(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const std::string& message);
/// What strew says, after `where`; frees the status.
Failure from_strew(const XLA_FFI_Api* api, strew_status status, const std::string& where);

/// As long as it lives, kernels that this thread runs may use the threads of the pool of XLA's call.
class Calling {
 public:
  explicit Calling(const XLA_FFI_CallFrame& frame);
  ~Calling();
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
};

/// An executor on the pool of the call that the calling thread is in.
strew_status make_executor(strew_executor** out);

}  // namespace strew::jax
