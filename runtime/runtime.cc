// Runtime: the cache (runtime/cache.h), and behind it the tiers, which answer requests that it does not. They are a list (kTiers). The thread
// that asks goes through it until a tier may take long; then a job takes the request over (runtime/build_job.h), and a compile thread goes on
// where the first thread stopped. What a request has found out, its plan above all, stays in it (runtime/build_job.h). The handle is then remembered
// for this request.
//
// Two kinds of requests do not wait for a build. One whose extents keep changing takes the kernel with open extents that was built for
// earlier ones (runtime/shape_families.h). One with CompileMode::background takes a portable kernel as a stand-in (runtime/kernel_state.h).
// Tested by tests/unit/runtime/runtime_test.cc, tiers_test.cc, cache_test.cc and tests/unit/backends/kernel_test.cc.
#include "strew/runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <optional>

#include "backends/pipeline.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/own_stack.h"
#include "runtime/build_job.h"
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
#include "schedules/target.h"
#include "strew/compile_mode.h"

namespace strew::inline v0 {

namespace {

int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

constexpr size_t kTiersWithoutPlan = 1;  ///< the first tiers, which need no plan
constexpr size_t kQuickTiers = 5;        ///< the first tiers, which a thread may ask that has other things to do than to wait
constexpr size_t kAllTiers = 7;

constexpr size_t kPlanningStack = size_t{256} << 10;  ///< planning recurses as deep as the op's expression

/// A constructor cannot fail, so options that are out of range are a warning.
Options good_or_defaults(const Options& options) {
  const Status status = check(options);
  if (status.ok()) return options;
  log_or_keep_warning(status.message() + "; the runtime takes the defaults");
  return {};
}

}  // namespace

struct Runtime::Impl {
  using Built = KernelCache::Built;
  /// Nothing: the next tier is asked. An empty handle: another job builds the kernel, and this one goes on when that has ended.
  using Answer = std::optional<Expected<Kernel>>;

  Impl(const ExecutionSettings& settings, const Options& options)
      : executor(settings.executor != nullptr ? settings.executor : process_executor()),
        limits(settings.limits != nullptr ? settings.limits : new_limits(options.learn)),
        threads(options.threads),
        compile(options.compile),
        learned_wisdom_file(options.learned_wisdom_file != "off" ? options.learned_wisdom_file : ""),
        families(options.exact_shapes),
        disk(disk_cache_settings(options)),
        cache([this](BuildJob& job) { return *ask_tiers(job.request, kAllTiers); },
              {.compile_threads = options.compile_threads > 0 ? options.compile_threads : std::clamp(machine().cores, 1, 4),
               .stack_bytes = static_cast<size_t>(options.compile_stack_bytes),
               .background_nice = options.compile_nice,
               .capacity = options.cache_bytes}) {
    // The process's target is what `native` means everywhere; only another one has to be named in requests.
    if (options.target != process_options().target)
      if (Expected<Target> named = parse_target(options.target, machine()); named.ok()) target = *named;
  }

  const std::shared_ptr<Executor> executor;
  const std::shared_ptr<const ExecutionLimits> limits;
  const int threads;                      ///< the most threads of a call whose request names no number; 0: all of the executor's
  const CompileMode compile;              ///< of requests that name none
  const std::string learned_wisdom_file;  ///< where kernels keep what their calls learn; empty: nowhere
  std::optional<Target> target;           ///< of requests that name none; absent: the machine of this process
  LoadedKernels loaded;
  ShapeFamilies families;
  std::atomic<uint64_t> built{0}, stand_ins{0}, generalised{0};
  std::atomic<bool> is_drained{false};  ///< requests build on the thread that asks
  DiskCache disk;
  KernelCache cache;  // the last member: its destructor waits for builds, which use the others

  /// For a request that the cache does not answer. It is not inline, so that a look-up that finds its kernel does not pay for this code.
  [[gnu::noinline]] Expected<Kernel> get(const Op& op, const KernelOptions& options, Deadline deadline) {
    STREW_ASSIGN(const PreparedOp prepared, PreparedOp::of(op, options));
    return get(prepared, deadline);
  }

