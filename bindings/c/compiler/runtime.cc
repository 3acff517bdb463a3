// Runtimes, pending kernels and loaded kernels of the C interface. Tested by tests/c_api.
#include <chrono>

#include "bindings/c/compiler/handles.h"
#include "runtime/kernel_state.h"
#include "strew/options.h"

struct strew_pending {
  strew::PendingKernel pending;
};

struct strew_kernel_list {
  std::vector<strew_kernel_ref*> kernels;
  strew_kernel_list() = default;
  strew_kernel_list(const strew_kernel_list&) = delete;
  strew_kernel_list& operator=(const strew_kernel_list&) = delete;
  ~strew_kernel_list() {
    for (strew_kernel_ref* const kernel : kernels) strew_kernel_release(kernel);
  }
};

namespace strew::inline v0::c_api {
namespace {

/// A kernel that a runtime answered a request with.
struct RuntimeKernel final : strew_kernel_ref {
  explicit RuntimeKernel(Kernel given)
      : strew_kernel_ref(*given.state()->callable, given.state()->plain() != nullptr), kernel(std::move(given)) {}
  Status run_otherwise(std::span<const TensorView> tensors, const CallOptions& options) const override {
    return kernel.run(tensors, options);
  }
  Status run_many_otherwise(std::span<const TensorView> shapes, std::span<void* const> data,
                            const CallOptions& options) const override {
    return kernel.run_many(shapes, data, options);
  }
  Current current() const override {
    const Kernel::State& state = kernel.state()->current();
    return {state.callable.get(), state.is_plain};
  }
  int64_t build_nanoseconds() const override { return kernel.compile_nanoseconds(); }
  std::string op_text() const override { return kernel.op_text(); }
  Expected<std::string> plan_text() const override { return kernel.plan_text(); }
  bool is_stand_in() const override { return kernel.is_stand_in(); }
  const Kernel kernel;
};

/// A kernel that a runtime loaded.
struct LoadedKernel final : strew_kernel_ref {
  explicit LoadedKernel(CompiledKernel given) : strew_kernel_ref(*given.callable(), true), kernel(std::move(given)) {}
  const CompiledKernel kernel;
};

Deadline deadline_after(int64_t nanoseconds) {
  using std::chrono::steady_clock;
  const steady_clock::time_point now = steady_clock::now();
  const int64_t left = std::chrono::duration_cast<std::chrono::nanoseconds>(kNoDeadline - now).count();
  return nanoseconds >= left ? kNoDeadline : now + std::chrono::nanoseconds(std::max<int64_t>(nanoseconds, 0));
}

Status give_list(Expected<std::vector<CompiledKernel>> loaded, strew_kernel_list** out) {
  if (!loaded.ok()) return loaded.status();
  auto list = std::make_unique<strew_kernel_list>();
  list->kernels.reserve(loaded->size());  // so that no kernel is lost for want of memory
  for (CompiledKernel& kernel : *loaded) list->kernels.push_back(new LoadedKernel(std::move(kernel)));
  *out = list.release();
  return {};
}

strew_kernel_ref* find_lent(const strew_runtime& runtime, const strew_lent_kernel* from) {
  for (; from != nullptr; from = from->next)
    if (from->runtime == runtime.serial) return from->kernel;
  return nullptr;
}

/// Adds a kernel to those that the op lends. Of threads that find it at the same time, the first one's is lent.
strew_kernel_ref* lend(const strew_prepared& op, const strew_runtime& runtime, Kernel kernel) {
  auto made = std::make_unique<strew_lent_kernel>();
  made->runtime = runtime.serial;
  const std::unique_ptr<strew_kernel_ref, void (*)(strew_kernel_ref*)> owned(make_ref(std::move(kernel)), strew_kernel_release);
  made->kernel = owned.get();
  made->next = op.lent.load(std::memory_order_acquire);
  do {
    if (strew_kernel_ref* const present = find_lent(runtime, made->next)) return present;
  } while (!op.lent.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel));
  strew_kernel_retain(made->kernel);
  return made.release()->kernel;
}

}  // namespace

