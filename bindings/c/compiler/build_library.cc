// Building kernel libraries by the C interface: what `strew library` does (tools/strew/library.cc). Tested by tests/c_api/library.c.
#include "bindings/c/compiler/handles.h"
#include "library/build.h"
#include "library/manifest.h"

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_library_build(const char* manifest, const char* folder, const strew_library_options* options,
                                 strew_text** report) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(manifest, "manifest"));
    STREW_TRY(check_not_null(folder, "folder"));
    constexpr strew_library_options kDefaults = STREW_LIBRARY_OPTIONS_INIT;
    STREW_ASSIGN(const strew_library_options known, known_fields(options, kDefaults, "options"));
    ManifestOptions reading;
    if (known.arch != nullptr) reading.arch = known.arch;
    if (known.target_count != 0) STREW_TRY(check_not_null(known.targets, "options.targets"));
    for (size_t i = 0; i < known.target_count; ++i) {
      STREW_TRY(check_not_null(known.targets[i], ("options.targets[" + std::to_string(i) + "]").c_str()));
      reading.targets.emplace_back(known.targets[i]);
    }
    STREW_ASSIGN(const Manifest read, read_manifest(manifest, reading));
    LibraryOptions building;
    building.jobs = known.jobs;
    building.freestanding = known.freestanding != 0;
    if (known.progress != nullptr)
      building.progress = [&](size_t done, size_t all) { return known.progress(known.context, done, all) == 0; };
    STREW_ASSIGN(const LibraryReport made, build_library(read, folder, building));
    return report != nullptr ? give_text(report_json(made, read), report) : Status();
  });
}

strew_status strew_library_manifest(const char* model, const char* manifest, strew_text** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(model, "model"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(std::string text, manifest_of_model(model, manifest != nullptr ? manifest : ""));
    return give_text(std::move(text), out);
  });
}
