// Runtime: the cache (runtime/cache.h) in front of the pipeline (backends/pipeline.h). A request that does not find its
// kernel is planned, which yields the symbol. If a kernel with this symbol exists, built for another spelling of the op or
// another number of threads, it is shared (runtime/built_kernels.h); otherwise it is built. The handle is then remembered
// for this request. Tested by tests/unit/runtime_test.cc, cache_test.cc and kernel_test.cc.
#include "strew/runtime.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "backends/pipeline.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "runtime/build_job.h"
#include "runtime/build_log.h"
#include "runtime/built_kernels.h"
#include "runtime/cache.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "runtime/disk_cache/disk_cache.h"
#include "runtime/disk_cache/disk_cache_functions.h"
#include "runtime/kernel_state.h"
#include "runtime/loaded_kernels.h"
#include "schedules/can_run.h"
#include "schedules/target.h"
#include "strew/executor.h"
#include "strew/options.h"
#include "strew/pending_kernel.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {

struct Runtime::Impl {
  Impl(const KernelCache::Settings& settings, DiskCache::Settings on_disk)
      : disk(std::move(on_disk)), cache([this](BuildJob& job) { return make(job); }, settings) {}

  std::shared_ptr<Executor> executor;
  std::shared_ptr<const ExecutionLimits> limits;
  int threads = 0;               ///< the most threads of a call whose request names no number; 0: all of the executor's
  std::optional<Target> target;  ///< of requests that name none; absent: the machine of this process
  BuiltKernels kernels;
  LoadedKernels loaded;
  DiskCache disk;
  KernelCache cache;  // the last member: its destructor waits for builds, which use the others

  /// A handle for a new request; its kernel may have been built for another request.
  Expected<Kernel> make(BuildJob& job);
  Expected<BuiltKernels::Built> build(Compiled planned, BuildJob& job);
  /// get() for a request that did not find its kernel. It is not inline, so that a look-up that does find it does not pay
  /// for this code.
  [[gnu::noinline]] Expected<Kernel> get(const Op& op, const KernelOptions& options, Deadline deadline);
};

namespace {

KernelCache::Settings cache_settings(const Options& options) {
  KernelCache::Settings settings;
  settings.compile_threads = options.compile_threads > 0 ? options.compile_threads : std::clamp(machine().cores, 1, 4);
  settings.stack_bytes = static_cast<size_t>(options.compile_stack_bytes);
  settings.capacity = options.cache_bytes;
  return settings;
}

/// A constructor cannot fail, so options that are out of range are a warning.
Options good_or_defaults(const Options& options) {
  const Status status = check(options);
  if (status.ok()) return options;
  log_or_keep_warning(status.message() + "; the runtime takes the defaults");
  return {};
}

}  // namespace

Runtime::Runtime(const Options& options, std::shared_ptr<Executor> executor)
    // The environment's values have been checked one by one, and a bad one has its default already.
    : Runtime(ExecutionSettings{std::move(executor), nullptr},
              &options == &process_options() ? options_of_process_runtimes() : good_or_defaults(options)) {}
Runtime::Runtime(const ExecutionSettings& settings) : Runtime(settings, options_of_process_runtimes()) {}
Runtime::Runtime(const ExecutionSettings& settings, const Options& options)
    : impl_(std::make_unique<Impl>(cache_settings(options), disk_cache_settings(options))) {
  impl_->executor = settings.executor;
  if (impl_->executor == nullptr) impl_->executor = process_executor();
  impl_->limits = settings.limits != nullptr ? settings.limits : default_limits();
  impl_->threads = options.threads;
  // The process's target is what `native` means everywhere; only another one has to be named in requests.
  if (options.target != process_options().target)
    if (Expected<Target> target = parse_target(options.target, machine()); target.ok()) impl_->target = *target;
}
Runtime::~Runtime() = default;

