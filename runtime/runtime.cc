// Runtime: the cache (runtime/cache.h) in front of the pipeline (backends/pipeline.h). A request that does not find its
// kernel is planned, which yields the symbol. If a kernel with this symbol exists, built for another spelling of the op or
// another number of threads, it is shared (runtime/built_kernels.h); otherwise it is built. The handle is then remembered
// for this request.
//
// Two kinds of requests do not wait for a build. One whose extents keep changing takes the kernel with open extents that was built for
// earlier ones (runtime/shape_families.h). One with CompileMode::background takes a portable kernel as a stand-in (runtime/kernel_state.h).
// Tested by tests/unit/runtime/runtime_test.cc, tiers_test.cc, cache_test.cc and tests/unit/backends/kernel_test.cc.
#include "strew/runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "backends/pipeline.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/own_stack.h"
#include "runtime/build_job.h"
#include "runtime/build_log.h"
#include "runtime/built_kernels.h"
#include "runtime/cache.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/learner.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "runtime/disk_cache/disk_cache.h"
#include "runtime/kernel_state.h"
#include "runtime/learned_wisdom.h"
#include "runtime/loaded_kernels.h"
#include "runtime/shape_families.h"
#include "schedules/can_run.h"
#include "schedules/target.h"
#include "strew/compile_mode.h"
#include "strew/executor.h"
#include "strew/options.h"
#include "strew/pending_kernel.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {

struct Runtime::Impl {
  Impl(const KernelCache::Settings& settings, int exact_shapes, DiskCache::Settings on_disk)
      : families(exact_shapes), disk(std::move(on_disk)), cache([this](BuildJob& job) { return make(job); }, settings) {}

  std::shared_ptr<Executor> executor;
  std::shared_ptr<const ExecutionLimits> limits;
  int threads = 0;               ///< the most threads of a call whose request names no number; 0: all of the executor's
  std::optional<Target> target;  ///< of requests that name none; absent: the machine of this process
  CompileMode compile = CompileMode::blocking;  ///< of requests that name none
  std::string learned_wisdom_file;              ///< where kernels keep what their calls learn; empty: nowhere
  BuiltKernels kernels;
  LoadedKernels loaded;
  ShapeFamilies families;
  std::atomic<uint64_t> stand_ins{0}, generalised{0};
  std::atomic<bool> is_drained{false};  ///< requests build on the thread that asks
  DiskCache disk;
  KernelCache cache;  // the last member: its destructor waits for builds, which use the others

  Expected<Kernel> get(const PreparedOp& op, Deadline deadline);
  /// get() for a request that did not find its kernel. It is not inline, so that a look-up that does find it does not pay
  /// for this code.
  [[gnu::noinline]] Expected<Kernel> get(const Op& op, const KernelOptions& options, Deadline deadline);

 private:
  using Built = BuiltKernels::Built;

  CompileMode mode(const PreparedOp& op) const {
    const CompileMode wanted = op.options().compile.value_or(compile);
    return wanted == CompileMode::background && is_drained ? CompileMode::blocking : wanted;
  }
  KernelOptions options_of(const PreparedOp& op) const;
  Expected<Kernel> handle(Built built, const PreparedOp& op) const;
  Expected<Kernel> at_once(const PreparedOp& op, Deadline deadline, bool& was_looked_for);
  Expected<Kernel> find_or_make(const PreparedOp& op, Deadline deadline, bool& was_looked_for);
  Expected<Kernel> stand_in(const PreparedOp& op, Compiled planned) const;
  void compile_for(const PreparedOp& op, const Kernel& stand_in, bool was_looked_for);
  Expected<Built> from_disk(Compiled& planned, IfMissing if_missing = IfMissing::as_mode_says);
  bool must_hit(const PreparedOp& op) const { return mode(op) == CompileMode::must_hit || disk.must_hit(); }
  Built general_from_disk(const PreparedOp& op);
  Expected<Kernel> make(BuildJob& job);
  Expected<Kernel> make_of_family(ShapeFamilies::General& family, BuildJob& job);
  Expected<Built> compiled(Compiled planned, BuildJob& job, bool was_looked_for);
  Expected<Built> build(Compiled planned, BuildJob& job, bool was_looked_for);
};

