// Kernel libraries at run time (strew/library.h): a context chooses, at the first call of a kernel, its best variant for this CPU. Tested by
// tests/library.
#include "strew/library.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/cpus.h"
#include "base/machine.h"
#include "base/options.h"
#include "bindings/c/runtime/handles.h"
#include "bindings/c/runtime/library.h"
#include "runtime/call/library_program.h"
#include "runtime/call/packed_kernel.h"

struct strew_context {
  const strew_library* library;
  int threads;
  std::shared_ptr<strew::Executor> executor;            ///< null: strew's own
  strew::FeatureSet allowed;                            ///< CPU features that variants may need
  std::vector<std::atomic<strew_kernel_ref*>> kernels;  ///< null until the first call
  std::vector<std::atomic<std::byte*>> arenas;          ///< per program: the memory of a run that has ended; null: there is none

  explicit strew_context(const strew_library& from) : library(&from), kernels(from.kernel_count), arenas(from.program_count) {}
  strew_context(const strew_context&) = delete;
  strew_context& operator=(const strew_context&) = delete;
  ~strew_context() {
    for (const std::atomic<strew_kernel_ref*>& each : kernels) strew_kernel_release(each.load());
    for (const std::atomic<std::byte*>& each : arenas) std::free(each.load());
  }
};

namespace strew::inline v0::c_api {
namespace {

Status check_registry(const strew_library* library) {
  if (library != nullptr) return check_library(*library);
  return invalid_argument(
      "library: null, expected a registry; NAME_query() returns null if the library was made by another version of strew");
}

/// The CPU whose name `text` begins with; null if there is none.
const CpuInfo* cpu_at_the_beginning(std::string_view text) {
  const CpuInfo* found = nullptr;
  for (const CpuInfo& cpu : known_cpus()) {
    if (!text.starts_with(cpu.name)) continue;
    const std::string_view rest = text.substr(cpu.name.size());
    const bool ends = rest.empty() || rest[0] == '+' || rest[0] == '-';
    if (ends && (found == nullptr || found->name.size() < cpu.name.size())) found = &cpu;
  }
  return found;
}

/// The features of "CPU[+feature|-feature...]".
Expected<FeatureSet> features_of_text(std::string_view text) {
  constexpr std::string_view kNative = "native";
  const CpuInfo* const cpu = cpu_at_the_beginning(text);
  if (cpu == nullptr && !text.starts_with(kNative))
    return invalid_argument("cpu: '" + std::string(text) + "', expected native or the name of a CPU, such as x86-64-v2");
  const std::string_view arch = cpu == nullptr ? kMachineArch : cpu->arch;
  FeatureSet set = cpu == nullptr ? machine_features() : cpu->features;
  for (size_t at = cpu == nullptr ? kNative.size() : cpu->name.size(); at < text.size();) {
    const size_t next = std::min(text.find_first_of("+-", at + 1), text.size());
    const std::string_view name = text.substr(at + 1, next - at - 1);
    const FeatureInfo* const feature = find_feature(name, arch);
    if (feature == nullptr)
      return invalid_argument("cpu: feature '" + std::string(name) + "' of '" + std::string(text) + "' is unknown");
    if (text[at] == '+') set |= bit_of(feature) | feature->implies;
    for (const FeatureInfo& each : known_features())
      if (text[at] == '-' && (&each == feature || (each.implies & bit_of(feature)) != 0)) set &= ~bit_of(&each);
    at = next;
  }
  return set;
}

/// The last variant that the context may use: it needs the most of the CPU.
Expected<std::shared_ptr<const strew_kernel>> choose_variant(const strew_context& context, const LibraryKernel& kernel) {
  std::string needed = "?";
  for (uint32_t v = kernel.variant_count; v-- > 0;) {
    const PackedKernel& variant = variant_of(*context.library, kernel, v);
    needed = variant.text(offsetof(strew_kernel, features));
    if (lacking_features(needed, context.allowed).empty()) return unpack(variant);
  }
  return unsupported("kernel " + std::string(name_of(*context.library, kernel)) +
                     ": all its variants need more than this machine or option cpu has; the first one needs " + needed);
}

Expected<strew_kernel_ref*> open_kernel(strew_context& context, uint32_t number) {
  if (number >= context.library->kernel_count)
    return invalid_argument("kernel: number " + std::to_string(number) + ", expected less than " +
                            std::to_string(context.library->kernel_count));
  STREW_ASSIGN(std::shared_ptr<const strew_kernel> variant, choose_variant(context, kernel_of(*context.library, number)));
  std::shared_ptr<Executor> executor = context.executor != nullptr ? context.executor : process_executor();
  STREW_ASSIGN(strew_kernel_ref* const made, make_opened_kernel(std::move(variant), context.threads, std::move(executor)));
  // Without a lock, which a forked child could find locked for ever: the first thread wins.
  strew_kernel_ref* opened = nullptr;
  if (context.kernels[number].compare_exchange_strong(opened, made, std::memory_order_acq_rel)) return made;
  strew_kernel_release(made);
  return opened;
}

/// The kernel if an earlier call opened it, else null.
inline strew_kernel_ref* opened_kernel(const strew_context* context, uint32_t number) {
  if (context == nullptr || number >= context->kernels.size()) return nullptr;
  return context->kernels[number].load(std::memory_order_acquire);
}

/// The kernels of a context, for its programs.
class ContextKernels final : public LibraryKernels {
 public:
  explicit ContextKernels(const strew_context& context) : context_(context) {}
  Status run(uint32_t number, std::span<const TensorView> tensors, const CallOptions& options) override {
    STREW_ASSIGN(const strew_kernel_ref* const opened, kernel_in(&context_, number));
    return opened->callable->run(tensors, options);
  }

