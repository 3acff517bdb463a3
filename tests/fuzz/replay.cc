// main() of a fuzz target without libFuzzer: runs the target once on every file named, and on every file below every folder named.
//
// ctest runs it on all seeds and on every input that ever broke something, in ordinary builds and in those of the sanitizers. Each file's
// name is printed before it is run, so that the last line names the one that crashed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

/// False if the file cannot be read.
bool replay(const fs::path& file) {
  std::cout << file.string() << std::endl;
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) return false;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return true;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    const fs::path path = argv[i];
    if (!fs::exists(path)) {
      std::cerr << path.string() << ": no such file or folder\n";
      return 1;
    }
    const std::vector<fs::path> all = fs::is_directory(path) ? files_below(path) : std::vector<fs::path>{path};
    for (const fs::path& file : all) {
      if (!replay(file)) {
        std::cerr << file.string() << ": cannot be read\n";
        return 1;
      }
      ++files;
    }
  }
  if (files == 0) {
    std::cerr << "no file to run: expected FILE or FOLDER...\n";
    return 1;
  }
  std::cout << files << " files ran\n";
  return 0;
}
