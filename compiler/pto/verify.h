// verify(): the rules of the chips that a program's text alone can break.
#pragma once

#include <string>

#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// What a program is held to.
struct Rules {
  /// headers: what the chips' headers take. ptoas: what it lets through too, which for bf16 is less.
  Reader reader = Reader::headers;
  /// What strew writes itself also keeps to what no tool checks: tiles together fit the part of the buffer that is safe without a launch
  /// argument, every mode is spelled out, tables are packed where the chip takes them to be.
  bool emitted = false;
};

/// Tiles, and each statement, by the rules of module.chip; where the text names no chip, what either allows. Errors start with
/// "LINE:COLUMN: ".
STREW_API Status verify(const Module& module, const Rules& rules = {});

/// The vector buffer in bytes: what a tile may lie in, and what is safe whatever the launch.
int64_t buffer_bytes(Chip chip);
STREW_API int64_t safe_buffer_bytes(Chip chip);
/// The cube core's L1.
STREW_API int64_t l1_bytes();

}  // namespace strew::inline v0::pto
