// The entry point of libstrew_import_mlir: parses the text and translates it. Every failure, exceptions included, is returned as an error
// message of one line. Tested by tests/error/stablehlo_error_test.cc and tests/error/tensor_error_test.cc.
#include "base/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "base/own_stack.h"
#include "compiler/import/mlir/import.h"
#include "compiler/import/mlir/parse.h"
#include "compiler/import/mlir/text_index.h"
#include "compiler/import/mlir_module.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/tensor/op_list.h"
#include "strew/export.h"
#include "strew/import.h"

namespace strew::inline v0 {
namespace {

/// Makes the message one line of printable text, since MLIR quotes pieces of the file in its messages. Of a long message the middle is left
/// out: its end says what was expected, and names the rule.
Status one_line(const Status& status) {
  constexpr size_t kStart = 700, kEnd = 300;
  std::string text = status.message();
  if (text.size() > kStart + kEnd) text = text.substr(0, kStart) + " ... " + text.substr(text.size() - kEnd);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return {status.code(), std::move(text)};
}

Expected<Program> import_parsed(std::string_view text, const std::string& path, const ImportOptions& options) {
  STREW_ASSIGN(const std::unique_ptr<ParsedModule> parsed, ParsedModule::parse(text, path));
  return import_module(*parsed, options);
}

Expected<MlirText> read_parsed(std::string_view text, const std::string& path, const ImportOptions& options) {
  STREW_ASSIGN(const std::unique_ptr<ParsedModule> parsed, ParsedModule::parse(text, path));
  STREW_ASSIGN(Program program, read_module(*parsed, options));
  return MlirText{std::move(program), index_text(*parsed, text)};
}

/// The parser and MLIR's destructors recurse once per bracket. prescan allows a depth of kMaxBracketDepth, which takes less than 1 MiB.
constexpr size_t kParserStack = size_t{3} << 20;

template <class T>
Expected<T> guarded(const std::string& path, const std::function<Expected<T>()>& work) {
  return with_stack<T>(kParserStack, [&]() -> Expected<T> {
    try {
      Expected<T> out = work();
      if (out.ok()) return out;
      return one_line(out.status());
    } catch (const std::exception& error) {  // out of memory, formatting: no exception may leave the library
      return internal_error(fmt::format("{}: {}", path, error.what()));
    }
  });
}

Expected<Program> import_text(std::string_view text, const std::string& path, const ImportOptions& options) {
  return guarded<Program>(path, [&] { return import_parsed(text, path, options); });
}

Expected<MlirText> read_text(std::string_view text, const std::string& path, const ImportOptions& options) {
  return guarded<MlirText>(path, [&] { return read_parsed(text, path, options); });
}

}  // namespace
}  // namespace strew::inline v0

extern "C" STREW_API const strew::MlirModule* strew_import_mlir_module() {
  static const strew::MlirModule module{strew::kModuleVersion, strew::import_text, strew::read_text, strew::stablehlo_operations,
                                        strew::tensor_operations};
  return &module;
}
