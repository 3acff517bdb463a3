// Manifest: which kernels a library has, read from a JSON file (docs/libraries.md). Tested by tests/unit/library/manifest_test.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program/steps/steps.h"
#include "strew/import.h"
#include "strew/kernel_options.h"
#include "strew/status.h"
#include "strew/target.h"
#include "strew/verified.h"
#include "strew/wisdom.h"

namespace strew::inline v0 {

struct ManifestKernel {
  ManifestKernel(std::string given, std::string where, VerifiedOp made)
      : name(std::move(given)), location(std::move(where)), op(std::move(made)) {}

  std::string name;      ///< a C identifier, unique in the library
  std::string location;  ///< FILE:LINE of the manifest
  VerifiedOp op;
  BackendChoice backend = BackendChoice::automatic;
  ScheduleOverrides schedule;
  bool is_step = false;  ///< of a program: then the name is "PROGRAM/NUMBER", and the library has no function for it
};

/// A whole file, or a part of one, as one function.
struct ManifestProgram {
  std::string name;      ///< a C identifier, unique among kernels and programs
  std::string location;  ///< FILE:LINE of the manifest
  ProgramSteps steps;
  std::vector<size_t> kernels;  ///< per step: its place in Manifest::kernels, for steps that call one
};

struct Manifest {
  std::string name;                       ///< of the library: a C identifier
  std::vector<Target> targets;            ///< the baseline of the architecture first; each later one has more features
  std::vector<Target> left_out;           ///< targets that were asked for and are of another architecture
  std::vector<ManifestKernel> kernels;    ///< sorted by name; those of programs come last
  std::vector<ManifestProgram> programs;  ///< sorted by name
  std::vector<std::string> files;         ///< the files that it names, with their paths
  std::shared_ptr<const Wisdom> wisdom = Wisdom::none();  ///< measured schedules that its kernels take
  bool tvm_ffi = false;                                   ///< it exports a function of TVM-FFI for each kernel
};

struct ManifestOptions {
  /// The architecture of the library, "x86_64" or "aarch64": the manifest's targets of others are left out. Empty: that of all targets if they
  /// have one, else this machine's.
  std::string arch;
  std::vector<std::string> targets;  ///< instead of the manifest's, if there are any
};

/// Reads a manifest. Files that it names are relative to its folder. Errors begin with "PATH:LINE: ".
Expected<Manifest> read_manifest(const std::string& path, const ManifestOptions& options = {});
/// What of a model file becomes a program.
struct WholeModel {
  std::vector<std::string> from, to;  ///< names of values, as for cut(); both empty: the whole file
};
/// A manifest with the kernels of a model file, or with a program of it, as text. `manifest`: the file that it shall be written to; the text names the model relative to
/// that file's folder. Empty: by its absolute path, so that the text may be kept anywhere on this machine.
Expected<std::string> manifest_of_model(const std::string& path, const std::string& manifest, const WholeModel* whole = nullptr);

/// The manifest of a library with one program: the model file or a part of it, for one CPU and those that have less.
Expected<Manifest> manifest_of_program(const std::string& path, const WholeModel& part, const ImportOptions& import,
                                       const StepOptions& how, const std::string& target);

}  // namespace strew::inline v0
