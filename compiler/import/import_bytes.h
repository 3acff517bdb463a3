// import_bytes(): import_file() for the contents of a file that the caller has read.
#pragma once

#include <string>
#include <string_view>

#include "compiler/import/importer.h"

namespace strew {

/// `path` chooses the format by its ending, names the folder that external data lies in, and starts every message; the file itself is not
/// opened.
Expected<Imported> import_bytes(std::string_view bytes, const std::string& path, const ImportOptions& options);

}  // namespace strew
