// KernelOptions: how Runtime::get compiles a kernel, and how many threads its calls may use. Programs that read options as
// texts parse them with parse_backend(), parse_schedule_text() (schedule.h) and parse_target() (target.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strew/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Which backend builds a kernel (docs/backends.md). STREW_BACKENDS(F) expands to F(enumerator, name in texts) for each.
#define STREW_BACKENDS(F)   \
  F(automatic, "auto")      \
  F(llvm, "llvm")           \
  F(halide, "halide")       \
  F(reference, "reference") \
  F(npu_a3, "npu-a3")       \
  F(npu_a5, "npu-a5")
enum class BackendChoice : uint8_t {
#define STREW_BACKEND_VALUE(backend, text) backend,
  STREW_BACKENDS(STREW_BACKEND_VALUE)
#undef STREW_BACKEND_VALUE
};
inline constexpr std::string_view kBackendNames[] = {
#define STREW_BACKEND_NAME(backend, text) text,
    STREW_BACKENDS(STREW_BACKEND_NAME)
#undef STREW_BACKEND_NAME
};
constexpr std::string_view name(BackendChoice backend) { return kBackendNames[static_cast<size_t>(backend)]; }

/// The backend of that name. The message lists the names.
inline Expected<BackendChoice> parse_backend(std::string_view text) {
  std::string known;
  for (size_t i = 0; i < std::size(kBackendNames); ++i) {
    if (text == kBackendNames[i]) return static_cast<BackendChoice>(i);
    known.append(i == 0 ? "" : ", ").append(kBackendNames[i]);
  }
  return invalid_argument("backend: '" + std::string(text) + "', expected one of " + known);
}

struct KernelOptions {
  /// `automatic`: the first backend that can build the op. Another one: get() fails if it cannot build the op.
  BackendChoice backend = BackendChoice::automatic;
  ScheduleOverrides schedule;  ///< knobs that replace the heuristic's choice
  std::optional<Target>
      target;  ///< this machine must have the target's features; absent: STREW_TARGET's, or the machine of this process
  /// The most threads that a call may use, 1..1024; 0: as many as the runtime's executor has. The number belongs to the
  /// handle: handles with different numbers can share code.
  int threads = 0;
  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

}  // namespace strew::inline v0
