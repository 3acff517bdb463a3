// See check.h. Files are named as if they lay in a folder that does not exist, so that external data they ask for is never found.
#include "tests/fuzz/check.h"

#include <cstdlib>
#include <iostream>

#include "compiler/import/fusion/fusion.h"
#include "compiler/import/import_bytes.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew::fuzz {
namespace {

constexpr size_t kMostKernels = 8;  ///< of one file are checked

Expected<Program> import(std::string_view bytes, std::string_view ending, bool fold) {
  fusion::verifies_steps = true;
  ImportOptions options;
  options.fuse = fold;
  // Ops with policy `undefined` are checked as they are, or run as `error`.
  options.check_undefined = (seed_of(bytes) >> 8) % 2 == 0;
  return import_bytes(bytes, "no-such-folder/file" + std::string(ending), options);
}

}  // namespace

void broken(const std::string& invariant) {
  std::cerr << "broken: " << invariant << std::endl;
  std::abort();
}

void check_refusal(const Status& status) {
  if (status.code() == Code::internal) broken("an input was answered with an internal error: " + status.message());
  if (status.message().empty()) broken("an input was refused without a reason");
}

bool check_file(std::string_view bytes, std::string_view ending) {
  const Expected<Program> plain = import(bytes, ending, false), folded = import(bytes, ending, true);
  if (!plain.ok()) check_refusal(plain.status());
  if (!folded.ok()) check_refusal(folded.status());
  if (plain.ok() != folded.ok()) {
    broken("folding changes whether the file is legal: " + (plain.ok() ? folded : plain).status().message());
  }
  if (!plain.ok()) return false;
  const uint64_t seed = seed_of(bytes);
  for (size_t k = 0; k < folded->kernels().size() && k < kMostKernels; ++k) check_op(folded->kernel(k).op, seed + k);
  check_runs(*plain, *folded, seed);
  return true;
}

uint64_t seed_of(std::string_view bytes) { return hash_text(bytes).low; }

}  // namespace strew::fuzz
