// CompileMode: what a request does that finds no compiled kernel. docs/service.md, "Tiers", has the whole picture. Tested by
// tests/unit/runtime/tiers_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace strew::inline v0 {

enum class CompileMode : uint8_t {
  /// The request waits for the compiled kernel.
  blocking,
  /// The request is answered at once, with a kernel of backend `portable`, which needs no code generator. Threads of the runtime compile
  /// meanwhile, and the compiled kernel takes its place, also in handles that were given out before. Both give the same bits. Where
  /// `portable` cannot build the op, the request waits.
  background,
  /// The request fails unless its kernel exists: in memory, in a loaded library or in the disk cache. For services that must not compile.
  must_hit,
};
inline constexpr std::string_view kCompileModes[] = {"blocking", "background", "must_hit"};
/// The name in texts; "invalid" for a number that is no CompileMode.
constexpr std::string_view name(CompileMode mode) {
  return static_cast<uint8_t>(mode) < 3 ? kCompileModes[static_cast<uint8_t>(mode)] : std::string_view("invalid");
}

}  // namespace strew::inline v0
