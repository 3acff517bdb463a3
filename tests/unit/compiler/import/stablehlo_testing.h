// Text in, Program out, for the tests of the StableHLO front end.
#pragma once

#include <string>

#include "strew/import.h"

namespace strew {

/// Imports `text` from a file whose name reads FILE in messages.
Expected<Program> import_mlir_text(const std::string& text, const ImportOptions& options = {});

/// The message of the failure, "imported" if there was none.
std::string import_message(const std::string& text);

/// The canonical text of the only kernel; a failure's message instead if there is one.
std::string only_op(const std::string& text);

/// A public function @main with these arguments, results and body; `result` is what it returns and `result_type` its type.
std::string main_function(const std::string& arguments, const std::string& body, const std::string& result,
                          const std::string& result_type);

}  // namespace strew
