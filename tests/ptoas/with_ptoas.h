// What the tests of this folder share. They are a ctest entry of their own, because the tool is the vendor's and CI has none: there ctest
// says that the entry was skipped (main.cc).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>

#include "tests/support/ptoas.h"

namespace strew::test {

/// A test that has the real ptoas, or is skipped.
class WithPtoas : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> found = find_ptoas();
    if (!found) GTEST_SKIP() << "no ptoas: set PTOAS to it, or put it on PATH";
    tool = *found;
  }

  std::string tool;
};

/// Another one in every run, which is printed; STREW_TEST_SEED repeats one.
inline uint64_t random_seed() {
  const char* text = std::getenv("STREW_TEST_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
  std::cout << "STREW_TEST_SEED=" << seed << "\n";
  return seed;
}

}  // namespace strew::test
