// The list of front ends, import_file() and import_bytes(). import_bytes() calls the front end (which verifies each op), verifies the
// program that it made, fuses, and applies the overrides of the options; import_file() reads the file and calls import_bytes().
//
// A file is read into memory as a whole, and large constants of ONNX and TensorFlow Lite stay where they lie in it; each format has a largest size in the list below. Front ends
// that need MLIR live in a module, which is opened only for files of their formats. Tested by tests/error/cli_test.cc and
// tests/error/hostile_test.cc.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/fp_environment.h"
#include "base/module.h"
#include "compiler/import/foreign.h"
#include "compiler/import/fusion/fusion.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/importer.h"
#include "compiler/import/mlir_module.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/pto/import.h"
#include "compiler/import/strew_text.h"
#include "compiler/import/symbols.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMaxOnnxBytes = (int64_t{1} << 31) - 1;    // protobuf's limit
constexpr int64_t kMaxTfliteBytes = (int64_t{1} << 31) - 1;  // flatbuffers' limit
constexpr int64_t kMaxMlirBytes = int64_t{1} << 28;          // MLIR's parser takes many times the size of its text
constexpr int64_t kMaxPtoBytes = int64_t{1} << 20;
constexpr int64_t kMaxStrewBytes = int64_t{1} << 26;

using Owner = std::shared_ptr<const void>;

Expected<Program> import_mlir(std::string_view bytes, const std::string& path, const ImportOptions& options) {
  STREW_ASSIGN(const MlirModule* module,
               open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "reading .mlir"));
  return module->import_text(bytes, path, options);
}

/// A front end that copies what it keeps of the bytes.
template <Expected<Program> (*import)(std::string_view bytes, const std::string& path, const ImportOptions& options)>
Expected<Program> copying(std::string_view bytes, const std::string& path, const ImportOptions& options, const Owner&) {
  return import(bytes, path, options);
}

/// The policy that the options ask for in place of the source's.
std::optional<OobPolicy> wanted_policy(const Op& op, const ImportOptions& options) {
  const std::optional<OobPolicy> of_kind = is_scatter(op) ? options.scatter_oob : options.gather_oob;
  return !of_kind && options.override_oob ? options.oob : of_kind;
}

Status override_policy(Op& op, OobPolicy policy, const ImportOptions& options) {
  if (Scatter* scatter = std::get_if<Scatter>(&op)) {
    scatter->oob = policy;
    return {};
  }
  Gather& gather = std::get<Gather>(op);
  gather.oob = policy;
  const bool fills = is_fill(policy);
  gather.fill = fills ? Scalar{gather.operand.dtype} : Scalar{};
  if (!options.fill.empty()) {
    Expected<Scalar> fill = parse_scalar(options.fill, gather.operand.dtype);
    if (!fill.ok()) return invalid_argument("--oob: fill value '" + options.fill + "': " + fill.status().message());
    gather.fill = *fill;
  }
  return {};
}

Expected<VerifiedOp> overridden(Op op, std::optional<OobPolicy> policy, const ImportOptions& options) {
  if (policy) STREW_TRY(override_policy(op, *policy, options));
  OobPolicy& oob = is_scatter(op) ? std::get<Scatter>(op).oob : std::get<Gather>(op).oob;
  if (options.check_undefined && oob == OobPolicy::undefined) oob = OobPolicy::error;
  if (Scatter* scatter = std::get_if<Scatter>(&op)) {
    if (options.override_order) scatter->order = options.order;
    if (options.override_accumulate) scatter->accumulate = options.accumulate;
  }
  return VerifiedOp::of(std::move(op));
}

/// Can `op` have `policy`? The skip policies are for scatters, the fill policies for gathers (op.h).
bool takes(const Op& op, OobPolicy policy) {
  switch (policy) {
    case OobPolicy::skip_element:
    case OobPolicy::skip_window:
      return is_scatter(op);
    case OobPolicy::fill_element:
    case OobPolicy::fill_window:
      return !is_scatter(op);
    case OobPolicy::undefined:
    case OobPolicy::clamp:
    case OobPolicy::wrap:
    case OobPolicy::error:
      break;
  }
  return true;
}

/// The policy that the options ask for and that the kernel can have.
std::optional<OobPolicy> next_policy(const ProgramKernel& kernel, const ImportOptions& options) {
  const std::optional<OobPolicy> wanted = wanted_policy(kernel.op, options);
  return wanted && !kernel.fixed_policy && takes(kernel.op, *wanted) ? wanted : std::nullopt;
}

/// In a file with scatters and gathers `--oob skip_window` applies to the scatters, and the gathers keep their policies. If no op of the
/// file can have the policy, nothing is kept, and verify() refuses the policy.
void keep_other_policies(Program& imported, const ImportOptions& options) {
  const auto takes_it = [&](const ProgramKernel& kernel) { return next_policy(kernel, options).has_value(); };
  if (std::none_of(imported.kernels().begin(), imported.kernels().end(), takes_it)) return;
  for (size_t k = 0; k < imported.kernels().size(); ++k) keep_other_policy(*imported.edit_kernel(static_cast<int>(k)), options);
}

