// See text.h. Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/text.h"

#include "base/fp_environment.h"
#include "compiler/pto/print.h"

namespace strew::inline v0::pto {

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