strew_kernel_ref* make_ref(Kernel kernel) { return new RuntimeKernel(std::move(kernel)); }

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_options strew_options_from_environment(void) {
  const Options& options = process_options();
  return {sizeof(strew_options),        options.threads,
          options.compile_threads,      options.cache_bytes,
          options.compile_stack_bytes,  options.target.c_str(),
          name(options.compile).data(), options.exact_shapes,
          options.cache_dir.c_str(),    name(options.cache_mode).data(),
          options.cache_limit_bytes,    options.compile_nice,
          options.learn ? 1 : 0,        options.learned_wisdom_file.c_str()};
}

strew_runtime* strew_runtime_process(void) {
  static strew_runtime& process = *new strew_runtime(&Runtime::process(), nullptr);
  return &process;
}

strew_status strew_runtime_create(const strew_options* options, const strew_executor* executor, strew_runtime** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const strew_options known, known_fields(options, strew_options_from_environment(), "options"));
    Options wanted = process_options();
    wanted.threads = known.threads;
    wanted.compile_threads = known.compile_threads;
    wanted.cache_bytes = known.cache_bytes;
    wanted.compile_stack_bytes = known.compile_stack_bytes;
    if (known.target != nullptr) wanted.target = known.target;
    if (known.compile != nullptr) {
      STREW_ASSIGN(wanted.compile, value_named<CompileMode>("compile", known.compile, kCompileModes));
    }
    wanted.exact_shapes = known.exact_shapes;
    if (known.cache_dir != nullptr) wanted.cache_dir = known.cache_dir;
    if (known.cache_mode != nullptr) {
      STREW_ASSIGN(wanted.cache_mode, value_named<CacheMode>("cache_mode", known.cache_mode, kCacheModes));
    }
    wanted.cache_limit_bytes = known.cache_limit_bytes;
    wanted.compile_nice = known.compile_nice;
    if (known.learn != 0 && known.learn != 1)
      return invalid_argument("options: learn is " + std::to_string(known.learn) + ", expected 0 or 1");
    wanted.learn = known.learn != 0;
    if (known.learned_wisdom_file != nullptr) wanted.learned_wisdom_file = known.learned_wisdom_file;
    STREW_TRY(check(wanted));
    auto runtime = std::make_unique<Runtime>(wanted, executor_of(executor));
    Runtime* const made = runtime.get();
    *out = new strew_runtime(made, std::move(runtime));
    return {};
  });
}

void strew_runtime_free(strew_runtime* runtime) {
  if (runtime != strew_runtime_process()) delete runtime;
}

strew_status strew_get(strew_runtime* runtime, const strew_prepared* op, int64_t timeout, strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(Kernel kernel,
                 runtime->runtime->get(op->op, timeout == STREW_NO_TIMEOUT ? kNoDeadline : deadline_after(timeout)));
    *out = make_ref(std::move(kernel));
    return {};
  });
}

strew_prepared::~strew_prepared() {
  for (const strew_lent_kernel* each = lent.load(); each != nullptr;) {
    const std::unique_ptr<const strew_lent_kernel> owned(each);
    each = owned->next;
    strew_kernel_release(owned->kernel);
  }
}

strew_status strew_find(strew_runtime* runtime, const strew_prepared* op, strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    *out = find_lent(*runtime, op->lent.load(std::memory_order_acquire));
    if (*out != nullptr) return {};
    const Kernel found = runtime->runtime->find(op->op.key());
    if (!found || found.state()->is_stand_in) return {};
    *out = lend(*op, *runtime, found);
    return {};
  });
}