 private:
  const strew_context& context_;
};

/// The memory of one run.
class Arena {
 public:
  Arena(std::atomic<std::byte*>& kept, int64_t bytes) : kept_(kept), memory_(kept.exchange(nullptr, std::memory_order_acquire)) {
    constexpr size_t kAlignment = 64;
    const size_t padded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    if (memory_ == nullptr && padded > 0) memory_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, padded));
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { std::free(kept_.exchange(memory_, std::memory_order_acq_rel)); }
  std::byte* memory() const { return memory_; }

 private:
  std::atomic<std::byte*>& kept_;
  std::byte* memory_;
};

Status run_program(strew_context& context, uint32_t number, std::span<const TensorView> tensors, const CallOptions& options) {
  if (number >= context.library->program_count)
    return invalid_argument("program: number " + std::to_string(number) + ", expected less than " +
                            std::to_string(context.library->program_count));
  const LibraryProgram& program = program_of(*context.library, number);
  const char* const called = at_offset<char>(*context.library, program.name);
  if (const Status status = check_program_tensors(*context.library, program, tensors); !status.ok())
    return status.with_prefix(called);
  const Arena arena(context.arenas[number], program.arena_bytes);
  if (arena.memory() == nullptr && program.arena_bytes > 0)
    return resource_exhausted(std::string(called) + ": out of memory: a run needs " + std::to_string(program.arena_bytes) +
                              " bytes");
  ContextKernels kernels(context);
  return run_program_of(*context.library, program, tensors, arena.memory(), kernels, options);
}

}  // namespace

Expected<strew_kernel_ref*> kernel_in(const strew_context* context, uint32_t number) {
  if (strew_kernel_ref* const opened = opened_kernel(context, number)) return opened;
  STREW_TRY(check_not_null(context, "context"));
  return open_kernel(const_cast<strew_context&>(*context), number);  // what is opened late is no state that a caller sees
}

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_context_open(const strew_library* library, const strew_context_options* options, strew_context** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_registry(library));
    STREW_TRY(check_not_null(out, "out"));
    constexpr strew_context_options kDefaults = STREW_CONTEXT_OPTIONS_INIT;
    STREW_ASSIGN(const strew_context_options known, known_fields(options, kDefaults, "options"));
    STREW_TRY(check_threads(known.threads));
    const std::string cpu = known.cpu != nullptr ? known.cpu : process_options().target;
    STREW_ASSIGN(const FeatureSet wanted, features_of_text(cpu));
    auto context = std::make_unique<strew_context>(*library);
    context->threads = known.threads;
    if (known.executor != nullptr) context->executor = known.executor->executor;
    context->allowed = wanted & machine_features();
    *out = context.release();
    return {};
  });
}

