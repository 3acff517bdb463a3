// What runs a fused node: a group, or an expansion. Tested by tests/onnxruntime.
#pragma once

#include "bindings/onnxruntime/api.h"

namespace strew::ort {

/// The table that ONNX Runtime calls, with what a call needs. It is given up by release().
class FusedNode : public abi::NodeComputeInfo {
 public:
  FusedNode() : abi::NodeComputeInfo{} {
    ort_version_supported = abi::kVersion;
    CreateState = [](abi::NodeComputeInfo* info, abi::NodeComputeContext*, void** state) -> abi::Status* {
      *state = info;
      return nullptr;
    };
    Compute = [](abi::NodeComputeInfo* info, void*, abi::KernelContext* context) {
      return guarded([&] { return static_cast<FusedNode*>(info)->run(context); });
    };
    ReleaseState = [](abi::NodeComputeInfo*, void*) {};
  }
  virtual ~FusedNode() = default;
  FusedNode(const FusedNode&) = delete;
  FusedNode& operator=(const FusedNode&) = delete;

  static void release(abi::NodeComputeInfo* info) { delete static_cast<FusedNode*>(info); }

 private:
  virtual abi::Status* run(abi::KernelContext* context) = 0;
};

}  // namespace strew::ort