  [[gnu::noinline]] Expected<Kernel> get(const PreparedOp& op, Deadline deadline) {
    Request request = this->request(op, deadline);
    const Answer answer = ask_here(request);
    if (!answer) return cache.get(std::move(request));
    if (!answer->ok()) {
      cache.note_refused(request.op, answer->status());
      return *answer;
    }
    const Kernel& kernel = **answer;
    const Kernel remembered = cache.add(request.op.key().hash, kernel);
    if (kernel.state()->is_stand_in && remembered.state() == kernel.state()) compile_for(std::move(request), kernel);
    return remembered;
  }

  Request request(const PreparedOp& op, Deadline deadline) const {
    const CompileMode wanted = op.options().compile.value_or(compile);
    return {op, wanted == CompileMode::background && is_drained ? CompileMode::blocking : wanted, deadline};
  }

 private:
  bool looks_on_disk(const Request& request) const { return !disk.is_off() && request.deadline == kNoDeadline; }
  bool must_hit(const Request& request) const { return request.mode == CompileMode::must_hit || disk.must_hit(); }
  int most_threads(const PreparedOp& op) const { return op.options().threads != 0 ? op.options().threads : threads; }

  KernelOptions options_of(const PreparedOp& op) const {
    KernelOptions options = op.options();
    if (!options.target) options.target = target;
    return options;
  }

  Expected<Kernel> handle(Built built, const PreparedOp& op, bool is_stand_in = false) const {
    STREW_ASSIGN(std::shared_ptr<Kernel::State> state, make_state(std::move(built), op, most_threads(op), executor, limits));
    state->is_stand_in = is_stand_in;
    Learner* const learner = is_stand_in ? nullptr : state->callable->learner.get();
    if (learner != nullptr && !learned_wisdom_file.empty()) learner->keep_with(lesson_keeper(*state, learned_wisdom_file));
    return Kernel(std::move(state));
  }

  // ---- Tiers ------------------------------------------------------------------------------------------------------------------------

  /// The answer of the first tier before `until` that has one. All tiers together always have one; if that is an empty handle, the request may be
  /// running elsewhere by then.
  Answer ask_tiers(Request& request, size_t until) {
    static constexpr std::array kTiers = {&Impl::general_in_memory, &Impl::loaded_kernel, &Impl::by_symbol, &Impl::on_disk,
                                          &Impl::stand_in,          &Impl::general,       &Impl::compiled};
    static_assert(kTiers.size() == kAllTiers);
    for (; request.tier < until; ++request.tier) {
      if (request.job != nullptr) STREW_TRY(request.job->go_on());
      if (Answer answer = (this->*kTiers[request.tier])(request)) return answer;
    }
    return std::nullopt;
  }

  /// The answer of the quick tiers, on the thread that asks. A kernel that has to be compiled anyway is planned by the job: of many threads that ask
  /// for it, one then does so. After the request's deadline nothing is begun.
  Answer ask_here(Request& request) {
    if (!CompileThreads::works_after_fork()) return std::nullopt;
    const CompileThreads::Here here(cache.threads());
    if (!here) return cancelled("kernel: the process ends, so nothing is planned or built any more");
    if (Answer answer = ask_tiers(request, kTiersWithoutPlan)) return answer;
    if (request.mode != CompileMode::background && !looks_on_disk(request)) return std::nullopt;
    if (std::chrono::steady_clock::now() >= request.deadline) return std::nullopt;
    Answer answer;
    STREW_TRY(with_stack(kPlanningStack, [&]() -> Status {
      answer = ask_tiers(request, kQuickTiers);
      return {};
    }));
    return answer;
  }

  /// Fills in request.plan, if it was not made before.
  Status plan(Request& request) const {
    if (request.plan) return {};
    if (const auto& wanted = request.op.options().target) STREW_TRY(machine_can_run(*wanted));
    STREW_ASSIGN(request.plan, plan_kernel(request.op.op(), options_of(request.op)));
    return {};
  }

  ShapeFamilies::General* family_of(Request& request) {
    if (!request.family) request.family = families.note(request.op);
    return request.family->get();
  }

  /// A handle on a kernel that the request shares with others that differ in extents.
  Expected<Kernel> handle_of_general(Built built, const PreparedOp& op) {
    if (logs(LogLevel::cache))
      log(LogLevel::cache, "shared: " + built->compiled.symbol + ", built for op " + built->compiled.op_text);
    generalised.fetch_add(1, std::memory_order_relaxed);
    return handle(std::move(built), op);
  }

