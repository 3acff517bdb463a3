// The runtimes of strew that sessions run kernels with: one for each set of options, on the threads of ONNX Runtime's pool. Tested by tests/onnxruntime.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <mutex>
#include <string>

#include "bindings/onnxruntime/api.h"

namespace strew::ort {

/// What a session's provider options say of how kernels are made and run.
struct RuntimeOptions {
  int32_t threads = 0;    ///< the most threads of a call; 0: as many as this process may use cores, if the pool has so many
  std::string cache_dir;  ///< the folder of compiled kernels; "": as the environment says
  std::string wisdom;     ///< a file of measured schedules; "": that of the process
  auto operator<=>(const RuntimeOptions&) const = default;
};

class Runtime {
 public:
  /// Sessions with the same options share it, and it lives as long as the process: kernels that run while sessions end need it.
  static abi::Status* find(const RuntimeOptions& options, Runtime** out);

  strew_runtime* get() const { return runtime_; }
  strew_site* site() const { return site_; }
  /// How kernels are asked for.
  const strew_request& request() const { return request_; }
  /// The number of threads that the schedules of this thread's calls are for.
  int32_t threads() const;

 private:
  explicit Runtime(const RuntimeOptions& options) : options_(options) {}
  /// Of one that could not be opened.
  void close() {
    strew_site_free(site_);
    strew_runtime_free(runtime_);
  }
  abi::Status* open();

  RuntimeOptions options_;
  strew_runtime* runtime_ = nullptr;
  strew_site* site_ = nullptr;
  strew_request request_ = STREW_REQUEST_INIT;
};

/// The pool of a session, whose size ONNX Runtime does not tell.
class Pool {
 public:
  /// How many threads of the pool work at a time, up to `most`. The first call looks, for a millisecond at most. A pool that was busy then looks smaller than it is, so the second, fourth, eighth
  /// call and so on look again, for a quarter of that.
  int32_t threads(const abi::KernelContext* context, int32_t most);

 private:
  std::mutex mutex_;  // one thread looks at a time: others would be in its way
  std::atomic<int32_t> threads_{0};
  std::atomic<uint64_t> calls_{0};  ///< while fewer threads than wanted were found
};

/// As long as it lives, calls of this thread run on the threads of the pool of this call.
class Calling {
 public:
  Calling(const abi::KernelContext* context, Pool& pool);
  ~Calling();
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
};

}  // namespace strew::ort
