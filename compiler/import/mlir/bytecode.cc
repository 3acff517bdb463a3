// Bytecode is not read. StableHLO's and VHLO's operations have encodings only their own library knows. MLIR's library does read its own
// dialects, but takes the file's word for its numbers: of 400 files with one to four bytes changed, four crashed LLVM 22.1.8's reader
// (out of memory, two wild reads, a double free), and a bad file may cost no more than one line. One command of whoever wrote the
// file makes text of it. Covered by tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/bytecode.h"

#include <fmt/format.h>

namespace strew {
namespace {

/// Whether one of the file's strings, which end in zeros, is `name`: so dialects are listed.
bool names_dialect(std::string_view bytes, std::string_view name) {
  return bytes.find('\0' + std::string(name) + '\0') != std::string_view::npos;
}

}  // namespace

bool is_bytecode(std::string_view bytes) { return bytes.starts_with("ML\xefR"); }

Status refuse_bytecode(std::string_view bytes, const std::string& path) {
  const std::string_view head = bytes.substr(0, 64);
  std::string_view what = "MLIR bytecode", command = "mlir-opt";
  if (head.find("StableHLO_v") != std::string_view::npos || names_dialect(bytes, "vhlo")) {
    what = "a StableHLO portable artifact (bytecode of the VHLO dialect)";
    command = "stablehlo-translate --deserialize";
  } else if (names_dialect(bytes, "stablehlo")) {
    what = "MLIR bytecode of the stablehlo dialect";
    command = "stablehlo-opt";
  }
  return invalid_argument(fmt::format("{}: {}, expected text: '{} {} -o FILE.mlir' makes it", path, what, command, path));
}

}  // namespace strew
