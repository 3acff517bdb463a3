// make_descriptor(): lays out the strew_kernel (strew/abi.h) of an op, its plan and its schedule as an image: bytes,
// and a list of the places in them that hold addresses (relocations). A code generator makes the image a constant of
// its object file (backends/llvm); materialise() makes it a strew_kernel in this process's memory. Tested by
// tests/unit/runtime/call/descriptor_test.cc.
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
  /// A place that refers to a symbol that the image does not define: an entry, or the descriptor of a part.
  struct External {
    uint32_t at;
    std::string symbol;
  };
  std::vector<char> bytes;  ///< begins with the strew_kernel
  std::vector<Pointer> pointers;
  std::vector<External> externals;  ///< bytes[at, at + 8) is the symbol's address
  std::vector<External> distances;  ///< bytes[at, at + 4) is the distance from there to the symbol
};

/// The suffix of the symbol of a descriptor that a kernel library holds packed (library/registry.h).
inline constexpr const char* kPackedSuffix = "_packed";
/// The suffix of the symbol of the program that the entries of a descriptor interpret.
inline constexpr const char* kProgramSuffix = "_program";

struct DescriptorRequest {
  const VerifiedOp& op;
  const Plan& plan;  ///< of the op's canonical form; an empty plan makes a descriptor with which calls can be bound but not run
  const Schedule& schedule;
  std::string symbol;  ///< of the descriptor; the symbols of the entries are SYMBOL_range, …
  std::string identity;
  std::string features = {};  ///< strew_kernel.features
  std::string target = {};    ///< strew_kernel.target
  std::string backend = {};   ///< strew_kernel.backend
  /// The kernel has the entries entries_of(plan, schedule); false: it is interpreted, or made of parts
  bool has_entries = true;
  /// The entries interpret a program, whose symbol is SYMBOL_program
  bool has_program = false;
  std::vector<std::string> parts =
      {};                       ///< wide accumulation: the symbols of the parts' descriptors by STREW_FOLD, …; empty: absent
  bool host_fp = false;         ///< of the target
  bool widens_touched = false;  ///< wide accumulation: a call may use sparse widening (runtime/call/wide_sparse)
};
DescriptorImage make_descriptor(const DescriptorRequest& request);

/// Copies the image to memory of its own and fills in the addresses. `resolve` returns the address of an external
/// symbol, or null.
STREW_API std::shared_ptr<const strew_kernel> materialise(const DescriptorImage& image,
                                                          const std::function<const void*(const std::string&)>& resolve);

}  // namespace strew::inline v0
