// Why bytecode is not read: the operations of StableHLO and VHLO have encodings that only StableHLO's own library knows. MLIR's library
// reads its own dialects, but trusts the numbers in the file: of 400 files with one to four bytes changed, four crashed the reader of LLVM
// 22.1.8 (out of memory, two wild reads, a double free), whereas a bad file must cost no more than an error message. Whoever wrote the file
// can convert it to text with one command, or with one call of JAX. Tested by tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/bytecode.h"

#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Is `name` one of the file's zero-terminated strings? Dialect names are stored in this way.
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
  return invalid_argument(
      "{}: {}, expected text: '{} {} -o FILE.mlir' makes it; in JAX, jax.jit(f).lower(*args).as_text() and "
      "jax.export.export(jax.jit(f))(*args).mlir_module() are the text",
      path, what, command, path);
}

}  // namespace strew::inline v0
