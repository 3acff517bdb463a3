// The invariants that fuzz targets check, and how a broken one ends the process.
//
// A target is one function of bytes. Whatever the bytes are, the library must answer with a value or a Status; the checks here go on from
// a value as far as a user could: every kernel of a file is verified, printed, parsed again, planned for each backend, and small programs
// run on generated data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/import.h"
#include "strew/status.h"
#include "strew/verified.h"

namespace strew::fuzz {

/// Reports a broken invariant on stderr and aborts, which libFuzzer and ctest count as a crash.
[[noreturn]] void broken(const std::string& invariant);

/// A refusal must name its reason and must not be Code::internal: that code says that strew has a bug.
void check_refusal(const Status& status);

/// Imports `bytes` as a file with this ending (".onnx"), with and without folding, and checks every kernel and small runs.
/// Returns false if the bytes were refused.
bool check_file(std::string_view bytes, std::string_view ending);

/// Checks one op: text round trip, canonical form, plan, schedule, and the PTO program for one chip and output, which `choice`
/// picks.
void check_op(const VerifiedOp& op, uint64_t choice);

/// Runs a program, imported without folding (`plain`) and with it, on generated data: on the reference, and where possible on a simulated
/// NPU. All results must be the same. Programs that would take long are skipped.
void check_runs(const Program& plain, const Program& folded, uint64_t seed);

/// Parses, prints, verifies, simulates and imports a PTO program. Text in the other spelling is left alone.
void check_pto(std::string_view text, pto::Spelling spelling);

/// The same for every process: seeds what a target chooses or generates.
uint64_t seed_of(std::string_view bytes);

}  // namespace strew::fuzz
