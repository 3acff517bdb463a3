// See own_stack.h. The bounds of a stack are read once per thread. Those of the main thread are computed as Linux lays its stack out, because glibc parses
// /proc/self/maps to find them, which takes 0.2 ms of a process's first call. Tested by tests/unit/base/own_stack_test.cc.
#include "base/own_stack.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/resource.h>
#endif

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/start_thread.h"

namespace strew::inline v0 {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kFrameScale = 4;  // stack frames of instrumented code are larger by this factor
#else
constexpr size_t kFrameScale = 1;
#endif
constexpr size_t kBaseBytes = (size_t{3} << 20) / 2, kBytesPerNode = size_t{8} << 10;

struct Bounds {
  uintptr_t low = 0, high = 0;
};

/// Of the main thread: its stack ends with the page that has the program's name, and grows down to the limit. Nothing if the limit is so large that the
/// system may have put something else there.
Bounds bounds_of_main_thread() {
#if defined(__linux__)
  constexpr rlim_t kMost = rlim_t{64} << 20;  // Linux leaves 128 MiB free
  rlimit limit{};
  const auto name = static_cast<uintptr_t>(getauxval(AT_EXECFN)), page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  if (name == 0 || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > kMost) return {};
  const uintptr_t high = (name | (page - 1)) + 1;
  return {high - static_cast<uintptr_t>(limit.rlim_cur), high};
#else
  return {};
#endif
}

Bounds bounds_of_thread() {
  Bounds out = bounds_of_main_thread();
  if (const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); here > out.low && here <= out.high) return out;
  out = {};
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return out;
  void* low = nullptr;
  size_t size = 0, guard = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0) {
    // glibc counts a thread's guard pages as part of its stack.
    out.low = reinterpret_cast<uintptr_t>(low) + guard;
    out.high = reinterpret_cast<uintptr_t>(low) + size;
  }
  pthread_attr_destroy(&attributes);
  return out;
}

Status run_caught(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  } catch (const std::exception& error) {
    return internal_error(std::string("an exception: ") + error.what());
  } catch (abi::__forced_unwind&) {
    throw;  // pthread_cancel() of the caller's thread: must not be swallowed
  } catch (...) {
    return internal_error("an exception of an unknown type");
  }
}

struct Job {
  const std::function<Status()>& work;
  Status status;
};

void* run_job(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  job.status = run_caught(job.work);
  return nullptr;
}

/// While an object of this class lives, this thread is not cancelled.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_); }
  ~NotCancelled() { pthread_setcancelstate(cancel_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int cancel_ = 0;
};

Status run_on_thread(size_t bytes, const std::function<Status()>& work) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto failed = [&](int error) {
    return internal_error("a thread with a stack of " + std::to_string(bytes) + " bytes to compile on: " + std::strerror(error));
  };
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0) return failed(error);
  int error = pthread_attr_setstacksize(&attributes, (bytes + page - 1) / page * page + 16 * page);
  Job job{work, {}};
  const NotCancelled whole;
  pthread_t thread{};
  if (error == 0) error = start_thread(thread, &attributes, run_job, &job);
  pthread_attr_destroy(&attributes);
  if (error != 0) return failed(error);
  pthread_join(thread, nullptr);
  return std::move(job.status);
}

}  // namespace

size_t stack_left() {
  thread_local const Bounds bounds = bounds_of_thread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > bounds.low && here <= bounds.high ? here - bounds.low : 0;
}

Status with_stack(size_t bytes, const std::function<Status()>& work) {
  return stack_left() >= bytes ? run_caught(work) : run_on_thread(bytes, work);
}

size_t compiler_stack_bytes(size_t nodes) { return kFrameScale * (kBaseBytes + nodes * kBytesPerNode); }

}  // namespace strew::inline v0