Runtime& Runtime::process() {
  // Never destroyed: kernels and their callers may outlive any order of static destructors.
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Expected<BuiltKernels::Built> Runtime::Impl::build(Compiled planned, BuildJob& job) {
  const auto start = std::chrono::steady_clock::now();
  STREW_TRY(job.go_on());
  STREW_ASSIGN(std::shared_ptr<BuiltKernel> kernel, find_kernel(disk, planned));
  const bool is_built = kernel == nullptr;
  if (is_built) {
    STREW_ASSIGN(kernel, build_kernel(disk, std::move(planned), [&] { return job.go_on(); }));
  }
  kernel->compile_nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  kernel->is_loaded = !is_built;
  is_built ? log_built(*kernel) : log_taken(*kernel, disk.folder());
  return BuiltKernels::Built(kernel);
}

Expected<Kernel> Runtime::Impl::make(BuildJob& job) {
  const PreparedOp& op = job.op;
  if (const auto& target = op.options().target) STREW_TRY(machine_can_run(*target));
  KernelOptions options = op.options();
  if (!options.target) options.target = target;
  STREW_ASSIGN(Compiled planned, plan_kernel(op.op(), options));
  STREW_TRY(planned.scheduled);
  const LoadedKernels::Loaded found = loaded.find(op.options(), planned);
  if (found.descriptor == nullptr) STREW_TRY(planned.chosen);
  const std::string symbol = found.descriptor == nullptr ? planned.symbol : found.descriptor->name;
  const int most = planned.threads != 0 ? planned.threads : threads;
  STREW_ASSIGN(BuiltKernels::Built built, kernels.get(symbol, [&] {
    return found.descriptor == nullptr ? build(std::move(planned), job) : LoadedKernels::adopt(found, std::move(planned));
  }));
  STREW_ASSIGN(std::shared_ptr<Kernel::State> state, make_state(std::move(built), op, most, executor, limits));
  return Kernel(std::move(state));
}

Expected<Kernel> Runtime::Impl::get(const Op& op, const KernelOptions& options, Deadline deadline) {
  try {
    STREW_ASSIGN(const PreparedOp prepared, PreparedOp::of(op, options));
    return cache.get(prepared, deadline);
  } catch (const std::bad_alloc&) {
    return unsupported("build: out of memory");
  }
}

Expected<Kernel> Runtime::get(const Op& op, const KernelOptions& options, Deadline deadline) {
  if (Kernel kernel = impl_->cache.find(kernel_key(op, options).hash)) return kernel;
  return impl_->get(op, options, deadline);
}

Expected<Kernel> Runtime::get(const PreparedOp& op, Deadline deadline) {
  try {
    return impl_->cache.get(op, deadline);
  } catch (const std::bad_alloc&) {
    return unsupported("build: out of memory");
  }
}

PendingKernel Runtime::get_async(const PreparedOp& op, PendingKernel::Callback done, Deadline deadline) {
  return impl_->cache.get_async(op, std::move(done), deadline);
}

LentKernel Runtime::lend(const KernelKey& key) const {
  EpochRecord* const record = epochs::begin();
  const KernelTable::Entry* const entry = impl_->cache.table().find(key.hash, record);
  return {record, entry == nullptr ? nullptr : &entry->kernel};
}
LentKernel::~LentKernel() { epochs::end(static_cast<EpochRecord*>(record_)); }

Expected<std::vector<CompiledKernel>> Runtime::load(std::span<const std::byte> file) {
  try {
    STREW_ASSIGN(const std::vector<LoadedKernels::Loaded> kernels,
                 LoadedKernels::read({reinterpret_cast<const char*>(file.data()), file.size()}));
    std::vector<CompiledKernel> out;
    for (const LoadedKernels::Loaded& kernel : kernels) {
      STREW_ASSIGN(std::unique_ptr<const Callable> callable,
                   Callable::make(*kernel.descriptor, impl_->executor, impl_->threads, impl_->limits));
      // The handle owns the code, too.
      using Owner = std::pair<std::shared_ptr<const LinkedObject>, std::unique_ptr<const Callable>>;
      const auto owner = std::make_shared<Owner>(kernel.object, std::move(callable));
      out.push_back(CompiledKernel({owner, owner->second.get()}));
    }
    impl_->loaded.add(kernels);
    return out;
  } catch (const std::bad_alloc&) {
    return unsupported("load: out of memory");
  }
}

Expected<std::vector<CompiledKernel>> Runtime::load(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  STREW_ASSIGN(const std::string file, read_file(path, kMostBytes));
  auto kernels = load(std::as_bytes(std::span(file)));
  if (!kernels.ok()) return kernels.status().with_prefix(path);
  return kernels;
}

Status Runtime::register_library(const strew_library& library) {
  try {
    return impl_->loaded.add(library);
  } catch (const std::bad_alloc&) {
    return unsupported("library: out of memory");
  }
}

Runtime::Stats Runtime::stats() const {
  Stats stats = impl_->cache.stats();
  stats.built = impl_->kernels.count();
  impl_->disk.add_to(stats);
  return stats;
}
void Runtime::set_capacity(int64_t bytes) {
  impl_->cache.set_capacity(bytes);
  impl_->kernels.drop_unused();
}
void Runtime::clear() {
  impl_->cache.clear();
  impl_->kernels.clear();
}

}  // namespace strew::inline v0
