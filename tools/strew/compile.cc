// strew compile: writes one kernel as text (op, plan, lowered, ll, asm, halide) or as a relocatable object. The output is
// written to a temporary file that is then renamed. tools/strew/npu.cc writes NPU programs. Tested by
// tests/error/cli_test.cc.
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "backends/pipeline.h"
#include "base/pending_file.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "strew/abi.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/npu.h"
#include "tools/strew/options.h"
#include "tools/strew/select.h"
#include "tools/strew/stages.h"

namespace strew::cli {
namespace {

constexpr std::string_view kKinds[] = {"ll", "asm", "obj", "halide"};

/// The fields of --json about an object: the ABI version, and the symbol of the descriptor that it exports
/// (strew/abi.h).
std::string describe_object(const Compiled& kernel) {
  return ", \"abi\": " + std::to_string(STREW_ABI_VERSION) + ", \"kernel\": \"" + kernel.symbol + "\"";
}

Expected<std::string> emit_object(Compiled& kernel, std::string& description) {
  const std::string backend(kernel.backend->name());
  if (kernel.backend->interprets())
    return unsupported("--emit obj: backend " + backend + " interprets the op and has no object code");
  if (kernel.backend->is_precompiled()) return unsupported("--emit obj: backend " + backend + " generates no code");
  DiskCache cache(disk_cache_settings(options_of_process_runtimes()));
  STREW_TRY(build_object(cache, kernel));
  description = describe_object(kernel);
  return std::move(kernel.artifact.object);
}

/// The text or object of the kernel. `description`: receives further fields for --json.
Expected<std::string> emit(const Options& options, const ProgramKernel& imported, std::string& description) {
  KernelOptions wanted = options.kernel;
  if (options.emit == "halide" && wanted.backend == BackendChoice::automatic) wanted.backend = BackendChoice::halide;
  STREW_ASSIGN(Compiled kernel, plan_kernel(imported.op, wanted));
  if (is_stage(options.emit)) return stage_text(kernel, options.emit);
  STREW_TRY(kernel.scheduled);
  STREW_TRY(kernel.chosen);
  return options.emit == "obj" ? emit_object(kernel, description) : kernel.backend->emit_text(kernel.request(), options.emit);
}

bool known_kind(const std::string& kind) {
  return is_stage(kind) || std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace

int compile(const Options& options) {
  const bool program = is_program_kind(options.emit);
  if (!program && !known_kind(options.emit))
    return usage_error(
        "--emit: kind is '" + options.emit +
        "', expected op, plan, lowered, ll, asm, obj, halide, pto-as, pto-ir, pto-ir-generic, pto-cpp or pto-host");
  if (program && !is_npu(*options.kernel.target))
    return usage_error("--emit " + options.emit + ": the target is '" + options.target + "', expected --target npu-a3 or npu-a5");
  const Expected<Program> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  if (program && options.kernel_name.empty() && !imported->kernels().empty()) {
    std::vector<int> all(imported->kernels().size());
    std::iota(all.begin(), all.end(), 0);
    return compile_programs(options, *imported, all);
  }
  int exit_status = kDone;
  const int number = select_kernel(options, *imported, exit_status);
  if (number < 0) return exit_status;
  if (program) return compile_programs(options, *imported, {number});
  const ProgramKernel& kernel = imported->kernel(number);
  std::string description;
  const Expected<std::string> text = emit(options, kernel, description);
  if (!text.ok()) return fail(text.status().with_prefix(kernel.location), print(kernel.op));
  if (options.output == "-") return fail(print_out(*text));
  Expected<PendingFile> file = PendingFile::create(options.output, *text);
  if (!file.ok()) return fail(file.status());
  if (const Status status = file->commit(); !status.ok()) return fail(status);
  if (!options.json) return kDone;
  return fail(print_out("{\"file\": \"" + printable(options.output) + "\", \"bytes\": " + std::to_string(text->size()) +
                        description + "}\n"));
}

}  // namespace strew::cli
