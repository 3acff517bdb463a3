// See library_functions.h.
#include "library/library_functions.h"

namespace strew::inline v0 {

const LibraryFunctions& library_functions() {
  static const LibraryFunctions functions = {read_manifest, manifest_of_model, build_library, report_json};
  return functions;
}

}  // namespace strew::inline v0
