// strew compile: writes one kernel as text (op, plan, lowered, ll, asm, halide) or as a relocatable object, or a whole file as one function in a
// kernel library of its own. The output is written to a temporary file that is then renamed. tools/strew/npu.cc writes NPU programs. Tested by
// tests/error/cli_test.cc and tests/library/programs_test.py.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/pipeline.h"
#include "base/pending_file.h"
#include "compiler/op/message.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "strew/abi.h"
#include "strew/text.h"
#include "tools/strew/library.h"
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

/// The pairs of "LEFT=RIGHT"; the right side is behind the last '='.
Expected<std::vector<std::pair<std::string, std::string>>> pairs_of(const char* option, const std::vector<std::string>& texts,
                                                                    const char* expected) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& text : texts) {
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return invalid_argument("{}: it is '{}', expected {}", option, text, expected);
    out.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return out;
}

Expected<StepOptions> step_options(const Options& options) {
  StepOptions how;
  constexpr const char* kExtent = "NAME=EXTENT, the extent an integer that is 0 or more, as in batch=4";
  STREW_ASSIGN(const auto extents, pairs_of("--extents", options.extents, kExtent));
  for (const auto& [name, text] : extents) {
    int64_t& extent = how.extents[name];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || end != text.data() + text.size() || extent < 0)
      return invalid_argument("--extents: it is '{}={}', expected {}", name, text, kExtent);
  }
  STREW_ASSIGN(how.in_place,
               pairs_of("--in-place", options.in_place, "INPUT=OUTPUT, names of an input and of the output that it becomes"));
  return how;
}

/// compile --whole.
int compile_whole(const Options& options) {
  for (const auto& [name, value] : {std::pair("--emit", &options.emit), std::pair("--kernel", &options.kernel_name),
                                    std::pair("--schedule", &options.schedule)})
    if (!value->empty())
      return usage_error(std::string(name) + ": it is '" + *value +
                         "', expected none with --whole, which writes a library with one function");
  if (options.output == "-") return usage_error("-o: it is '-', expected the folder to write, because of --whole");
  const Expected<StepOptions> how = step_options(options);
  if (!how.ok()) return usage_error(how.status().message());
  Expected<Manifest> manifest =
      manifest_of_program(options.file, {options.from, options.to}, options.import, *how, options.target);
  if (!manifest.ok()) return fail(manifest.status());
  manifest->wisdom = options.kernel.wisdom;
  for (ManifestKernel& kernel : manifest->kernels) kernel.backend = options.kernel.backend;
  return write_library(options, *manifest);
}

}  // namespace

int compile(const Options& options) {
  if (options.whole) return compile_whole(options);
  if (options.emit.empty()) return usage_error("--emit: it is missing; `strew compile --help` shows an example");
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
