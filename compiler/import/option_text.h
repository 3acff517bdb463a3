// The texts of ImportOptions: policies, orders and accumulation as the command line and the C interface take them. Tested by
// tests/error/cli_test.cc and tests/c_api.
#pragma once

#include <string>
#include <string_view>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// "clamp", or, with the value to fill in, "fill_element:1.5". `kind`: of which kernels it is the policy, "scatter" or "gather"; empty: of all.
inline Status set_policy(std::string_view text, std::string_view kind, ImportOptions& out) {
  const size_t colon = text.find(':');
  const std::string policy(text.substr(0, colon));
  constexpr int kCount = enumerators<OobPolicy>();
  std::string known;
  for (int i = 0; i < kCount; ++i) {
    const auto each = static_cast<OobPolicy>(i);
    known += (known.empty() ? "" : ", ") + std::string(name(each));
    if (policy != name(each)) continue;
    const bool fills = is_fill(each);
    const bool skips = each == OobPolicy::skip_element || each == OobPolicy::skip_window;
    if ((fills && kind == "scatter") || (skips && kind == "gather"))
      return invalid_argument("oob: a " + std::string(kind) + " has no policy " + policy);
    if (kind.empty()) out.override_oob = true, out.oob = each;
    if (kind == "scatter") out.scatter_oob = each;
    if (kind == "gather") out.gather_oob = each;
    if (colon == std::string_view::npos) return {};
    const std::string value(text.substr(colon + 1));
    if (!fills) return invalid_argument("oob: policy " + policy + " takes no value, given '" + value + "'");
    out.fill = value;
    return value.empty() ? invalid_argument("oob: the value after '" + policy + ":' is empty") : Status();
  }
  return invalid_argument("oob: policy is '" + policy + "', expected one of: " + known);
}

/// A policy for all kernels, "clamp", or for those of one kind, "scatter=skip_window,gather=clamp".
inline Status set_oob(std::string_view text, ImportOptions& out) {
  if (text.find('=') == std::string_view::npos) return set_policy(text, "", out);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const size_t equal = part.find('=');
    const std::string_view kind = part.substr(0, equal);
    if (equal == std::string_view::npos || (kind != "scatter" && kind != "gather"))
      return invalid_argument("oob: it is '" + std::string(part) + "', expected scatter=POLICY or gather=POLICY");
    if (kind == "scatter" ? out.scatter_oob.has_value() : out.gather_oob.has_value())
      return invalid_argument("oob: the policy of " + std::string(kind) + " is given twice");
    if (const Status status = set_policy(part.substr(equal + 1), kind, out); !status.ok()) return status;
  }
  return {};
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
