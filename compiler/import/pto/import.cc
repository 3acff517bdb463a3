// Parses the file, checks the chip's rules and lifts every function. Each function is a program of its own: its pointers and scalars are
// inputs, the pointers that it writes are outputs. In a file with several functions the names of inputs and outputs start with the
// function's name. Tested by tests/unit/compiler/import/pto/pto_import_test.cc and tests/error/pto_error_test.cc.
#include "compiler/import/pto/import.h"

#include "compiler/import/pto/lift.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {

Expected<Program> import_program(std::string_view text, const std::string& path, const ImportOptions&) {
  const auto placed = [&](const Status& status) { return Status(status.code(), path + ":" + status.message()); };
  const Expected<Module> module = parse(text);
  if (!module.ok()) return placed(module.status());
  if (const Status legal = verify(*module); !legal.ok()) return placed(legal);
  Program out;
  out.set_format("pto");
  for (const Function& f : module->functions) {
    const std::string prefix = module->functions.size() > 1 ? f.name + "." : "";
    STREW_TRY(Lifter(out, *module, f, path, prefix).run());
  }
  return out;
}

}  // namespace strew::inline v0::pto
