// See tuning_result.h.
#include "tune/tuning_result.h"

#include "schedules/knobs.h"

namespace strew::inline v0 {

std::string difference(const TunedCandidate& candidate, const TunedCandidate& standard) {
  std::string out = candidate.backend == standard.backend ? "" : std::string(name(candidate.backend));
  for (const Knob& knob : knobs()) {
    const std::string value = value_of(knob, candidate.schedule);
    if (value != value_of(knob, standard.schedule)) out += (out.empty() ? "" : ", ") + std::string(knob.name) + "=" + value;
  }
  return out;
}

}  // namespace strew::inline v0
