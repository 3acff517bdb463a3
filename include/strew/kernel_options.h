// KernelOptions: how Runtime::get compiles a kernel, and how many threads its calls may use. Programs that read options as
// texts parse them with parse_backend(), parse_schedule_text() (schedule.h) and parse_target() (target.h).
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "strew/compile_mode.h"
#include "strew/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

class Wisdom;  // wisdom.h

/// Which backend builds a kernel (docs/backends.md). STREW_BACKENDS(F) expands to F(enumerator, name in texts) for each.
#define STREW_BACKENDS(F)   \
  F(automatic, "auto")      \
  F(llvm, "llvm")           \
  F(halide, "halide")       \
  F(portable, "portable")   \
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
constexpr bool is_backend(BackendChoice backend) { return static_cast<size_t>(backend) < std::size(kBackendNames); }
/// The name in texts; "invalid" for a number that is no BackendChoice.
constexpr std::string_view name(BackendChoice backend) {
  return is_backend(backend) ? kBackendNames[static_cast<size_t>(backend)] : std::string_view("invalid");
}

/// All names with commas between them, for messages.
inline std::string backend_names() {
  std::string list;
  for (const std::string_view each : kBackendNames) list.append(list.empty() ? "" : ", ").append(each);
  return list;
}

/// The backend of that name. The message lists the names.
inline Expected<BackendChoice> parse_backend(std::string_view text) {
  for (size_t i = 0; i < std::size(kBackendNames); ++i)
    if (text == kBackendNames[i]) return static_cast<BackendChoice>(i);
  return invalid_argument("backend: '" + std::string(text) + "', expected one of " + backend_names());
}

/// Runtime::get checks every field when it builds the kernel, and names the one that is wrong.
struct KernelOptions {
  /// `automatic`: the first backend that can build the op. Another one: get() fails if it cannot build the op.
  BackendChoice backend = BackendChoice::automatic;
  ScheduleOverrides schedule;  ///< knobs that replace the heuristic's choice
  /// As parse_target() and detect_target() make it; `cores` and cache sizes may be changed. The machine of this process must
  /// have the target's features. Absent: what Options::target says, or the machine of this process.
  std::optional<Target> target;
  /// The most threads that a call may use, 1..1024; 0: as many as the runtime's executor has. The number belongs to the
  /// handle: handles with different numbers can share code.
  int threads = 0;
  /// Measured schedules, of which the request takes the one that fits it best. Null: those of Options::wisdom_file if `target` is
  /// absent, else none, so that a kernel for a named target does not depend on what this machine has learned.
  std::shared_ptr<const Wisdom> wisdom;
  /// What the request does if there is no compiled kernel. Absent: what Options::compile says.
  std::optional<CompileMode> compile;
  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

}  // namespace strew::inline v0