void strew_context_free(strew_context* context) { delete context; }

strew_status strew_context_run(const strew_context* context, uint32_t kernel, const strew_tensor* tensors, size_t tensor_count,
                               const strew_call_options* options) {
  return guarded([&]() -> Status {
    const strew_kernel_ref* opened = opened_kernel(context, kernel);
    if (opened != nullptr && tensors != nullptr && options == nullptr)
      return opened->callable->run(as_views(tensors, tensor_count));
    STREW_ASSIGN(opened, kernel_in(context, kernel));
    STREW_TRY(check_tensors(tensors, tensor_count));
    return with_call_options(options,
                             [&](const CallOptions& how) { return opened->callable->run(as_views(tensors, tensor_count), how); });
  });
}

strew_status strew_context_run_program(const strew_context* context, uint32_t program, const strew_tensor* tensors,
                                       size_t tensor_count, const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(context, "context"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    return with_call_options(options, [&](const CallOptions& how) {
      return run_program(const_cast<strew_context&>(*context), program, as_views(tensors, tensor_count), how);
    });
  });
}

int strew_context_run_at(const strew_context* context, uint32_t kernel, void* const* data, const int64_t* numbers) {
  const strew_kernel_ref* const opened = opened_kernel(context, kernel);
  return opened != nullptr && opened->callable->run_addresses(data, numbers) ? 1 : 0;
}

strew_status strew_context_kernel(const strew_context* context, uint32_t kernel, strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(strew_kernel_ref* const opened, kernel_in(context, kernel));
    *out = strew_kernel_retain(opened);
    return {};
  });
}

const char* strew_library_name(const strew_library* library) {
  if (library == nullptr || !check_library(*library).ok()) return "";
  return reinterpret_cast<const char*>(library) + library->name;
}

uint32_t strew_library_find(const strew_library* library, const char* name) {
  if (library == nullptr || name == nullptr || !check_library(*library).ok()) return STREW_NO_KERNEL;
  for (uint32_t i = 0; i < library->kernel_count; ++i)
    if (std::string_view(name_of(*library, kernel_of(*library, i))) == name) return i;
  return STREW_NO_KERNEL;
}

uint32_t strew_library_find_program(const strew_library* library, const char* name) {
  if (library == nullptr || name == nullptr || !check_library(*library).ok()) return STREW_NO_PROGRAM;
  for (uint32_t i = 0; i < library->program_count; ++i)
    if (std::string_view(at_offset<char>(*library, program_of(*library, i).name)) == name) return i;
  return STREW_NO_PROGRAM;
}

strew_status strew_library_variant(const strew_library* library, uint32_t kernel, uint32_t variant, strew_variant* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_registry(library));
    if (kernel >= library->kernel_count)
      return invalid_argument("kernel: number " + std::to_string(kernel) + ", expected less than " +
                              std::to_string(library->kernel_count));
    const LibraryKernel& row = kernel_of(*library, kernel);
    if (variant >= row.variant_count)
      return invalid_argument("variant: number " + std::to_string(variant) + ", expected less than " +
                              std::to_string(row.variant_count));
    const PackedKernel& packed = variant_of(*library, row, variant);
    const auto text = [&](size_t field) { return packed.text(field); };
    const strew_variant all = {sizeof all,
                               row.variant_count,
                               name_of(*library, row),
                               text(offsetof(strew_kernel, name)),
                               text(offsetof(strew_kernel, identity)),
                               text(offsetof(strew_kernel, features)),
                               text(offsetof(strew_kernel, target)),
                               text(offsetof(strew_kernel, schedule)),
                               text(offsetof(strew_kernel, backend))};
    return give_struct(out, all, "out");
  });
}
