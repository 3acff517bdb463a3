// The text goes through a real file, so that import_file() is what is tested: format by ending, overrides, verify().
#include "tests/unit/compiler/import/stablehlo_testing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "strew/text.h"

namespace strew {
namespace {

std::string with_file_name(std::string message, const std::string& path) {
  for (size_t at = 0; (at = message.find(path, at)) != std::string::npos;) message.replace(at, path.size(), "FILE");
  return message;
}

}  // namespace

Expected<Program> import_mlir_text(const std::string& text, const ImportOptions& options) {
  const std::string path = testing::TempDir() + "strew_" + std::to_string(getpid()) + ".mlir";
  std::ofstream(path, std::ios::binary) << text;
  Expected<Program> imported = import_file(path, options);
  unlink(path.c_str());
  if (imported.ok()) {
    for (int k = 0; k < static_cast<int>(imported->kernels().size()); ++k)
      imported->edit_kernel(k)->location = with_file_name(imported->kernel(k).location, path);
    return imported;
  }
  return Status(imported.status().code(), with_file_name(imported.status().message(), path));
}

std::string import_message(const std::string& text) {
  const Expected<Program> imported = import_mlir_text(text);
  if (imported.ok()) return "imported";
  EXPECT_EQ(imported.status().code(), Code::invalid_argument) << imported.status().message();
  return imported.status().message();
}

std::string only_op(const std::string& text) {
  const Expected<Program> imported = import_mlir_text(text);
  if (!imported.ok()) return imported.status().message();
  return imported->kernels().size() == 1 ? print(imported->kernel(0).op)
                                         : std::to_string(imported->kernels().size()) + " kernels";
}

std::string main_function(const std::string& arguments, const std::string& body, const std::string& result,
                          const std::string& result_type) {
  return "func.func @main(" + arguments + ") -> " + result_type + " {\n" + body + "\n  return " + result + " : " + result_type +
         "\n}\n";
}

}  // namespace strew
