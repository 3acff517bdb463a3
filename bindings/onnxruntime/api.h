// ONNX Runtime's functions, once the library is registered, and its statuses. Tested by tests/onnxruntime.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "bindings/onnxruntime/abi.h"
#include "strew/strew.h"

namespace strew::ort {

/// The functions of the runtime that registered this library; all of a process are of one version. open_api() finds them.
struct Functions {
  const abi::Api* api = nullptr;
  const abi::EpApi* ep = nullptr;
};
inline Functions functions;
inline const abi::Api& api() { return *functions.api; }
inline const abi::EpApi& ep_api() { return *functions.ep; }

/// Takes the functions from `base`, and tries those that answer at once: tables of another order would answer something else. A failure is one sentence with both
/// versions; none, although the interface is not open, where the runtime has not even the means to say one.
abi::Status* open_api(const abi::ApiBase& base, bool* is_open);

/// Returns from a function that returns a Status*, if `expression`, a Status*, is a failure.
#define STREW_ORT_TRY(expression) \
  if (abi::Status* const strew_ort_status = (expression); strew_ort_status != nullptr) return strew_ort_status

abi::Status* make_status(abi::ErrorCode code, const std::string& message);
inline abi::Status* failure(const std::string& message) { return make_status(abi::ErrorCode::fail, message); }
/// What strew says, which ends with that. `code`: of anything but an error in strew or a lack of memory.
abi::Status* from_strew(strew_status status, abi::ErrorCode code, const std::string& where);
/// Is it a success? A failure is forgotten.
bool succeeded(abi::Status* status);
bool succeeded(strew_status status);

/// `run`, a function without arguments that returns a Status*, for callers that know no exceptions.
template <class Run>
abi::Status* guarded(const Run& run) noexcept {
  try {
    return run();
  } catch (const std::exception& error) {
    return make_status(abi::ErrorCode::fail, std::string("strew: ") + error.what());
  } catch (...) {
    return make_status(abi::ErrorCode::fail, "strew: an exception of an unknown type");
  }
}

struct Releases {
  void operator()(abi::KernelDefBuilder* builder) const { ep_api().ReleaseKernelDefBuilder(builder); }
  void operator()(abi::KernelDef* definition) const { ep_api().ReleaseKernelDef(definition); }
  void operator()(abi::KernelRegistry* registry) const { ep_api().ReleaseKernelRegistry(registry); }
  void operator()(abi::Value* value) const { api().ReleaseValue(value); }
};
template <class T>
using Owned = std::unique_ptr<T, Releases>;

}  // namespace strew::ort
