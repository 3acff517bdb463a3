// The texts of ImportOptions: policies, orders and accumulation as the command line and the C interface take them. Tested by
// tests/error/cli_test.cc and tests/c_api.
#pragma once

#include <string>
#include <string_view>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// "clamp", or, with the value to fill in, "fill_element:1.5".
inline Status set_oob(std::string_view text, ImportOptions& out) {
  const size_t colon = text.find(':');
  const std::string policy(text.substr(0, colon));
  constexpr OobPolicy kAll[] = {OobPolicy::undefined, OobPolicy::skip_element, OobPolicy::skip_window,  OobPolicy::clamp,
                                OobPolicy::wrap,      OobPolicy::error,        OobPolicy::fill_element, OobPolicy::fill_window};
  std::string known;
  for (const OobPolicy each : kAll) {
    known += (known.empty() ? "" : ", ") + std::string(name(each));
    if (policy != name(each)) continue;
    out.override_oob = true;
    out.oob = each;
    if (colon == std::string_view::npos) return {};
    const std::string value(text.substr(colon + 1));
    if (each != OobPolicy::fill_element && each != OobPolicy::fill_window)
      return invalid_argument("oob: policy " + policy + " takes no value, given '" + value + "'");
    out.fill = value;
    return value.empty() ? invalid_argument("oob: the value after '" + policy + ":' is empty") : Status();
  }
  return invalid_argument("oob: policy is '" + policy + "', expected one of: " + known);
}

inline Status set_order(std::string_view text, ImportOptions& out) {
  if (text != "in_order" && text != "relaxed")
    return invalid_argument("order: it is '" + std::string(text) + "', expected in_order or relaxed");
  out.override_order = true;
  out.order = text == "relaxed" ? Order::relaxed : Order::in_order;
  return {};
}

inline Status set_accumulate(std::string_view text, ImportOptions& out) {
  if (text != "native" && text != "wide")
    return invalid_argument("accumulate: it is '" + std::string(text) + "', expected native or wide");
  out.override_accumulate = true;
  out.accumulate = text == "wide" ? Accumulate::wide : Accumulate::native;
  return {};
}

}  // namespace strew::inline v0
