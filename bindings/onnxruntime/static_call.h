// Calls of a group all of whose extents are known: the program is bound (strew_program_bind), so that a call finds out nothing but where its tensors lie.
// Tested by tests/onnxruntime/host_test.py.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bindings/onnxruntime/context.h"
#include "bindings/onnxruntime/runtime.h"

namespace strew::ort {

class StaticCall {
 public:
  /// `name` starts messages.
  StaticCall(const strew_program* program, const std::vector<Binding>& inputs, const std::vector<size_t>& outputs,
             const std::string& name);
  ~StaticCall() { strew_bound_program_free(bound_); }
  StaticCall(const StaticCall&) = delete;
  StaticCall& operator=(const StaticCall&) = delete;

  /// Runs the call, and sets `done`, unless the program's kernels are not compiled yet, its number of threads is another one, or its tensors have other types or overlap. The caller
  /// has a Calling.
  abi::Status* run(const Runtime& runtime, abi::KernelContext* context, bool* done);

 private:
  struct Port {
    size_t number;  ///< at the node
    std::vector<int64_t> dims;
    uint8_t dtype;
    int64_t bytes;
  };
  bool add(const strew_port& port, size_t number, std::vector<Port>* ports);
  /// Returns whether the program is bound for that number of threads.
  bool is_bound(const Runtime& runtime, int32_t threads);
  bool overlaps(std::span<void* const> data) const;

  const strew_program* const program_;
  const std::string& name_;
  std::vector<Port> inputs_, outputs_;
  std::atomic<bool> is_possible_{true};
  std::atomic<uint64_t> calls_{0};   ///< before the program was bound
  std::mutex mutex_;                 // one thread binds it
  std::atomic<int32_t> threads_{0};  ///< that it is bound for; 0: it is not yet
  strew_bound_program* bound_ = nullptr;
};

}  // namespace strew::ort
