// See ptoas.h: one process per text, files in a folder of its own. The tool prints errors with positions and never writes on one.
#include "tests/support/ptoas.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace strew::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

std::optional<std::string> find_ptoas() {
  if (const char* named = std::getenv("PTOAS"); named != nullptr && *named != '\0') return named;
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/ptoas").c_str(), X_OK) == 0) return folder + "/ptoas";
  return std::nullopt;
}

PtoasAnswer run_ptoas(const std::string& tool, const std::string& text, const std::string& chip, const std::string& flags) {
  static int runs = 0;
  const fs::path folder = fs::temp_directory_path() / ("strew_ptoas_" + std::to_string(getpid()) + "_" + std::to_string(++runs));
  fs::create_directories(folder);
  std::ofstream(folder / "k.pto") << text;
  const std::string at = folder.string();
  const std::string command =
      "'" + tool + "' --pto-arch=" + chip + " " + flags + " '" + at + "/k.pto' -o '" + at + "/k.cpp' > '" + at + "/out' 2>&1";
  PtoasAnswer out;
  out.accepted = std::system(command.c_str()) == 0;
  out.cpp = out.accepted ? read(folder / "k.cpp") : "";
  std::istringstream lines(read(folder / "out"));
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos) out.errors += line + "\n";
  fs::remove_all(folder);
  return out;
}

}  // namespace strew::test
