// The examples of the operator tables as seeds of the fuzz targets: one file per row, tests/fuzz/seeds/TARGET/ROW.ENDING. The unit tests that
// have an example of every row write them (STREW_UPDATE_GOLDEN=1) and otherwise see that they are there; ctest replays them (fuzz_TARGET).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/paths.h"

namespace strew::test {

/// `file`: TARGET/ROW.ENDING.
inline void check_seed(const std::string& file, const std::string& bytes) {
  const std::filesystem::path path = source_folder() / "tests/fuzz/seeds" / file;
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "STREW_UPDATE_GOLDEN=1 writes " << path;
}

}  // namespace strew::test