  /// The kernel with open extents of the request's family. A loaded kernel comes before it, and only planning finds out whether there is one.
  Answer general_in_memory(Request& request) {
    const ShapeFamilies::General* const family = loaded.is_empty() ? family_of(request) : nullptr;
    Built built = family == nullptr ? nullptr : cache.find_built(family->op.key().hash);
    if (built == nullptr) return std::nullopt;
    return handle_of_general(std::move(built), request.op);
  }

  /// From an object or a library. This is the first tier that needs the plan.
  Answer loaded_kernel(Request& request) {
    STREW_TRY(plan(request));
    STREW_TRY(request.plan->scheduled);
    const LoadedKernels::Loaded found = loaded.find(request.op.options(), *request.plan);
    if (found.descriptor == nullptr) return request.plan->chosen.ok() ? Answer() : Answer(request.plan->chosen);
    Built built = find_symbol(found.descriptor->name);
    if (built == nullptr) {
      STREW_ASSIGN(built, LoadedKernels::adopt(found, *std::move(request.plan)));
      built = cache.share(hash_text(found.descriptor->name), std::move(built));
    }
    return handle(std::move(built), request.op);
  }

  /// A kernel that another request led to.
  Answer by_symbol(Request& request) {
    Built built = find_symbol(request.plan->symbol);
    return built == nullptr ? Answer() : Answer(handle(std::move(built), request.op));
  }

  Built find_symbol(const std::string& symbol) const {
    Built built = cache.find_built(hash_text(symbol));
    if (built != nullptr && logs(LogLevel::cache))
      log(LogLevel::cache, "hit: " + symbol + " was built for another spelling of the op or number of threads");
    return built;
  }

  /// On the thread that asks: a compile thread looks into the disk cache when it alone builds the kernel. So does a request with a deadline, because
  /// a thread cannot be told to stop while it waits for a file system that is slow, or hangs.
  Answer on_disk(Request& request) {
    Compiled& plan = *request.plan;
    if (request.job != nullptr || !looks_on_disk(request) || plan.backend->interprets() || plan.backend->is_precompiled())
      return std::nullopt;
    request.has_looked_on_disk = true;
    Expected<Built> found = from_disk(plan);
    if (found.ok() && *found != nullptr) return handle(cache.share(hash_text((*found)->compiled.symbol), *found), request.op);
    if (Built general = general_from_disk(request)) return handle_of_general(std::move(general), request.op);
    return found.ok() ? Answer() : Answer(found.status());
  }

  /// A portable kernel, which answers the thread that asks until compile_for() has built the other one.
  Answer stand_in(Request& request) {
    if (request.job != nullptr || request.mode != CompileMode::background) return std::nullopt;
    if (request.plan->backend->interprets() || request.plan->backend->is_precompiled()) return std::nullopt;
    const auto make = [&]() -> Expected<Kernel> {
      STREW_ASSIGN(Compiled made, with_backend(*request.plan, *find_backend(name(BackendChoice::portable))));
      STREW_TRY(strew::build(made));
      STREW_ASSIGN(Built built, link_kernel(std::move(made)));
      return handle(std::move(built), request.op, true);
    };
    const Expected<Kernel> kernel = make();
    return kernel.ok() ? Answer(kernel) : Answer();  // a job finds what is wrong, and tells
  }

  /// The kernel that the request shares with others that differ in extents. Where it cannot be built, these get kernels of their own.
  Answer general(Request& request) {
    ShapeFamilies::General* const family = request.mode == CompileMode::must_hit ? nullptr : family_of(request);
    if (family == nullptr || family->is_refused) return std::nullopt;
    const Hash128 name = family->op.key().hash;
    Built built = cache.find_built(name);
    if (built == nullptr) {
      Request of_all(family->op, request.mode);
      of_all.job = request.job;
      STREW_TRY(plan(of_all));
      Expected<Built> made = unsupported("");
      if (of_all.plan->scheduled.ok() && of_all.plan->chosen.ok() && !of_all.plan->backend->interprets())
        made = build_or_interpret(of_all);
      if (made.ok() && *made == nullptr) return Kernel();
      if (!made.ok()) {
        STREW_TRY(request.job->go_on());
        if (made.status().code() == Code::resource_exhausted) return made.status();
        family->is_refused = true;
        return std::nullopt;
      }
      built = *std::move(made);
      if (!request.job->lacked_memory) built = cache.share(name, std::move(built));
    }
    return handle_of_general(std::move(built), request.op);
  }

