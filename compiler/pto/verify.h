// verify(): checks the rules of the chips that can be checked without running the program. Tested by
// tests/error/pto_error_test.cc and tests/error/pto_rules_test.cc.
#pragma once

#include <string>

#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// Which rules a program must satisfy.
struct Rules {
  /// headers: those of the chips' headers. ptoas: those of ptoas, too, which allows less for some types (bf16).
  Reader reader = Reader::headers;
  /// Programs that strew writes satisfy further rules, which no tool checks: all tiles together fit the part of the
  /// buffer that is safe without a launch argument, every mode is written out, and tables are packed where the chip
  /// assumes it.
  bool emitted = false;
};

/// Checks the types of tiles and every statement by the rules of module.chip; Chip::any: by what at least one chip
/// allows. Error messages start with "LINE:COLUMN: ".
STREW_API Status verify(const Module& module, const Rules& rules = {});

/// The size of the vector buffer in bytes: all of it, and the part that every launch has.
int64_t buffer_bytes(Chip chip);
STREW_API int64_t safe_buffer_bytes(Chip chip);
/// The size of the cube core's L1 in bytes.
STREW_API int64_t l1_bytes();

}  // namespace strew::inline v0::pto
