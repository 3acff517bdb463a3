// Kernels of single operators, which ONNX Runtime calls node by node: the result may lie in the memory of the tensor that a scatter updates. Tested by
// tests/onnxruntime.
#pragma once

#include "bindings/onnxruntime/operators.h"
#include "bindings/onnxruntime/report.h"
#include "bindings/onnxruntime/runtime.h"

namespace strew::ort {

inline constexpr const char* kProviderName = "StrewExecutionProvider";

/// What the kernels of a session share. It lives as long as the session.
struct Session {
  Runtime* runtime = nullptr;
  Pool pool;
  uint64_t verify_every = 0;  ///< every n-th call of a kernel is run on the reference, too; 0: none
  std::shared_ptr<Report> report = std::make_shared<Report>();
};

/// All operators' kernels, for all their versions and element types. It lives as long as the session.
class Registry {
 public:
  struct Entry {
    Session* session;
    const Operator* op;
  };
  abi::Status* open(Session* session);
  const abi::KernelRegistry* get() const { return registry_.get(); }

 private:
  std::vector<Entry> entries_;
  Owned<abi::KernelRegistry> registry_;
};

}  // namespace strew::ort