  Answer compiled(Request& request) {
    Expected<Built> made = build_or_interpret(request);
    if (!made.ok())
      if (Built general = general_from_disk(request)) return handle_of_general(std::move(general), request.op);
    STREW_ASSIGN(Built built, std::move(made));
    return built == nullptr ? Kernel() : handle(std::move(built), request.op);
  }

  // ---- What the tiers are made of ---------------------------------------------------------------------------------------------------

  /// The kernel from the disk cache; null if it is not there, or a failure in its mode must_hit, and then the plan is as it was.
  Expected<Built> from_disk(Compiled& planned) {
    const auto start = std::chrono::steady_clock::now();
    STREW_ASSIGN(const std::shared_ptr<BuiltKernel> kernel, find_kernel(disk, planned));
    if (kernel == nullptr) return Built();
    kernel->compile_nanoseconds = nanoseconds_since(start);
    kernel->is_loaded = true;
    if (logs(LogLevel::compile))
      log(LogLevel::compile, "taken " + kernel->compiled.symbol + " from " + disk.folder() + ": " +
                                 std::to_string(kernel->compile_nanoseconds / 1000) + " us; op " + kernel->compiled.op_text);
    return Built(kernel);
  }

  /// A kernel with open extents that serves the request, and that another process has left in the disk cache; null if there is none. Only requests that
  /// may not compile and whose own kernel is not there ask for it, because it takes a plan and a look into the folder for each op that may have been
  /// generalised (possible_generals).
  Built general_from_disk(const Request& request) {
    if (disk.is_off() || !must_hit(request)) return nullptr;
    for (const PreparedOp& general : possible_generals(request.op, families.exact())) {
      Expected<Compiled> planned = plan_kernel(general.op(), options_of(request.op));
      if (!planned.ok() || !planned->scheduled.ok() || !planned->chosen.ok() || planned->backend->interprets()) continue;
      if (Built built = find_symbol(planned->symbol)) return built;
      const Expected<Built> found = from_disk(*planned);
      if (found.ok() && *found != nullptr) return cache.share(hash_text((*found)->compiled.symbol), *found);
    }
    return nullptr;
  }

  /// The built kernel of the request's plan, which this job takes from the disk cache, unless it has looked there before, or for which it generates code;
  /// null: the job is parked, because another one does so.
  Expected<Built> build_once(Request& request) {
    Compiled& plan = *request.plan;
    const Hash128 name = hash_text(plan.symbol);
    const KernelCache::Claim claim = cache.claim(name, *request.job);
    if (!claim.is_mine) return claim.kernel;
    STREW_TRY(request.job->go_on());
    if (!std::exchange(request.has_looked_on_disk, true)) {
      STREW_ASSIGN(Built found, from_disk(plan));
      if (found != nullptr) return cache.share(name, std::move(found));
    }
    if (request.mode == CompileMode::must_hit && !plan.backend->is_precompiled() && !plan.backend->interprets())
      return unsupported(
          "kernel: it is neither in memory nor in a loaded library nor in the disk cache, and the compile mode is must_hit; "
          "expected a request that was made before; op " +
          print(*request.op.op()));
    const auto start = std::chrono::steady_clock::now();
    STREW_ASSIGN(const std::shared_ptr<BuiltKernel> kernel, build_kernel(disk, plan, [&] { return request.job->go_on(); }));
    kernel->compile_nanoseconds = nanoseconds_since(start);
    log_built(*kernel);
    built.fetch_add(1, std::memory_order_relaxed);
    return cache.share(name, kernel);
  }

