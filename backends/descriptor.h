// Descriptors: strew_kernel (strew/abi.h) of an op, its plan and its schedule, as bytes with places for addresses.
//
// An image becomes a constant of an object file (backends/llvm), or, materialised, one in this process's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/abi.h"
#include "strew/export.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct DescriptorImage {
  /// bytes[at, at + 8) is the address of bytes[to].
  struct Pointer {
    uint32_t at, to;
  };
  /// bytes[at, at + 8) is the address of a symbol outside: an entry, a part's descriptor.
  struct External {
    uint32_t at;
    std::string symbol;
  };
  std::vector<char> bytes;  ///< begins with the strew_kernel
  std::vector<Pointer> pointers;
  std::vector<External> externals;
};

struct DescriptorRequest {
  const VerifiedOp& op;
  const Plan& plan;  ///< of the op's canonical form; empty where none could be made: then calls can be bound, not run
  const Schedule& schedule;
  std::string symbol;  ///< of the descriptor; entries are SYMBOL_range, …
  std::string identity;
  std::string features = {};  ///< strew_kernel.features
  bool has_entries = true;    ///< entries_of(plan, schedule); false: interpreted, or made of parts
  std::vector<std::string> parts =
      {};  ///< wide accumulation: the symbols of the parts' descriptors, in the order of STREW_FOLD, …
  bool widens_touched = false;
};
DescriptorImage make_descriptor(const DescriptorRequest& request);

/// A copy at an address of its own. `resolve` gives the address of an external symbol, or null.
STREW_API std::shared_ptr<const strew_kernel> materialise(const DescriptorImage& image,
                                                          const std::function<const void*(const std::string&)>& resolve);

}  // namespace strew::inline v0
