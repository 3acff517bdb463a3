// Runtime: the cache in front of the pipeline (backends/pipeline.h). get() first looks up the hash of the op's fields,
// then the hash of its text. Only a new request is planned, which yields the symbol. If a kernel with this symbol
// exists, built for another spelling of the op or another number of threads, it is shared; otherwise it is built. The
// handle is then remembered for this request. Tested by tests/unit/cache_test.cc and kernel_test.cc.
#include "strew/runtime.h"

#include <chrono>
#include <new>

#include "backends/pipeline.h"
#include "base/log.h"
#include "base/options.h"
#include "runtime/cache.h"
#include "runtime/call/executor/executor.h"
#include "runtime/kernel_state.h"
#include "runtime/op_key.h"
#include "schedules/can_run.h"
#include "strew/executor.h"

namespace strew::inline v0 {

struct Runtime::Impl {
  KernelCache cache;
  BuiltKernels kernels;
  std::shared_ptr<Executor> executor;
  std::shared_ptr<const ExecutionLimits> limits;

  /// get() if the quick key finds nothing. It is not inline, so that a look-up that finds its kernel does not pay for this code.
  [[gnu::noinline]] Expected<Kernel> get(const Op& op, const KernelOptions& options, Hash128 quick);
  /// A handle for a new request; its kernel may have been built for another request.
  Expected<Kernel> make(const Op& op, const KernelOptions& options);
  static Expected<BuiltKernels::Built> build(Compiled planned);
};

Runtime::Runtime(std::shared_ptr<Executor> executor) : Runtime(ExecutionSettings{std::move(executor), nullptr}) {}
Runtime::Runtime(const ExecutionSettings& settings) : impl_(std::make_unique<Impl>()) {
  impl_->executor = settings.executor;
  if (impl_->executor == nullptr) impl_->executor = process_executor();
  impl_->limits = settings.limits != nullptr ? settings.limits : default_limits();
}
Runtime::~Runtime() = default;

Runtime& Runtime::process() {
  // Never destroyed: kernels and their callers may outlive any order of static destructors.
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Expected<BuiltKernels::Built> Runtime::Impl::build(Compiled planned) {
  const auto start = std::chrono::steady_clock::now();
  STREW_TRY(strew::build(planned));
  STREW_ASSIGN(const std::shared_ptr<BuiltKernel> kernel, link_kernel(std::move(planned)));
  kernel->compile_nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  if (logs(LogLevel::compile)) {
    for (const std::string& warning : take_option_warnings()) log(LogLevel::compile, warning);
    log(LogLevel::compile, "built " + kernel->compiled.symbol + ": backend " + std::string(kernel->compiled.backend->name()) +
                               ", schedule " + print(kernel->compiled.schedule) + ", " +
                               std::to_string(kernel->compile_nanoseconds / 1000) + " us; op " + kernel->compiled.op_text);
  }
  return BuiltKernels::Built(kernel);
}

Expected<Kernel> Runtime::Impl::make(const Op& op, const KernelOptions& options) {
  STREW_ASSIGN(const Target target, parse_target(options.target));
  STREW_TRY(machine_can_run(target));
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled planned, plan_kernel(verified, options));
  STREW_TRY(planned.scheduled);
  STREW_TRY(planned.chosen);
  const std::string symbol = planned.symbol;
  const int threads = planned.threads;
  STREW_ASSIGN(BuiltKernels::Built built, kernels.get(symbol, [&] { return build(std::move(planned)); }));
  STREW_ASSIGN(std::shared_ptr<Kernel::State> state, make_state(std::move(built), verified, threads, executor, limits));
  return Kernel(std::move(state));
}

Expected<Kernel> Runtime::Impl::get(const Op& op, const KernelOptions& options, Hash128 quick) {
  try {
    auto kernel = cache.get(kernel_key(op, options).hash, [&] { return make(op, options); });
    if (kernel.ok()) cache.remember_quick(quick, *kernel);
    return kernel;
  } catch (const std::bad_alloc&) {
    return unsupported("build: out of memory");
  }
}

Expected<Kernel> Runtime::get(const Op& op, const KernelOptions& options) {
  const Hash128 quick = quick_key(op, options);
  if (Kernel kernel = impl_->cache.find_quick(quick)) return kernel;
  return impl_->get(op, options, quick);
}

Kernel Runtime::find(const KernelKey& key) const { return impl_->cache.find(key.hash); }
Runtime::Stats Runtime::stats() const {
  Stats stats = impl_->cache.stats();
  stats.built = impl_->kernels.count();
  return stats;
}
void Runtime::clear() {
  impl_->cache.clear();
  impl_->kernels.clear();
}

}  // namespace strew::inline v0
