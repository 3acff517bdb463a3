// WisdomRecord: one measured candidate of one workload, which is one line of a wisdom file, as JSON. What the winner of a workload is
// follows from its records (wisdom.h). Tested by tests/unit/schedules/wisdom/wisdom_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "strew/status.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct Machine;
struct Target;

/// What tells sizes of one family apart.
struct ShapeFeatures {
  double positions = 1, window_bytes = 1, table_bytes = 1;
  friend bool operator==(const ShapeFeatures&, const ShapeFeatures&) = default;
};

struct WisdomRecord {
  std::string family;                   ///< family_of(op), 16 hex digits
  std::string op;                       ///< the op's identity, as text
  std::map<std::string, int64_t> dims;  ///< extents that the op leaves open, by the names of their symbols
  ShapeFeatures shape;
  std::string indices, temperature;  ///< how it was called: as tune/usage.h has them
  int threads = 1;
  std::string backend, schedule;
  bool is_default = false;  ///< the schedule that the cost model chose
  /// Measured again at the end of the search, with the other fastest ones: only such records decide.
  bool is_confirmed = false;
  bool is_busy = false;    ///< something else ran on the host meanwhile (base/run_queue.h); a line says so only where it is true
  double nanoseconds = 0;  ///< of a call: median
  /// The time over that of the default in the same round: median, and the interval in which it lies with 95 %.
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  int rounds = 0;
  std::string machine;    ///< machine_key() (base/machine_costs.h)
  std::string features;   ///< features_key()
  std::string generator;  ///< versions of strew and LLVM
  std::string date;       ///< ISO 8601, UTC: texts compare as dates do
  friend bool operator==(const WisdomRecord&, const WisdomRecord&) = default;
};

/// The number of this format. Records of another one are left out.
inline constexpr int kWisdomFormat = 1;

/// One line, with a line break at its end. It begins with the family, so that readers find the lines of an op without parsing the others.
std::string print(const WisdomRecord& record);
/// Reads a line. The message names the member, its value and what was expected.
Expected<WisdomRecord> parse_wisdom_record(std::string_view line);
/// The family of a line without parsing it; empty if the line does not begin as print() writes it.
std::string_view family_of_line(std::string_view line);

/// Ops of one family differ only in the extents of their tensors. `identity`: of the op (compiler/rewrite).
std::string family_of(const VerifiedOp& identity);
/// Machines whose kernels look alike: architecture and vector width, "x86_64, 64-byte vectors".
std::string features_key(const Target& target);

}  // namespace strew::inline v0
