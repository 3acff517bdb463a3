// program_text() and print_host(), which writes a header with a C++ function per program that launches the kernel on a
// stream of the Ascend runtime. Its comments repeat the program's JSON description: the parameters in the kernel's order
// with role and shape, the requirements, and the number of cores. The header is for the device compiler, which accepts
// <<<..>>>.
// Tested by tests/unit/backends/pto/pto_cpp_test.cc.

#include "backends/pto/program.h"
#include "base/fp_environment.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/print.h"

namespace strew::inline v0::pto {
namespace {

std::string listed(const std::vector<int64_t>& numbers) {
  std::string out;
  for (size_t d = 0; d < numbers.size(); ++d)
    out += (d > 0 ? "," : "") + (numbers[d] == kDynamic ? std::string("?") : std::to_string(numbers[d]));
  return out;
}
std::string shape_text(const ProgramArgument& a) {
  const std::string strides =
      a.strides.empty() ? "" : " with strides " + listed(a.strides) + " (the pointer is its lowest element)";
  return std::string(name(a.dtype)) + "[" + listed(a.dims) + "]" + strides;
}

std::string launcher(const TileProgram& p) {
  std::string declared, parameters, launch,
      comment = "// " + p.kernel + " on " + std::string(name(p.chip)) + ": " + p.tiles.mode + " mode, cores share " +
                std::string(name(p.tiles.split)) + ".\n";
  for (size_t i = 0; i < p.arguments.size(); ++i) {
    const ProgramArgument& a = p.arguments[i];
    if (a.role == ArgumentRole::launch) {
      parameters += ", int32_t " + a.name;
      launch += ", " + a.name;
      continue;
    }
    const bool scalar = a.role == ArgumentRole::scalar;
    comment += "//   " + a.name + ": " + std::string(name(a.role)) + (scalar ? "" : ", " + shape_text(a));
    if (a.tensor >= 0)
      comment += std::string(a.is_stride ? ", stride of dim " : ", dim ") + std::to_string(a.dim) + " of " +
                 p.arguments[static_cast<size_t>(a.tensor)].name;
    comment += "\n";
    declared += std::string(i > 0 ? ", " : "") + (scalar ? "int32_t " : "void* ") + a.name;
    parameters += std::string(i > 0 ? ", " : "") + (scalar ? "int32_t " : "void* ") + a.name;
    launch += (i > 0 ? ", " : "") + a.name;
  }
  for (const std::string& requirement : p.requirements) comment += "// The caller sees to it that " + requirement + ".\n";
  const std::string times =
      p.launches == 1 ? "  " : "  for (int32_t launch = 0; launch < " + std::to_string(p.launches) + "; ++launch) ";
  return "\n" + comment + "extern \"C\" STREW_KERNEL void " + p.kernel + "(" + parameters + ");\n" + "inline void launch_" +
         p.kernel + "(" + declared + ", void* stream, int blocks = " + std::to_string(p.blocks) + ") {\n" + times +
         "STREW_LAUNCH(" + p.kernel + ", blocks, stream, " + launch + ");\n}\n";
}

}  // namespace

std::string print_host(const std::vector<TileProgram>& programs) {
  std::string out =
      "// Written by strew: how to call the kernels beside this file. Pointers are device memory; any number of blocks is "
      "right.\n"
      "#pragma once\n\n#include <cstdint>\n\n"
      "#if defined(__CCE__) && !defined(STREW_LAUNCH)\n#define STREW_KERNEL __global__ [aicore]\n"
      "#define STREW_LAUNCH(kernel, blocks, stream, ...) kernel<<<blocks, nullptr, stream>>>(__VA_ARGS__)\n"
      "#elif !defined(STREW_LAUNCH)\n#error \"define STREW_KERNEL and STREW_LAUNCH(kernel, blocks, stream, ...) for your "
      "runtime\"\n"
      "#endif\n";
  for (const TileProgram& program : programs) out += launcher(program);
  return out;
}

Expected<std::string> program_text(const std::vector<TileProgram>& programs, std::string_view kind) {
  const FpEnvironment environment(true);
  if (kind == "pto-cpp") return print_cpp(programs);
  if (kind == "pto-host") return print_host(programs);
  if (kind == "pto-as" && programs.size() != 1)
    return unsupported("pto-as: there are " + std::to_string(programs.size()) +
                       " kernels, expected one: the grammar has no functions; name one with --kernel");
  Module module = programs[0].module;
  for (size_t i = 1; i < programs.size(); ++i)
    module.functions.insert(module.functions.end(), programs[i].module.functions.begin(), programs[i].module.functions.end());
  return print(module, kind == "pto-ir-generic" ? TextForm::generic : TextForm::pretty);
}

}  // namespace strew::inline v0::pto