strew_status strew_get_async(strew_runtime* runtime, const strew_prepared* op, strew_kernel_callback done, void* context,
                             int64_t timeout, strew_pending** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(op, "op"));
    if (done == nullptr) STREW_TRY(check_not_null(out, "out"));
    PendingKernel::Callback callback;
    if (done != nullptr)
      callback = [done, context](const Expected<Kernel>& answer) {
        strew_kernel_ref* kernel = nullptr;
        const strew_status status = guarded([&]() -> Status {
          if (!answer.ok()) return answer.status();
          kernel = make_ref(*answer);
          return {};
        });
        done(context, status, kernel);
        strew_kernel_release(kernel);
        strew_status_free(status);
      };
    auto pending = std::make_unique<strew_pending>();
    pending->pending = runtime->runtime->get_async(op->op, std::move(callback),
                                                   timeout == STREW_NO_TIMEOUT ? kNoDeadline : deadline_after(timeout));
    if (out != nullptr) *out = pending.release();
    return {};
  });
}

int32_t strew_pending_ready(const strew_pending* pending) { return pending != nullptr && pending->pending.ready() ? 1 : 0; }

strew_status strew_pending_wait(const strew_pending* pending, int64_t timeout, strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(pending, "pending"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(Kernel kernel, pending->pending.wait(timeout == STREW_NO_TIMEOUT ? kNoDeadline : deadline_after(timeout)));
    *out = make_ref(std::move(kernel));
    return {};
  });
}

void strew_pending_cancel(strew_pending* pending) {
  if (pending != nullptr) pending->pending.cancel();
}
void strew_pending_free(strew_pending* pending) { delete pending; }

strew_status strew_runtime_load_file(strew_runtime* runtime, const char* path, strew_kernel_list** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(path, "path"));
    STREW_TRY(check_not_null(out, "out"));
    return give_list(runtime->runtime->load(std::string(path)), out);
  });
}

strew_status strew_runtime_load_memory(strew_runtime* runtime, const void* bytes, size_t size, strew_kernel_list** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(bytes, "bytes"));
    STREW_TRY(check_not_null(out, "out"));
    return give_list(runtime->runtime->load(std::span(static_cast<const std::byte*>(bytes), size)), out);
  });
}

strew_status strew_runtime_register_library(strew_runtime* runtime, const strew_library* library) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(library, "library"));
    return runtime->runtime->register_library(*library);
  });
}

size_t strew_kernel_list_count(const strew_kernel_list* list) { return list != nullptr ? list->kernels.size() : 0; }
strew_kernel_ref* strew_kernel_list_at(const strew_kernel_list* list, size_t number) {
  return number < strew_kernel_list_count(list) ? list->kernels[number] : nullptr;
}
void strew_kernel_list_free(strew_kernel_list* list) { delete list; }

strew_status strew_runtime_stats(const strew_runtime* runtime, strew_stats* stats) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    const Runtime::Stats now = runtime->runtime->stats();
    const strew_stats filled{sizeof filled,
                             now.hits,
                             now.misses,
                             now.built,
                             now.failed,
                             now.cancelled,
                             now.evicted,
                             now.build_nanoseconds,
                             now.kernels,
                             now.bytes,
                             now.stand_ins,
                             now.generalised,
                             now.disk_hits,
                             now.disk_misses,
                             now.disk_rejected,
                             now.disk_published,
                             now.disk_errors,
                             now.learn_trials,
                             now.learn_changes,
                             now.learn_nanoseconds,
                             now.learn_regret_nanoseconds};
    return give_struct(stats, filled, "stats");
  });
}

void strew_runtime_set_capacity(strew_runtime* runtime, int64_t bytes) {
  if (runtime != nullptr) runtime->runtime->set_capacity(bytes);
}
void strew_runtime_clear(strew_runtime* runtime) {
  if (runtime != nullptr) runtime->runtime->clear();
}

strew_status strew_runtime_drain(strew_runtime* runtime, int64_t timeout) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    return runtime->runtime->drain(timeout == STREW_NO_TIMEOUT ? kNoDeadline : deadline_after(timeout));
  });
}

int64_t strew_kernel_build_nanoseconds(const strew_kernel_ref* kernel) {
  return kernel != nullptr ? kernel->build_nanoseconds() : 0;
}
