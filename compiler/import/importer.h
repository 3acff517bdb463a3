// Importer: the front end of one format. Each format has one folder; importers.cc lists the formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strew/import.h"

namespace strew::inline v0 {

/// Makes a kernel of `op`; fails if verify() refuses the op. `location` ("FILE:LINE: …") starts the message.
Expected<ProgramKernel> verified_kernel(Op op, std::string location, const VerifyOptions& options = {});
/// Replaces the fields of the kernel's op that `options` override and verifies the op again. Messages start with the kernel's location.
Status override_kernel(ProgramKernel& kernel, const ImportOptions& options);

/// The policy that the kernel's op gets of `options`, if nothing changes until override_kernel().
OobPolicy final_policy(const ProgramKernel& kernel, const ImportOptions& options);
/// The kernel's op with all that it gets of `options`.
Expected<VerifiedOp> final_op(const ProgramKernel& kernel, const ImportOptions& options);
/// The kernel keeps its policy if it cannot have the one that `options` ask for, because only gathers or only scatters have that.
void keep_other_policy(ProgramKernel& kernel, const ImportOptions& options);

/// The front end of one format.
struct Importer {
  std::string_view ending;  ///< ".onnx"
  std::string_view format;
  /// `owner` keeps the bytes where they are, so that constants may refer to them; null: nobody does.
  Expected<Program> (*import_bytes)(std::string_view bytes, const std::string& path, const ImportOptions& options,
                                    const std::shared_ptr<const void>& owner);
  int64_t max_bytes;  ///< the largest file of this format that is accepted
};
const std::vector<Importer>& importers();

}  // namespace strew::inline v0
