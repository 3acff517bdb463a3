#include "bindings/torch/report.h"

#include <vector>

namespace strew::aten {
namespace {

constexpr const char* kTexts[] = {"",
#define STREW_TORCH_TEXT(name, text) text,
                                  STREW_TORCH_REASONS(STREW_TORCH_TEXT)
#undef STREW_TORCH_TEXT
};

struct Overload {
  std::string name;
  Counts* counts;
};
std::vector<Overload>& overloads() {
  static std::vector<Overload> all;
  return all;
}

std::string text_of(const Counts& counts) {
  std::string text = "{\"replaced\": " + std::to_string(counts.of(Reason::none)) + ", \"handed over\": {";
  const char* comma = "";
  for (size_t reason = 1; reason < std::size(kTexts); ++reason) {
    const uint64_t count = counts.of(static_cast<Reason>(reason));
    if (count == 0) continue;
    text += std::string(comma) + "\"" + kTexts[reason] + "\": " + std::to_string(count);
    comma = ", ";
  }
  return text + "}}";
}

}  // namespace

void Counts::clear() {
  for (std::atomic<uint64_t>& each : counts_) each.store(0, std::memory_order_relaxed);
}

void list_overload(const char* name, const char* overload, Counts* counts) {
  overloads().push_back({overload[0] == 0 ? std::string(name) : std::string(name) + "." + overload, counts});
}

std::string report_text() {
  std::string text = "{";
  for (const Overload& each : overloads()) text += (text.size() > 1 ? ", \"" : "\"") + each.name + "\": " + text_of(*each.counts);
  return text + "}";
}

void clear_report() {
  for (const Overload& each : overloads()) each.counts->clear();
}

}  // namespace strew::aten
