// The pool of XLA runs tasks when it likes, and a handler may itself run on one of its threads, so nothing waits for a task that has not begun: the caller takes
// chunk after chunk, threads of the pool that come in time take some, and those that come late find none. A job is freed by the last that knows of it.
#include "bindings/jax/call.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>

namespace strew::jax {
namespace {

/// What it takes until a thread of XLA's pool has begun a task, and the caller knows that all have ended: measured on a pool of two threads.
constexpr int64_t kDispatchNanoseconds = 8000;

struct Caller {
  const XLA_FFI_Api* api = nullptr;
  XLA_FFI_ExecutionContext* context = nullptr;
};
thread_local Caller caller;

void free_error(const XLA_FFI_Api* api, XLA_FFI_Error* error) {
  XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
  api->XLA_FFI_Error_Destroy(&args);
}

/// A loop whose chunks several threads take.
class Job {
 public:
  Job(int32_t count, strew_task task, void* context) : count_(count), task_(task), context_(context) {}

  /// One more thread knows of it, until it calls leave().
  void join() { owners_.fetch_add(1, std::memory_order_relaxed); }
  void leave() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Runs the chunks that nobody has taken.
  void work() {
    for (;;) {
      if (next_.load(std::memory_order_relaxed) >= count_) return;  // so that those that come late write nothing
      const int32_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= count_) return;
      task_(context_, chunk);
      done_.fetch_add(1, std::memory_order_release);
    }
  }
  /// Waits for the chunks that other threads have taken, which they run at this moment.
  void wait() const {
    while (done_.load(std::memory_order_acquire) != count_) std::this_thread::yield();
  }

 private:
  ~Job() = default;

  const int32_t count_;
  const strew_task task_;
  void* const context_;
  std::atomic<int32_t> owners_{1};
  alignas(64) std::atomic<int32_t> next_{0};
  alignas(64) std::atomic<int32_t> done_{0};
};

/// Asks the pool for a thread. False: there is no pool.
bool schedule(Job* job) {
  job->join();
  const auto task = [](void* data) {
    auto* const of = static_cast<Job*>(data);
    of->work();
    of->leave();
  };
  XLA_FFI_ThreadPool_Schedule_Args args{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr, caller.context, task, job};
  XLA_FFI_Error* const error = caller.api->XLA_FFI_ThreadPool_Schedule(&args);
  if (error == nullptr) return true;
  free_error(caller.api, error);
  job->leave();
  return false;
}

/// The threads of the pool; 1 if there is none. Outside of a call, as when programs are made ready for calls to come, the cores of the process: XLA's pool has as many.
int32_t threads(void*) {
  if (caller.api == nullptr) return std::max<int32_t>(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
  int64_t count = 0;
  XLA_FFI_ThreadPool_NumThreads_Args args{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, nullptr, caller.context, &count};
  if (XLA_FFI_Error* const error = caller.api->XLA_FFI_ThreadPool_NumThreads(&args); error != nullptr) {
    free_error(caller.api, error);
    return 1;
  }
  constexpr int64_t kMost = 1024;
  return static_cast<int32_t>(std::clamp<int64_t>(count, 1, kMost));
}

void run_tasks(void*, int32_t count, strew_task task, void* context) {
  const int32_t helpers = std::min(count, threads(nullptr)) - 1;
  Job* const job = helpers > 0 ? new (std::nothrow) Job(count, task, context) : nullptr;
  if (job == nullptr) {
    for (int32_t i = 0; i < count; ++i) task(context, i);
    return;
  }
  for (int32_t i = 0; i < helpers && schedule(job); ++i) {
  }
  job->work();
  job->wait();
  job->leave();
}

XLA_FFI_Error_Code code_of(strew_code code) {
  switch (code) {
    case STREW_CODE_OK:
      return XLA_FFI_Error_Code_OK;
    case STREW_CODE_INVALID_ARGUMENT:
      return XLA_FFI_Error_Code_INVALID_ARGUMENT;
    case STREW_CODE_UNSUPPORTED:
      return XLA_FFI_Error_Code_UNIMPLEMENTED;
    case STREW_CODE_OUT_OF_BOUNDS:
      return XLA_FFI_Error_Code_OUT_OF_RANGE;
    case STREW_CODE_CANCELLED:
      return XLA_FFI_Error_Code_CANCELLED;
    case STREW_CODE_DEADLINE_EXCEEDED:
      return XLA_FFI_Error_Code_DEADLINE_EXCEEDED;
    case STREW_CODE_RESOURCE_EXHAUSTED:
      return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
    case STREW_CODE_IO:
    case STREW_CODE_INTERNAL:
      break;
  }
  return XLA_FFI_Error_Code_INTERNAL;
}

}  // namespace

Failure failure(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const std::string& message) {
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, message.c_str(), code};
  return api->XLA_FFI_Error_Create(&args);
}

Failure from_strew(const XLA_FFI_Api* api, strew_status status, const std::string& where) {
  const XLA_FFI_Error_Code code = code_of(strew_status_code(status));
  const std::string message = "strew: " + where + ": " + strew_status_message(status);
  strew_status_free(status);
  return failure(api, code, message);
}

Calling::Calling(const XLA_FFI_CallFrame& frame) { caller = {frame.api, frame.ctx}; }
Calling::~Calling() { caller = {}; }

strew_status make_executor(strew_executor** out) {
  strew_executor_callbacks callbacks = STREW_EXECUTOR_CALLBACKS_INIT;
  callbacks.threads = threads;
  callbacks.parallel_for = run_tasks;
  callbacks.dispatch_ns = kDispatchNanoseconds;
  return strew_executor_create(&callbacks, out);
}

}  // namespace strew::jax
