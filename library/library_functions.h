// LibraryFunctions: what the command `strew library` calls, as a table of functions, because libstrew exports few names (as
// tune/tuning_functions.h does). Within libstrew the functions are called by their own headers.
#pragma once

#include <string>

#include "library/build.h"
#include "library/manifest.h"
#include "strew/export.h"

namespace strew::inline v0 {

struct LibraryFunctions {
  Expected<Manifest> (*read_manifest)(const std::string& path, const ManifestOptions& options);
  Expected<std::string> (*manifest_of_model)(const std::string& path, const std::string& manifest);
  Expected<LibraryReport> (*build_library)(const Manifest& manifest, const std::string& folder, const LibraryOptions& options);
  std::string (*report_json)(const LibraryReport& report, const Manifest& manifest);
};
STREW_API const LibraryFunctions& library_functions();

}  // namespace strew::inline v0
