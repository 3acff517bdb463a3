// Splicing: what strew runs of a StableHLO module goes into calls of strew. The scatters and gathers of the module's text, with what they have around
// them, become statements `stablehlo.custom_call @strew`, each with the program that it stands for; everything else stays as it stands, and
// XLA runs it. bindings/jax has the handler of the calls.
//
// A call's attributes are `identity` (i64, a hash of `program`), `name` (its first kernel's) and `program`, the StableHLO module of the part alone,
// whose public function @main has the call's operands and results. An output that is written over an input is aliased to it.
//
// Tested by tests/unit/compiler/splice. docs/jax.md and docs/cli.md say how it is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// How much a call takes over.
enum class SpliceLevel : uint8_t {
  operators,  ///< scatters and gathers with the arithmetic on their indices that becomes part of them
  fused,      ///< also elementwise work, look-ups and segments around them
};

struct SpliceOptions {
  SpliceLevel level = SpliceLevel::operators;
  bool own_numerics = false;  ///< also what strew computes with other bits than XLA
  bool any_size = false;      ///< also what is so small that XLA is done before a call is: for tests
};

/// A call that was put into the text.
struct SplicedCall {
  std::string name;                     ///< of its first kernel
  std::string location;                 ///< where that stood: "FILE:LINE: stablehlo.scatter"
  std::vector<std::string> operations;  ///< the scatters and gathers that it stands for: "stablehlo.scatter"
};

/// A scatter or gather that stays XLA's.
struct KeptOperation {
  std::string operation;  ///< "stablehlo.gather"; "module": the whole text is left alone
  std::string location;
  std::string reason;  ///< a sentence
};

struct Spliced {
  std::string text;  ///< the input's, byte for byte, if `calls` is empty
  std::vector<SplicedCall> calls;
  std::vector<KeptOperation> kept;
};

/// Splices calls into the text of an MLIR module. `name` stands for the text in locations and messages. Fails if it is not text that MLIR parses,
/// or exceeds a limit of docs/security.md.
STREW_API Expected<Spliced> splice(std::string_view text, const std::string& name, const SpliceOptions& options = {});

}  // namespace strew::inline v0