namespace {

int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

constexpr size_t kPlanningStack = size_t{256} << 10;  ///< planning recurses as deep as the op's expression

KernelCache::Settings cache_settings(const Options& options) {
  KernelCache::Settings settings;
  settings.compile_threads = options.compile_threads > 0 ? options.compile_threads : std::clamp(machine().cores, 1, 4);
  settings.stack_bytes = static_cast<size_t>(options.compile_stack_bytes);
  settings.background_nice = options.compile_nice;
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
    : impl_(std::make_unique<Impl>(cache_settings(options), options.exact_shapes, disk_cache_settings(options))) {
  impl_->executor = settings.executor;
  if (impl_->executor == nullptr) impl_->executor = process_executor();
  impl_->limits = settings.limits != nullptr ? settings.limits : new_limits(options.learn);
  impl_->threads = options.threads;
  impl_->compile = options.compile;
  if (options.learned_wisdom_file != "off") impl_->learned_wisdom_file = options.learned_wisdom_file;
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

KernelOptions Runtime::Impl::options_of(const PreparedOp& op) const {
  KernelOptions options = op.options();
  if (!options.target) options.target = target;
  return options;
}

Expected<Kernel> Runtime::Impl::handle(Built built, const PreparedOp& op) const {
  const int most = op.options().threads != 0 ? op.options().threads : threads;
  STREW_ASSIGN(std::shared_ptr<Kernel::State> state, make_state(std::move(built), op, most, executor, limits));
  Learner* const learner = state->callable->learner.get();
  if (learner != nullptr && !learned_wisdom_file.empty()) learner->keep_with(lesson_keeper(*state, learned_wisdom_file));
  return Kernel(std::move(state));
}

// ---- Without a build --------------------------------------------------------------------------------------------------------------

/// The answer to a request without a kernel, if nothing has to be compiled for it; else an empty handle. It fails only if the disk cache
/// does: what else is wrong with the request, the job finds and tells.
Expected<Kernel> Runtime::Impl::at_once(const PreparedOp& op, Deadline deadline, bool& was_looked_for) {
  if (!CompileThreads::works_after_fork()) return Kernel();
  Kernel kernel;
  {
    const CompileThreads::Here here(cache.threads());
    if (!here) return cancelled("kernel: the process ends, so nothing is planned or built any more");
    STREW_ASSIGN(kernel, find_or_make(op, deadline, was_looked_for));
  }
  if (!kernel) return kernel;
  const Kernel remembered = cache.add(op.key().hash, kernel);
  if (kernel.state()->is_stand_in && remembered.state() == kernel.state()) compile_for(op, kernel, was_looked_for);
  return remembered;
}

/// A kernel of the request's family; or one that was built for another spelling of the op, or by another process; or, with
/// CompileMode::background, a stand-in. An empty handle if there is none. With a deadline, only what takes a bounded time is done here, on
/// the caller's thread, which cannot be told to stop: the job looks into the folder of the disk cache, which may lie on a slow or hung
/// file system, while the caller waits no longer than it wants to.
Expected<Kernel> Runtime::Impl::find_or_make(const PreparedOp& op, Deadline deadline, bool& was_looked_for) {
  const auto unless_failed = [](Expected<Kernel> kernel) { return kernel.ok() ? *std::move(kernel) : Kernel(); };
  // A loaded kernel comes before one that others share, and only planning finds out whether there is one.
  const auto family = loaded.is_empty() ? families.note(op) : nullptr;
  if (Built built = family == nullptr ? nullptr : family->built()) {
    generalised.fetch_add(1, std::memory_order_relaxed);
    return unless_failed(handle(std::move(built), op));
  }
  const bool reads_disk = !disk.is_off() && deadline == kNoDeadline;
  if (mode(op) != CompileMode::background && !reads_disk) return Kernel();
  if (std::chrono::steady_clock::now() >= deadline) return Kernel();  // the job says that it is too late
  return with_stack<Kernel>(kPlanningStack, [&]() -> Expected<Kernel> {
    if (op.options().target && !machine_can_run(*op.options().target).ok()) return Kernel();
    Expected<Compiled> planned = plan_kernel(op.op(), options_of(op));
    if (!planned.ok() || !planned->scheduled.ok() || !planned->chosen.ok()) return Kernel();
    if (planned->backend->interprets() || planned->backend->is_precompiled()) return Kernel();
    if (loaded.find(op.options(), *planned).descriptor != nullptr) return Kernel();
    Expected<Built> taken = kernels.take(planned->symbol, [&]() -> Expected<Built> {
      if (!reads_disk) return Built();
      was_looked_for = true;
      return from_disk(*planned);
    });
    if ((!taken.ok() || *taken == nullptr) && reads_disk && must_hit(op))
      if (Built general = general_from_disk(op)) taken = std::move(general);
    STREW_ASSIGN(Built built, std::move(taken));
    if (built != nullptr) return unless_failed(handle(std::move(built), op));
    return mode(op) == CompileMode::background ? unless_failed(stand_in(op, *std::move(planned))) : Kernel();
  });
}

/// A portable kernel, which answers until compile_for() has built the other one.
Expected<Kernel> Runtime::Impl::stand_in(const PreparedOp& op, Compiled planned) const {
  const Backend* const portable = find_backend(name(BackendChoice::portable));
  STREW_ASSIGN(Compiled made, with_backend(std::move(planned), *portable));
  STREW_TRY(strew::build(made));
  STREW_ASSIGN(Built built, link_kernel(std::move(made)));
  const int most = op.options().threads != 0 ? op.options().threads : threads;
  STREW_ASSIGN(std::shared_ptr<Kernel::State> state, make_stand_in(std::move(built), op, most, executor, limits));
  return Kernel(std::move(state));
}

/// Begins to build the kernel that takes the place of a stand-in. Where there is no memory for that, or drain() drops the build, the stand-in is
/// forgotten, so that the next request tries again; its handles stay portable.
void Runtime::Impl::compile_for(const PreparedOp& op, const Kernel& stand_in, bool was_looked_for) {
  stand_ins.fetch_add(1, std::memory_order_relaxed);
  const auto done = [this, key = op.key().hash,
                     state = std::weak_ptr<const Kernel::State>(stand_in.state())](const Expected<Kernel>& answer) {
    const auto replaced = state.lock();
    if (replaced == nullptr) return;
    if (answer.ok()) return replaced->replace(answer->state());
    const Code code = answer.status().code();
    if (code == Code::resource_exhausted || (code == Code::cancelled && is_drained)) cache.forget(key, replaced.get());
    if (code != Code::cancelled && logs(LogLevel::warn))
      log(LogLevel::warn, replaced->built->compiled.symbol + " stays portable: " + answer.status().message());
  };
  try {
    cache.start(op, done, was_looked_for);
  } catch (const std::bad_alloc&) {
    cache.forget(op.key().hash, stand_in.state().get());
  }
}

// ---- On a compile thread ----------------------------------------------------------------------------------------------------------

/// The kernel from the disk cache; null if it is not there, and then the plan is as it was.
Expected<BuiltKernels::Built> Runtime::Impl::from_disk(Compiled& planned, IfMissing if_missing) {
  const auto start = std::chrono::steady_clock::now();
  STREW_ASSIGN(const std::shared_ptr<BuiltKernel> kernel, find_kernel(disk, planned, if_missing));
  if (kernel == nullptr) return Built();
  kernel->compile_nanoseconds = nanoseconds_since(start);
  kernel->is_loaded = true;
  log_taken(*kernel, disk.folder());
  return Built(kernel);
}

/// A kernel with open extents that serves the request, and that another process has left in the disk cache; null if there is none. Only requests that
/// may not compile and whose own kernel is not there ask for it, because it takes a plan and a look into the folder for each op that may have been
/// generalised (possible_generals).
BuiltKernels::Built Runtime::Impl::general_from_disk(const PreparedOp& op) {
  if (disk.is_off()) return nullptr;
  for (const PreparedOp& general : possible_generals(op, families.exact())) {
    Expected<Compiled> planned = plan_kernel(general.op(), options_of(op));
    if (!planned.ok() || !planned->scheduled.ok() || !planned->chosen.ok() || planned->backend->interprets()) continue;
    const Expected<Built> built = kernels.take(planned->symbol, [&] { return from_disk(*planned, IfMissing::null); });
    if (!built.ok() || *built == nullptr) continue;
    generalised.fetch_add(1, std::memory_order_relaxed);
    return *built;
  }
  return nullptr;
}

/// Takes the kernel from the disk cache, unless the request has looked there before, or generates its code; and links it.
Expected<BuiltKernels::Built> Runtime::Impl::build(Compiled planned, BuildJob& job, bool was_looked_for) {
  STREW_TRY(job.go_on());
  if (!was_looked_for) {
    STREW_ASSIGN(Built found, from_disk(planned));
    if (found != nullptr) return found;
  }
  if (mode(job.op) == CompileMode::must_hit && !planned.backend->is_precompiled() && !planned.backend->interprets())
    return unsupported(
        "kernel: it is neither in memory nor in a loaded library nor in the disk cache, and the compile mode is must_hit; "
        "expected a request that was made before; op " +
        print(*job.op.op()));
  const auto start = std::chrono::steady_clock::now();
  STREW_ASSIGN(const std::shared_ptr<BuiltKernel> kernel, build_kernel(disk, std::move(planned), [&] { return job.go_on(); }));
  kernel->compile_nanoseconds = nanoseconds_since(start);
  log_built(*kernel);
  return Built(kernel);
}

/// The built kernel of the symbol. Where no code can be generated or made executable, a request that names no backend gets a portable kernel.
Expected<BuiltKernels::Built> Runtime::Impl::compiled(Compiled planned, BuildJob& job, bool was_looked_for) {
  const auto get_built = [&](Compiled& each) {
    const std::string symbol = each.symbol;
    return kernels.get(symbol, [&] { return build(std::move(each), job, was_looked_for); });
  };
  const Backend* const portable = find_backend(name(BackendChoice::portable));
  const bool has_other = job.op.options().backend == BackendChoice::automatic && mode(job.op) != CompileMode::must_hit &&
                         !disk.must_hit() && planned.backend != portable && !planned.backend->interprets();
  const VerifiedOp op = planned.op;
  Expected<Built> built = get_built(planned);
  if (built.ok() || !has_other) return built;
  // What lacked memory is tried again by the next request. Until then a portable kernel is better than none, but a stand-in is there already.
  const bool lacked_memory = built.status().code() == Code::resource_exhausted;
  if (lacked_memory ? mode(job.op) == CompileMode::background : built.status().code() != Code::unsupported) return built;
  STREW_ASSIGN(Compiled again, plan_kernel(op, options_of(job.op)));
  Expected<Compiled> instead = with_backend(std::move(again), *portable);
  if (!instead.ok()) return built;
  if (logs(LogLevel::warn)) log(LogLevel::warn, instead->symbol + " is a portable kernel, because: " + built.status().message());
  Expected<Built> other = get_built(*instead);
  if (!other.ok()) return lacked_memory ? built : other;
  job.lacked_memory = lacked_memory;
  return other;
}

/// The kernel that the request shares with others that differ in extents; an empty handle if that cannot be built.
Expected<Kernel> Runtime::Impl::make_of_family(ShapeFamilies::General& family, BuildJob& job) {
  Built built = family.built();
  if (built == nullptr) {
    STREW_ASSIGN(Compiled planned, plan_kernel(family.op.op(), options_of(job.op)));
    Expected<Built> made = unsupported("");
    if (planned.scheduled.ok() && planned.chosen.ok() && !planned.backend->interprets())
      made = compiled(std::move(planned), job, false);
    if (!made.ok()) {
      STREW_TRY(job.go_on());
      if (made.status().code() == Code::resource_exhausted) return made.status();
      family.refuse();
      return Kernel();
    }
    built = *std::move(made);
    if (!job.lacked_memory) family.set_built(built);
  }
  if (logs(LogLevel::cache))
    log(LogLevel::cache, "shared: " + built->compiled.symbol + ", built for op " + built->compiled.op_text);
  generalised.fetch_add(1, std::memory_order_relaxed);
  return handle(std::move(built), job.op);
}

/// A handle for a new request; its kernel may have been built for another request.
Expected<Kernel> Runtime::Impl::make(BuildJob& job) {
  const PreparedOp& op = job.op;
  if (const auto& wanted = op.options().target) STREW_TRY(machine_can_run(*wanted));
  STREW_ASSIGN(Compiled planned, plan_kernel(op.op(), options_of(op)));
  STREW_TRY(planned.scheduled);
  if (const LoadedKernels::Loaded found = loaded.find(op.options(), planned); found.descriptor != nullptr) {
    STREW_ASSIGN(Built built,
                 kernels.get(found.descriptor->name, [&] { return LoadedKernels::adopt(found, std::move(planned)); }));
    return handle(std::move(built), op);
  }
  STREW_TRY(planned.chosen);
  if (Built built = kernels.find(planned.symbol)) return handle(std::move(built), op);
  if (const auto family = mode(op) == CompileMode::must_hit ? nullptr : families.note(op)) {
    STREW_ASSIGN(Kernel kernel, make_of_family(*family, job));
    if (kernel) return kernel;
  }
  Expected<Built> made = compiled(std::move(planned), job, job.was_looked_for);
  if (!made.ok() && must_hit(op))
    if (Built general = general_from_disk(op)) made = std::move(general);
  STREW_ASSIGN(Built built, std::move(made));
  return handle(std::move(built), op);
}

// ---- Requests ---------------------------------------------------------------------------------------------------------------------

Expected<Kernel> Runtime::Impl::get(const PreparedOp& op, Deadline deadline) {
  if (Kernel kernel = cache.find(op.key().hash)) return kernel;
  bool was_looked_for = false;
  STREW_ASSIGN(Kernel kernel, at_once(op, deadline, was_looked_for));
  return kernel ? Expected<Kernel>(std::move(kernel)) : cache.get(op, deadline, was_looked_for);
}

Expected<Kernel> Runtime::Impl::get(const Op& op, const KernelOptions& options, Deadline deadline) {
  try {
    STREW_ASSIGN(const PreparedOp prepared, PreparedOp::of(op, options));
    return get(prepared, deadline);
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
  }
}

Expected<Kernel> Runtime::get(const Op& op, const KernelOptions& options, Deadline deadline) {
  try {
    if (Kernel kernel = impl_->cache.find(kernel_key(op, options).hash)) return kernel;
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
  }
  return impl_->get(op, options, deadline);
}

Expected<Kernel> Runtime::get(const PreparedOp& op, Deadline deadline) {
  try {
    return impl_->get(op, deadline);
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
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
    return resource_exhausted("load: out of memory");
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
    return resource_exhausted("library: out of memory");
  }
}

Status Runtime::drain(Deadline until) {
  impl_->is_drained = true;
  if (impl_->cache.drain(until)) return {};
  return deadline_exceeded("drain: builds still run, and their threads with them; drain() may be called again");
}

Runtime::Stats Runtime::stats() const {
  Stats stats = impl_->cache.stats();
  stats.built = impl_->kernels.count();
  stats.stand_ins = impl_->stand_ins.load(std::memory_order_relaxed);
  stats.generalised = impl_->generalised.load(std::memory_order_relaxed);
  impl_->disk.add_to(stats);
  if (const LearningCounts* const learned = impl_->limits->learning; learned != nullptr) {
    stats.learn_trials = learned->trials.load(std::memory_order_relaxed);
    stats.learn_changes = learned->changes.load(std::memory_order_relaxed);
    stats.learn_nanoseconds = static_cast<uint64_t>(learned->total_ns.load(std::memory_order_relaxed));
    stats.learn_regret_nanoseconds = static_cast<uint64_t>(learned->regret_ns.load(std::memory_order_relaxed));
  }
  return stats;
}
void Runtime::set_capacity(int64_t bytes) {
  impl_->cache.set_capacity(bytes);
  impl_->kernels.drop_unused();
}
void Runtime::clear() {
  impl_->cache.clear();
  impl_->kernels.clear();
  impl_->families.clear();
}

}  // namespace strew::inline v0
