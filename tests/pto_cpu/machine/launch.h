// A launch: several blocks run one kernel on buffers. It is the `stream` of the launchers that `--emit pto-host` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/pto_cpu/machine/machine.h"

namespace pto_cpu {

/// Memory that a kernel may touch. Buffers of one launch should lie apart, so that an access that strays from one does not meet another.
struct Buffer {
  std::string name;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  bool writable = false;
  bool filled = true;           ///< it has values before the kernel; else reading what the kernel did not write is an error
  std::vector<bool> written{};  ///< the bytes that launches before this one wrote; empty: none, or it was filled before them
  bool agreed = false;          ///< several blocks may write the same bytes, if they write the same values
};

/// threads: each block is a thread, and `seed` decides after which instruction which of them goes on.
enum class BlockOrder : uint8_t { forwards, backwards, threads };

/// What a block did, in all launches. Bytes moved by index are those of the tile, whatever the mode drops.
struct Counts {
  int64_t loaded_bytes = 0, stored_bytes = 0, indexed_bytes = 0;
  int64_t instructions = 0;  ///< of tiles
  int64_t scalars = 0;       ///< elements that the scalar unit read or wrote; a3: also those that were moved by index, one by one
};

struct Launch {
  std::vector<Buffer> buffers;
  BlockOrder order = BlockOrder::forwards;
  bool threads_backwards = false;  ///< the order of a5's threads within an instruction
  uint64_t seed = 0;
  std::set<int> deleted{};  ///< lines of the program whose flags and barriers are left out, as if they were not there

  std::string error{};           ///< empty: nothing was wrong
  std::vector<Counts> counts{};  ///< per block
  std::set<int> flag_lines{};    ///< the lines of the flags and barriers that were executed (or left out)
};

/// Runs the kernel and fills in the results of `launch`. What several launches write, one after the other, is there for those that follow; after
/// an error nothing more is run.
void run(Launch& launch, Chip chip, int blocks, const std::function<void()>& kernel);

}  // namespace pto_cpu
