// See program_batch.h. Tested by strew_npu_compiled.
#include "tests/differential/npu_compiled/program_batch.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/pto/instructions.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

namespace strew::test {
namespace {

namespace fs = std::filesystem;

std::string compiler() {
  const char* const named = std::getenv("CXX");
  return named != nullptr && *named != 0 ? named : "c++";
}

/// The launchers, and for each a function that takes its arguments as a list.
std::string host_text(const std::vector<pto::TileProgram>& programs) {
  std::string out = fmt::format(
      "#include \"tests/pto_cpu/machine/launch.h\"\n"
      "#define STREW_KERNEL\n"
      "#define STREW_LAUNCH(kernel, blocks, stream, ...) \\\n"
      "  pto_cpu::run(*static_cast<pto_cpu::Launch*>(stream), pto_cpu::Chip::{}, blocks, [=] {{ kernel(__VA_ARGS__); }})\n",
      pto::name(programs[0].chip));
  out += pto::print_host(programs);
  out += "struct Argument { void* memory; int32_t number; };\n";
  for (const pto::TileProgram& program : programs) {
    out += fmt::format("extern \"C\" void call_{0}(const Argument* a, void* stream, int blocks) {{ launch_{0}(", program.kernel);
    for (size_t i = 0; i < program.arguments.size(); ++i)
      if (program.arguments[i].role != pto::ArgumentRole::launch)
        out += fmt::format("a[{}].{}, ", i, program.arguments[i].role == pto::ArgumentRole::scalar ? "number" : "memory");
    out += "stream, blocks); }\n";
  }
  return out;
}

}  // namespace

bool has_compiler() { return std::system(("command -v " + compiler() + " > /dev/null 2>&1").c_str()) == 0; }

Expected<ProgramBatch> ProgramBatch::compile(std::vector<pto::TileProgram> programs, const fs::path& folder) {
  fs::create_directories(folder);
  const std::string kernels = pto::print_cpp(programs);
  std::ofstream(folder / "kernels.cc") << kernels;
  std::ofstream(folder / "host.cc") << host_text(programs);
  const std::string errors = (folder / "errors.txt").string(), object = (folder / "kernels.so").string();
  // What C++ leaves undefined stops the kernel.
  const std::string command = fmt::format(
      "{0} -std=c++20 -O1 -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero "
      "-fsanitize-undefined-trap-on-error -fPIC -shared -D__NPU_ARCH__={1} -I{2} -I{2}/tests/pto_cpu {3}/kernels.cc {3}/host.cc "
      "{6}/libstrew_pto_cpu.so -Wl,-rpath,{6} -o {4} 2> {5}",
      compiler(), programs[0].chip == pto::Chip::a3 ? 2201 : 3101, source_folder().string(), folder.string(), object, errors,
      built_libraries().string());
  if (std::system(command.c_str()) != 0)
    return internal_error("the C++ does not compile: " + command + "\n" + read_text(errors).substr(0, 4000));
  // RTLD_NOW: a name that is nowhere is found here.
  void* const opened = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return internal_error(std::string("the object does not open: ") + dlerror());
  ProgramBatch out;
  std::istringstream text(kernels);
  for (std::string line; std::getline(text, line);) out.lines_.push_back(line);
  for (const pto::TileProgram& program : programs) {
    out.entries_.push_back(reinterpret_cast<Entry>(dlsym(opened, ("call_" + program.kernel).c_str())));
    if (out.entries_.back() == nullptr) return internal_error("the object has no launcher of " + program.kernel);
  }
  out.programs_ = std::move(programs);
  return out;
}

void ProgramBatch::launch(size_t i, std::vector<Argument> arguments, pto_cpu::Launch& launch, int blocks) const {
  entries_[i](arguments.data(), &launch, blocks);
}

}  // namespace strew::test
