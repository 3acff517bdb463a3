// Variant: a schedule with the backend that makes code of it: what the tuner measures.
#pragma once

#include <string>

#include "strew/kernel_options.h"
#include "strew/schedule.h"

namespace strew::inline v0 {

struct Variant {
  BackendChoice backend = BackendChoice::automatic;
  Schedule schedule;
  friend bool operator==(const Variant&, const Variant&) = default;
};
/// "llvm strategy=owner,vector_bytes=64,…"
inline std::string print(const Variant& variant) { return std::string(name(variant.backend)) + " " + print(variant.schedule); }

/// Overrides that replace every knob of the heuristic's choice but `checked`.
ScheduleOverrides overrides_of(const Schedule& schedule);

}  // namespace strew::inline v0
