// Importing: import_file() reads a model or program file and returns its scatters and gathers as kernels, with all values
// that they need, as a Program (program.h). compiler/import has one folder per format. Tested by
// tests/unit/compiler/import/*/*_import_test.cc and tests/error/*_error_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "strew/export.h"
#include "strew/program.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct ImportOptions {
  int64_t max_file_bytes = 0;  ///< `--max-file-bytes`: the largest file that is accepted; 0: the format's default
  /// Replace policy `undefined`, whether it comes from the source or from `oob`, by `error`: `strew run` does not trust
  /// indices in files.
  bool check_undefined = false;
  bool fuse = true;           ///< merge operations around the kernels into the kernels where no bit changes; off in some tests
  bool override_oob = false;  ///< `--oob`: replace the source's policy by `oob`, in kernels that can have it
  OobPolicy oob = OobPolicy::undefined;
  std::optional<OobPolicy> scatter_oob, gather_oob;  ///< `--oob scatter=P,gather=Q`: the policy of one kind; wins over `oob`
  std::string fill;                                  ///< `--oob fill_element:V`: V, parsed in the gathered dtype; empty: zero
  bool override_order = false;
  Order order = Order::in_order;  ///< `--order`
  bool override_accumulate = false;
  Accumulate accumulate = Accumulate::native;  ///< `--accumulate`
  /// Why a function is left to the host: a scatter with this function in its region is then an operation that strew does not run, for that reason, and
  /// operation number `compute` around the kernels becomes part of none. Empty: it is not. `compute` is -1 for a region. None: no function is.
  std::function<std::string(const Program&, int compute, const Expr& function)> refuses;
};

/// Reads `path`, a regular file, whose ending determines the format (.onnx .tflite .mlir .pto .strew; docs/cli.md).
/// Every op is verified. Error messages start with "FILE:LINE: op: " as far as these are known, and name what is wrong,
/// the value and what was expected. Thread-safe.
STREW_API Expected<Program> import_file(const std::string& path, const ImportOptions& options);

}  // namespace strew::inline v0