  /// build_once(). Where no code can be generated or made executable, a request that names no backend gets a portable kernel.
  Expected<Built> build_or_interpret(Request& request) {
    const Backend* const portable = find_backend(name(BackendChoice::portable));
    const bool has_other = request.op.options().backend == BackendChoice::automatic && !must_hit(request) &&
                           request.plan->backend != portable && !request.plan->backend->interprets();
    Expected<Built> made = build_once(request);
    if (made.ok() || !has_other) return made;
    // What lacked memory is tried again by the next request. Until then a portable kernel is better than none, but a stand-in is there already.
    const bool lacked_memory = made.status().code() == Code::resource_exhausted;
    if (lacked_memory ? request.mode == CompileMode::background : made.status().code() != Code::unsupported) return made;
    Expected<Compiled> instead = with_backend(*std::move(request.plan), *portable);
    if (!instead.ok()) return made;
    if (logs(LogLevel::warn)) log(LogLevel::warn, instead->symbol + " is a portable kernel, because: " + made.status().message());
    request.plan = *std::move(instead);
    request.job->lacked_memory = lacked_memory;  // now: the job may be parked, and then belong to another thread
    Expected<Built> other = build_once(request);
    return lacked_memory && !other.ok() ? made : other;
  }

  /// Begins to build the kernel that takes the place of a stand-in. Where there is no memory for that, or drain() drops the build, the stand-in is
  /// forgotten, so that the next request tries again; its handles stay portable.
  void compile_for(Request request, const Kernel& stand_in) {
    stand_ins.fetch_add(1, std::memory_order_relaxed);
    const Hash128 key = request.op.key().hash;
    const auto done = [this, key, state = std::weak_ptr<const Kernel::State>(stand_in.state())](const Expected<Kernel>& answer) {
      const auto replaced = state.lock();
      if (replaced == nullptr) return;
      if (answer.ok()) return replaced->replace(answer->state());
      const Code code = answer.status().code();
      if (code == Code::resource_exhausted || (code == Code::cancelled && is_drained)) cache.forget(key, replaced.get());
      if (code != Code::cancelled && logs(LogLevel::warn))
        log(LogLevel::warn, replaced->built->compiled.symbol + " stays portable: " + answer.status().message());
    };
    try {
      cache.start(std::move(request), done);
    } catch (const std::bad_alloc&) {
      cache.forget(key, stand_in.state().get());
    }
  }
};

Runtime::Runtime(const Options& options, std::shared_ptr<Executor> executor)
    // The environment's values have been checked one by one, and a bad one has its default already.
    : Runtime(ExecutionSettings{std::move(executor), nullptr},
              &options == &process_options() ? options_of_process_runtimes() : good_or_defaults(options)) {}
Runtime::Runtime(const ExecutionSettings& settings) : Runtime(settings, options_of_process_runtimes()) {}
Runtime::Runtime(const ExecutionSettings& settings, const Options& options) : impl_(std::make_unique<Impl>(settings, options)) {}
Runtime::~Runtime() = default;

Runtime& Runtime::process() {
  // Never destroyed: kernels and their callers may outlive any order of static destructors.
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

// ---- Requests ---------------------------------------------------------------------------------------------------------------------

Expected<Kernel> Runtime::get(const Op& op, const KernelOptions& options, Deadline deadline) {
  try {
    if (Kernel kernel = impl_->cache.find(kernel_key(op, options).hash)) return kernel;
    return impl_->get(op, options, deadline);
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
  }
}

Expected<Kernel> Runtime::get(const PreparedOp& op, Deadline deadline) {
  try {
    if (Kernel kernel = impl_->cache.find(op.key().hash)) return kernel;
    return impl_->get(op, deadline);
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
  }
}

PendingKernel Runtime::get_async(const PreparedOp& op, PendingKernel::Callback done, Deadline deadline) {
  return impl_->cache.get_async(impl_->request(op, deadline), std::move(done));
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
  stats.built = impl_->built;
  stats.stand_ins = impl_->stand_ins;
  stats.generalised = impl_->generalised;
  impl_->disk.add_to(stats);
  if (const LearningCounts* const learned = impl_->limits->learning; learned != nullptr) {
    stats.learn_trials = learned->trials;
    stats.learn_changes = learned->changes;
    stats.learn_nanoseconds = static_cast<uint64_t>(learned->total_ns);
    stats.learn_regret_nanoseconds = static_cast<uint64_t>(learned->regret_ns);
  }
  return stats;
}
const Target& Runtime::target() const { return impl_->target ? *impl_->target : process_target(); }
void Runtime::set_capacity(int64_t bytes) { impl_->cache.set_capacity(bytes); }
void Runtime::clear() {
  impl_->cache.clear();
  impl_->families.clear();
}

}  // namespace strew::inline v0
