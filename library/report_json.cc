// report_json() of build.h. Tested by tests/library and tests/c_api/library.c.
#include <nlohmann/json.hpp>

#include "library/build.h"

namespace strew::inline v0 {

std::string report_json(const LibraryReport& report, const Manifest& manifest) {
  using Json = nlohmann::ordered_json;
  Json left_out = Json::array();
  for (const Target& target : manifest.left_out) left_out.push_back(print(target));
  Json variants = Json::array();
  for (const LibraryVariant& each : report.variants)
    variants.push_back({{"kernel", each.kernel},
                        {"target", each.target},
                        {"symbol", each.symbol},
                        {"backend", each.backend},
                        {"schedule", each.schedule},
                        {"why", each.why},
                        {"object_bytes", each.object_bytes},
                        {"reused", each.reused},
                        {"compile_ms", static_cast<double>(each.nanoseconds) / 1e6}});
  Json programs = Json::array();
  for (const LibraryProgramReport& each : report.programs)
    programs.push_back({{"program", each.name},
                        {"steps", each.steps},
                        {"constant_bytes", each.constant_bytes},
                        {"arena_bytes", each.arena_bytes}});
  return Json{{"archive", report.archive}, {"header", report.header},
              {"left_out", left_out},      {"archive_bytes", report.archive_bytes},
              {"variants", variants},      {"programs", programs}}
             .dump(2) +
         "\n";
}

}  // namespace strew::inline v0
