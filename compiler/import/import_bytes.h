// import_bytes(): import_file() for a file whose contents are in memory; finish_import(): what import_file() does behind the front end.
#pragma once

#include <string>
#include <string_view>

#include "strew/import.h"

namespace strew::inline v0 {

/// `path` determines the format by its ending and the folder in which external data lies, and starts every error message. The file itself
/// is not opened.
Expected<Program> import_bytes(std::string_view bytes, const std::string& path, const ImportOptions& options);

/// What a front end has made becomes what import_file() returns: it is verified, folded, and gets what `options` override. `path` starts messages.
Expected<Program> finish_import(Program imported, const std::string& path, const ImportOptions& options);

}  // namespace strew::inline v0
