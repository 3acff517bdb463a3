// MachineCosts: what work costs on a machine. The cost model (schedules/costs) predicts the time of a schedule from it, and the
// executor decides with it how many threads a call is worth.
//
// Times are nanoseconds of one thread that runs alone; a line has 64 bytes. `strew target --measure` finds the numbers of this
// machine and keeps them in a file (Options::costs_file); without that file they are those of the CPU's row in
// base/machine_costs.cc, fitted to the caches that the system reports. A named target always has its row's numbers, so that a
// library is the same whatever machine builds it. Costs change which schedule is chosen, never a result. Tested by
// tests/unit/base/machine_costs_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strew::inline v0 {

/// One level of memory: a cache, or main memory.
struct MemoryCosts {
  float latency_ns = 0;      ///< from a load that nothing has foreseen until its data is there
  float read_line_ns = 0;    ///< to read a line at a random address that was prefetched early enough
  float update_line_ns = 0;  ///< the same to read and write one
  float stream_ns = 0;       ///< to read the line after the one before
  float store_ns = 0;        ///< to write the line after the one before, through the caches
  float line_scale = 1;      ///< how many times as many random lines all cores together update in the same time
  float stream_scale = 1;    ///< and how many times as many lines in sequence they read
  friend bool operator==(const MemoryCosts&, const MemoryCosts&) = default;
};

/// Where the numbers come from.
enum class CostsSource : uint32_t {
  nominal,   ///< the row of the CPU
  derived,   ///< the same, fitted to the caches and cores of this machine
  measured,  ///< `strew target --measure` on this machine
};
constexpr std::string_view name(CostsSource source) {
  constexpr std::string_view kNames[] = {"nominal", "derived", "measured"};
  return kNames[static_cast<size_t>(source)];
}

struct MachineCosts {
  CostsSource source = CostsSource::nominal;
  std::array<MemoryCosts, 4> memory;  ///< first-level cache, second-level cache, last-level cache, main memory
  float last_level_share = 1;         ///< the part of the last-level cache that a process finds free of others' data, 0..1
  float streaming_ns = 0;             ///< to write a line of main memory with stores that bypass the caches
  float position_ns = 0;              ///< of an index position besides its window: index, bounds check, address
  float vector_ns = 0;                ///< to load a vector register twice, combine and store it, all in the first-level cache
  float key_ns = 0;                   ///< to compute the destination of a position and see which thread owns it
  float chain_ns = 0;                 ///< from one update of an element to the next of the same element
  float branch_miss_ns = 0;           ///< of a branch that was predicted wrongly
  float call_ns = 0;                  ///< of a call of a kernel besides its entries
  float transfer_ns = 0;              ///< of a line that another core has written, until this one has it
  float fork_join_ns = 0;             ///< of a phase on all threads while the workers wait on their cores
  float wake_ns = 0;                  ///< until a worker that sleeps has begun to work
  float in_flight = 0;                ///< instructions that the core has in its reorder buffer at a time
  friend bool operator==(const MachineCosts&, const MachineCosts&) = default;
};

}  // namespace strew::inline v0
