// Programs of StableHLO with and without fusion: the same bits.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/number.h"
#include "strew/text.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew::test {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

using Lists = std::vector<std::vector<int64_t>>;

/// All inputs of integers have the elements of `list`, in order and as often as it takes.
inline std::vector<Tensor> inputs_with(const Program& imported, const std::vector<int64_t>& list, Rng& rng) {
  std::vector<Tensor> inputs = random_inputs(imported, rng);
  for (Tensor& input : inputs)
    for (int64_t e = 0; e < input.elements() && is_integer(input.dtype); ++e)
      store_element(input.dtype, input.data.data(), e,
                    {input.dtype, {encode_i64(input.dtype, list[static_cast<size_t>(e) % list.size()]), 0}});
  return inputs;
}

/// Kernel count, notes and op of the last kernel. Runs the text both ways at each list of indices.
inline std::string folded(const std::string& text, const Lists& lists, const ImportOptions& options = {}) {
  ImportOptions plain_options = options;
  plain_options.fuse = false;
  const auto plain = import_mlir_text(text, plain_options), folded = import_mlir_text(text, options);
  EXPECT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_TRUE(folded.ok()) << folded.status().message();
  if (!plain.ok() || !folded.ok()) return "";
  EXPECT_TRUE(folded->opaques().empty());
  Rng rng(9);
  for (const std::vector<int64_t>& list : lists) {
    const std::vector<Tensor> inputs = inputs_with(*plain, list, rng);
    const auto want = run_copy(*plain, inputs, "reference");
    for (const char* backend : {"reference", "auto"})
      EXPECT_EQ(difference(run_copy(*folded, inputs, backend), want), "")
          << "indices from " << list[0] << " on, " << backend << "\n"
          << text;
  }
  std::string out = std::to_string(folded->kernels().size()) + "; ";
  for (const std::string& note : folded->kernels().back().notes) out += note + "; ";
  return out + print(folded->kernels().back().op);
}

}  // namespace strew::test
