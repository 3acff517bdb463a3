// Usage: how an op is called in service. With the op it is a workload: what the tuner measures schedules on.
//
// invent_usage() makes one for an op of which nothing is known but its shapes, and says what it invented; a recording of a program
// (STREW_RECORD, runtime/record) says it better. Tested by tests/unit/tune/workload_data_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor.h"
#include "strew/verified.h"
#include "tune/distribution.h"

namespace strew::inline v0 {

/// Where the data of a call is when it begins: in the caches, because the call before used it, too; or in main memory, because calls
/// go round more buffers than the last-level cache holds.
enum class Temperature : uint8_t { hot, cold };
constexpr std::string_view name(Temperature temperature) { return temperature == Temperature::hot ? "hot" : "cold"; }

struct Usage {
  /// Extents that the op leaves open, by the name of their symbol in the plan ("s0"). A symbol without one is invented.
  std::map<std::string, int64_t> dims;
  Distribution indices;
  std::shared_ptr<const Tensor> index_tensor;  ///< of kind file: what the file holds, in the op's index dtype
  Temperature temperature = Temperature::hot;
  int threads = 0;                    ///< of a call; 0: as many as the process may use cores
  int64_t calls = 1;                  ///< how often the op is called beside the others that are tuned with it: its weight
  std::vector<Distribution> lookups;  ///< of the indices of each look-up of the op; none is of kind file
};
/// "s0=1024,s1=8 zipf(1) cold threads=2".
std::string print(const Usage& usage);
/// How the indices of each source are spread, as KnownUsage::indices has it: "sorted,zipf(1)".
std::string print_indices(const Usage& usage);

/// What is known of a usage, as texts and numbers of a command line or of a recording.
struct KnownUsage {
  std::map<std::string, int64_t> dims;
  /// As parse_distribution() takes it. Of an op with look-ups, theirs may follow, separated by commas: "sorted,zipf(1)". One that is empty
  /// or missing is unknown.
  std::string indices;
  std::string temperature;  ///< "hot" or "cold"; empty: unknown
  int threads = 0;          ///< 0: unknown
  int64_t calls = 1;
};
/// Reads "s0=1024,s1=8".
Expected<std::map<std::string, int64_t>> parse_dims(std::string_view text);

struct InventedUsage {
  Usage usage;
  std::vector<std::string> notes;  ///< a sentence for each thing that was invented
};
/// A usage for an op: what `known` has, and the rest as is common for such shapes and hints. `threads` of the result is not 0.
/// Fails if `known` names a symbol that the op has not, an extent that contradicts the op, or a distribution that is illegal for it.
Expected<InventedUsage> invent_usage(const VerifiedOp& op, const KnownUsage& known);

/// A source of indices as an op of its own: source 0 is the op itself, the others are the gathers of its look-ups.
Op op_of_source(const Op& op, size_t source);
/// The tensor that the indices select from.
const TensorType& table_of(const Op& op);
/// For an op without open extents: for each operand dim that an index component moves, in the order of the dims, how many places a window
/// can have in it. If the op says that indices are unique, these are places that do not overlap.
std::vector<int64_t> starts_of(const Op& op);

/// The op with the usage's extents in the place of the open ones.
Expected<VerifiedOp> with_dims(const VerifiedOp& op, const Usage& usage);

}  // namespace strew::inline v0