/// Removes notes about a policy ("policy clamp: …") that folding or `--oob` has replaced.
void drop_old_notes(ProgramKernel& kernel) {
  const std::string own = "policy " + std::string(name(oob_of(kernel.op))) + ":";
  std::erase_if(kernel.notes, [&](const std::string& note) { return note.starts_with("policy ") && !note.starts_with(own); });
}

std::string endings() {
  std::string out;
  for (const Importer& i : importers()) out += (out.empty() ? "" : ", ") + std::string(i.ending);
  return out;
}

Expected<const Importer*> importer_of(std::string_view path) {
  for (const Importer& importer : importers())
    if (path.ends_with(importer.ending)) return &importer;
  return invalid_argument(std::string(path) + ": the ending names no known format, expected one of: " + endings());
}

Expected<Program> import_owned(std::string_view bytes, const std::string& path, const ImportOptions& options,
                               const Owner& owner) {
  const FpEnvironment environment(true);  // folding computes constants, and scalars are parsed from text
  STREW_ASSIGN(const Importer* importer, importer_of(path));
  STREW_TRY(refuse_foreign(bytes, path));
  STREW_ASSIGN(Program imported, importer->import_bytes(bytes, path, options, owner));
  return finish_import(std::move(imported), path, options);
}

}  // namespace

const std::vector<Importer>& importers() {
  static const auto& list = *new const std::vector<Importer>{
      {".onnx", "onnx", onnx::import_model, kMaxOnnxBytes},
      {".tflite", "tflite", tflite::import_model, kMaxTfliteBytes},
      {".mlir", "stablehlo", copying<import_mlir>, kMaxMlirBytes},
      {".mlirbc", "stablehlo", copying<import_mlir>, kMaxMlirBytes},
      {".pto", "pto", copying<pto::import_program>, kMaxPtoBytes},
      {".strew", "strew", copying<import_strew_text>, kMaxStrewBytes},
  };
  return list;
}

Expected<ProgramKernel> verified_kernel(Op op, std::string location, const VerifyOptions& options) {
  Expected<VerifiedOp> verified = VerifiedOp::of(std::move(op), options);
  if (!verified.ok()) return verified.status().with_prefix(location);
  ProgramKernel kernel(std::move(verified).value());
  kernel.location = std::move(location);
  return kernel;
}

void keep_other_policy(ProgramKernel& kernel, const ImportOptions& options) {
  const std::optional<OobPolicy> wanted = wanted_policy(kernel.op, options);
  if (kernel.fixed_policy || !wanted || takes(kernel.op, *wanted)) return;
  kernel.fixed_policy = true;
  kernel.notes.push_back("keeps its policy: a " + std::string(is_scatter(kernel.op) ? "scatter" : "gather") + " has no " +
                         std::string(name(*wanted)));
}

OobPolicy final_policy(const ProgramKernel& kernel, const ImportOptions& options) {
  const OobPolicy policy = next_policy(kernel, options).value_or(oob_of(kernel.op));
  return options.check_undefined && policy == OobPolicy::undefined ? OobPolicy::error : policy;
}

Expected<VerifiedOp> final_op(const ProgramKernel& kernel, const ImportOptions& options) {
  return overridden(kernel.op, next_policy(kernel, options), options);
}

Status override_kernel(ProgramKernel& kernel, const ImportOptions& options) {
  std::optional<OobPolicy> policy;
  if (!kernel.fixed_policy) policy = wanted_policy(kernel.op, options);
  Expected<VerifiedOp> op = overridden(kernel.op, policy, options);
  if (!op.ok()) return op.status().with_prefix(kernel.location);
  kernel.op = std::move(op).value();
  if (policy)  // the caller replaces what is part of the policy
    std::erase_if(kernel.arguments, [](const KernelArgument& argument) { return argument.use == ArgumentUse::non_negative; });
  drop_old_notes(kernel);
  return {};
}

Expected<Program> finish_import(Program imported, const std::string& path, const ImportOptions& options) {
  STREW_TRY(imported.verify().with_prefix(path));
  if (options.fuse) STREW_TRY(fusion::fuse_program(imported, options).with_prefix(path + ", folded"));
  infer_symbols(imported);
  keep_other_policies(imported, options);
  for (size_t k = 0; k < imported.kernels().size(); ++k)
    STREW_TRY(override_kernel(*imported.edit_kernel(static_cast<int>(k)), options));
  if (options.fuse) STREW_TRY(imported.verify().with_prefix(path + ", folded"));
  return imported;
}

Expected<Program> import_bytes(std::string_view bytes, const std::string& path, const ImportOptions& options) {
  return import_owned(bytes, path, options, nullptr);
}

Expected<Program> import_file(const std::string& path, const ImportOptions& options) {
  const Expected<const Importer*> found = importer_of(path);
  if (!found.ok()) {
    STREW_TRY(refuse_foreign_path(path));
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      return invalid_argument(path + ": it is a folder, expected a file whose name ends in one of: " + endings());
    return found.status();
  }
  const Importer* const importer = *found;
  const int64_t max_bytes = options.max_file_bytes > 0 ? options.max_file_bytes : importer->max_bytes;
  STREW_ASSIGN(std::string read, read_file(path, max_bytes));
  const auto bytes = std::make_shared<const std::string>(std::move(read));
  return import_owned(*bytes, path, options, bytes);
}

}  // namespace strew::inline v0
