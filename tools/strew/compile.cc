// strew compile: one kernel as text (op, plan, ll, asm) or as a relocatable object. Output goes to a temporary file first.
//
// Texts of NPU programs are tools/strew/npu.cc's. Tested by tests/error/cli_test.cc.
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "compiler/op/text.h"
#include "runtime/file.h"
#include "tools/strew/message.h"
#include "tools/strew/npu.h"
#include "tools/strew/options.h"
#include "tools/strew/select.h"
#include "tools/strew/stages.h"

namespace strew::cli {
namespace {

constexpr std::string_view kKinds[] = {"op", "plan", "ll", "asm", "obj", "halide"};

Expected<std::string> emit_object(const Backend& backend, const Stages& stages) {
  STREW_ASSIGN(Artifact artifact, backend.build(stages.request()));
  if (artifact.interpreted) {
    return unsupported("--emit obj: backend " + std::string(backend.name()) + " interprets the op and has no object code");
  }
  if (artifact.objects.size() != 1) return internal_error("backend " + std::string(backend.name()) + " made no single object");
  return std::move(artifact.objects[0]);
}

Expected<std::string> emit(const Options& options, const ImportedKernel& kernel) {
  KernelOptions wanted = options.kernel;
  if (options.emit == "halide" && wanted.backend == "auto") wanted.backend = "halide";
  STREW_ASSIGN(const Stages stages, make_stages(kernel.op, wanted));
  if (options.emit == "op") return stages.op_text + "\n";
  if (options.emit == "plan") {
    STREW_TRY(stages.planned);
    return print(stages.plan);
  }
  STREW_ASSIGN(const Backend* backend, choose_backend(stages, wanted));
  return options.emit == "obj" ? emit_object(*backend, stages) : backend->emit_text(stages.request(), options.emit);
}

bool known_kind(const std::string& kind) { return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds); }

}  // namespace

int compile(const Options& options) {
  const bool program = is_program_kind(options.emit);
  if (!program && !known_kind(options.emit))
    return usage_error("--emit: kind is '" + options.emit +
                       "', expected op, plan, ll, asm, obj, halide, pto-as, pto-ir, pto-ir-generic, pto-cpp or pto-host");
  if (program && !is_npu_target(options.kernel.target))
    return usage_error("--emit " + options.emit + ": the target is '" + options.kernel.target +
                       "', expected --target npu-a3 or npu-a5");
  const Expected<Imported> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  if (program && options.kernel_name.empty() && !imported->kernels.empty()) {
    std::vector<int> all(imported->kernels.size());
    std::iota(all.begin(), all.end(), 0);
    return compile_programs(options, *imported, all);
  }
  int exit_status = kDone;
  const int number = select_kernel(options, *imported, exit_status);
  if (number < 0) return exit_status;
  if (program) return compile_programs(options, *imported, {number});
  const ImportedKernel& kernel = imported->kernels[static_cast<size_t>(number)];
  const Expected<std::string> text = emit(options, kernel);
  if (!text.ok()) return fail(Status(text.status().code(), kernel.location + ": " + text.status().message()), print(kernel.op));
  if (options.output == "-") return fail(print_out(*text));
  Expected<PendingFile> file = PendingFile::write(options.output, *text);
  if (!file.ok()) return fail(file.status());
  if (const Status status = file->commit(); !status.ok()) return fail(status);
  if (!options.json) return kDone;
  return fail(print_out("{\"file\": \"" + printable(options.output) + "\", \"bytes\": " + std::to_string(text->size()) + "}\n"));
}

}  // namespace strew::cli
