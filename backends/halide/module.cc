// The exported function of libstrew_halide, strew_halide_module(), and the builds behind it: a request becomes a Halide pipeline, the pipeline
// LLVM bitcode.
//
// Halide's exceptions become a Status here. Its warnings are errors, too: they announce code that would run wrongly, because its checks are off.
// Halide recurses over expressions, also when they are made and destroyed, so everything runs on a stack that is large enough
// (base/own_stack.h); Halide's own switch to another stack is off, because sanitizers do not follow it.
//
// The generated code uses 64-bit addresses and strict floats, and no Halide runtime. It has no asserts, because the entries guarantee what those
// would check. Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#include "base/module.h"

#include <Halide.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <sstream>

#include "backends/halide/pipeline.h"
#include "backends/halide/proposals.h"
#include "backends/halide/schedule.h"
#include "backends/modules.h"
#include "base/cpus.h"
#include "base/own_stack.h"
#include "schedules/target.h"
#include "strew/export.h"

namespace strew::inline v0 {
namespace {

class Reporter : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char* text) override {
    // strew uses float16 for conversions only, and only on targets with F16C, which has instructions for them. So
    // this warning does not apply.
    if (std::string_view(text).find("float16 type operation is emulated") != std::string_view::npos) return;
    throw Halide::CompileError(std::string("warning: ") + text);
  }
  void error(const char* text) override { throw Halide::CompileError(text); }
};

/// Runs `function` on a stack that is large enough for the request. Exceptions become a Status.
template <class T>
Expected<T> guarded(const BuildRequest& request, const std::function<Expected<T>()>& function) {
  const auto failed = [&](const std::string& what) { return internal_error("backend halide: " + request.symbol + ": " + what); };
  return with_stack<T>(compiler_stack_bytes(node_count(request.plan)), [&]() -> Expected<T> {
    try {
      return function();
    } catch (const Halide::Error& error) {
      return failed(error.what());
    } catch (const std::exception& error) {
      return failed(error.what());
    }
  });
}

Halide::Target halide_target(const Target& target) {
  using T = Halide::Target;
  const T::Arch arch = target.arch == "aarch64" ? T::ARM : T::X86;
  T out(T::Linux, arch, 64, {T::NoRuntime, T::NoAsserts, T::NoBoundsQuery, T::LargeBuffers, T::StrictFloat});
  const FeatureSet has = features_of(target);
  const auto all = [&](std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](std::string_view name) { return (has & feature_bit(name)) != 0; });
  };
  if (all({"sse4.1"})) out.set_feature(T::SSE41);
  if (all({"avx"})) out.set_feature(T::AVX);
  if (all({"f16c"})) out.set_feature(T::F16C);
  if (all({"avx2"})) out.set_feature(T::AVX2);
  if (target.vector_bytes == 64 && all({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}))
    out.set_features({T::AVX512, T::AVX512_Skylake});
  return out;
}

Halide::Module lower(HalidePipeline& pipeline, const BuildRequest& request) {
  return Halide::Pipeline(pipeline.apply)
      .compile_to_module(pipeline.arguments, request.symbol + "_apply", halide_target(request.target),
                         Halide::LinkageType::External);
}

/// Halide writes bitcode only to files, so this passes it a file in memory.
Expected<std::string> bitcode_of(const Halide::Module& module) {
  const int file = memfd_create("strew_halide", MFD_CLOEXEC);
  if (file < 0) return internal_error("backend halide: a file in memory: " + std::string(std::strerror(errno)));
  const std::shared_ptr<void> closed(nullptr, [file](void*) { close(file); });
  module.compile({{Halide::OutputFileType::bitcode, "/proc/self/fd/" + std::to_string(file)}});
  std::string bitcode;
  char part[16384];
  for (ssize_t got = 0; (got = pread(file, part, sizeof part, static_cast<off_t>(bitcode.size()))) > 0;)
    bitcode.append(part, static_cast<size_t>(got));
  return bitcode;
}

Expected<std::string> build(const BuildRequest& request, const BodySignature& signature) {
  return guarded<std::string>(request, [&]() -> Expected<std::string> {
    HalidePipeline pipeline = make_pipeline(request, signature);
    apply_schedule(pipeline, request, signature);
    return bitcode_of(lower(pipeline, request));
  });
}

Expected<std::string> emit_text(const BuildRequest& request, const BodySignature& signature) {
  return guarded<std::string>(request, [&]() -> Expected<std::string> {
    HalidePipeline pipeline = make_pipeline(request, signature);
    std::ostringstream text;
    text << "// Algorithm\n" << print_algorithm(pipeline, request.plan, signature.listed) << "\n// Schedule\n";
    const std::string directives = apply_schedule(pipeline, request, signature);
    text << (directives.empty() ? "(as written)\n" : directives) << "\n// Halide's loop nest\n" << lower(pipeline, request);
    return plain_names(text.str());
  });
}

Expected<std::vector<Schedule>> propose(const BuildRequest& request, const BodySignature& signature) {
  return guarded<std::vector<Schedule>>(request, [&]() -> Expected<std::vector<Schedule>> {
    return proposed_schedules(request, signature, halide_target(request.target));
  });
}

}  // namespace
}  // namespace strew::inline v0

extern "C" STREW_API const strew::HalideModule* strew_halide_module() {
  static const strew::HalideModule module = [] {
    static strew::Reporter& reporter = *new strew::Reporter;  // never destroyed: builds may run until the process ends
    Halide::set_custom_compile_time_error_reporter(&reporter);
    Halide::set_compiler_stack_size(0);
    return strew::HalideModule{strew::kModuleVersion, strew::build, strew::emit_text, strew::propose};
  }();
  return &module;
}
