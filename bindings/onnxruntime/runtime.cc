#include "bindings/onnxruntime/runtime.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace strew::ort {
namespace {

/// What a parallel loop of ONNX Runtime's pool costs: its threads wait for work for a while.
constexpr int64_t kDispatchNanoseconds = 4000;
/// How long threads of a pool wait for each other when they are counted.
constexpr std::chrono::microseconds kFirstLook{1000}, kLaterLook{250};

struct Call {
  const abi::KernelContext* context = nullptr;
  Pool* pool = nullptr;
};
thread_local Call current;

/// Runs `task` for each number below `count`, each as a task of the pool. False: none ran.
bool run_in_pool(const abi::KernelContext* context, size_t count, void (*task)(void*, size_t), void* data) {
  return succeeded(api().KernelContext_ParallelFor(context, task, count, count, data));
}

struct Tasks {
  strew_task run;
  void* context;
};
void run_tasks(void*, int32_t count, strew_task task, void* context) {
  Tasks tasks{task, context};
  const auto run = [](void* data, size_t number) {
    const Tasks& all = *static_cast<const Tasks*>(data);
    all.run(all.context, static_cast<int32_t>(number));
  };
  if (current.context != nullptr && run_in_pool(current.context, static_cast<size_t>(count), run, &tasks)) return;
  for (int32_t i = 0; i < count; ++i) task(context, i);
}

int32_t cores() {
  static const auto count = std::max<int32_t>(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
  return count;
}

/// A call does not wait for the compiler, unless the environment says so (docs/options.md).
const char* compile_mode() {
  static const char* const mode = std::getenv("STREW_COMPILE") != nullptr ? nullptr : "background";
  return mode;
}

}  // namespace

abi::Status* Runtime::find(const RuntimeOptions& options, Runtime** out) {
  static std::mutex mutex;
  // Never destroyed: calls may come while the process ends.
  static auto& all = *new std::map<RuntimeOptions, Runtime*>();
  const std::lock_guard lock(mutex);
  Runtime*& found = all[options];
  if (found == nullptr) {
    std::unique_ptr<Runtime> made(new Runtime(options));
    if (abi::Status* const status = made->open(); status != nullptr) {
      made->close();
      return status;
    }
    found = made.release();
  }
  *out = found;
  return nullptr;
}

abi::Status* Runtime::open() {
  const auto check = [](strew_status status) {
    return status == nullptr ? nullptr : from_strew(status, abi::ErrorCode::invalid_argument, "provider options");
  };
  strew_executor_callbacks callbacks = STREW_EXECUTOR_CALLBACKS_INIT;
  callbacks.context = this;
  callbacks.threads = [](void* runtime) { return static_cast<const Runtime*>(runtime)->threads(); };
  callbacks.parallel_for = run_tasks;
  callbacks.dispatch_ns = kDispatchNanoseconds;
  strew_executor* made = nullptr;
  STREW_ORT_TRY(check(strew_executor_create(&callbacks, &made)));
  const std::unique_ptr<strew_executor, void (*)(strew_executor*)> executor(made, strew_executor_free);
  strew_options options = strew_options_from_environment();
  if (!options_.cache_dir.empty()) options.cache_dir = options_.cache_dir.c_str();
  STREW_ORT_TRY(check(strew_runtime_create(&options, made, &runtime_)));
  STREW_ORT_TRY(check(strew_site_create(runtime_, &site_)));
  strew_wisdom* wisdom = nullptr;
  if (!options_.wisdom.empty()) STREW_ORT_TRY(check(strew_wisdom_load(options_.wisdom.c_str(), &wisdom)));
  request_.wisdom = wisdom;
  request_.compile = compile_mode();
  return nullptr;
}

int32_t Runtime::threads() const {
  if (current.context == nullptr) return 1;
  return current.pool->threads(current.context, options_.threads != 0 ? options_.threads : cores());
}

int32_t Pool::threads(const abi::KernelContext* context, int32_t most) {
  if (most == 1) return 1;
  const int32_t known = threads_.load(std::memory_order_relaxed);
  if (known >= most) return most;
  const uint64_t call = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (known != 0 && !std::has_single_bit(call)) return known;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::max(1, std::min(known, most));
  // As many tasks as threads are wanted, each of which waits for the others: those that never begin have no thread.
  struct Meeting {
    std::mutex mutex;
    std::set<std::thread::id> there;
    size_t wanted;
    std::chrono::steady_clock::time_point end;
  } meeting{{}, {}, static_cast<size_t>(most), std::chrono::steady_clock::now() + (known == 0 ? kFirstLook : kLaterLook)};
  const auto meet = [](void* data, size_t) {
    auto& all = *static_cast<Meeting*>(data);
    for (;;) {
      {
        const std::lock_guard lock(all.mutex);
        all.there.insert(std::this_thread::get_id());
        if (all.there.size() == all.wanted) return;
      }
      if (std::chrono::steady_clock::now() > all.end) return;
      std::this_thread::yield();
    }
  };
  run_in_pool(context, static_cast<size_t>(most), meet, &meeting);
  const auto found = std::max({1, known, static_cast<int32_t>(meeting.there.size())});
  threads_.store(found, std::memory_order_relaxed);
  return found;
}

Calling::Calling(const abi::KernelContext* context, Pool& pool) { current = {context, &pool}; }
Calling::~Calling() { current = {}; }

}  // namespace strew::ort
