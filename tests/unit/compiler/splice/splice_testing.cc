// See splice_testing.h.
#include "tests/unit/compiler/splice/splice_testing.h"

#include <utility>
#include <vector>

#include "base/module.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/mlir_module.h"
#include "compiler/splice/call.h"
#include "compiler/splice/inline_calls.h"
#include "compiler/splice/rewrite.h"

namespace strew {

Expected<std::string> rewritten(const std::string& text, const PartitionOptions& options) {
  STREW_ASSIGN(const MlirModule* module,
               open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "a test"));
  STREW_ASSIGN(MlirText read, module->read_text(text, "FILE", {}));
  std::string own = text;
  if (has_calls(read.index)) {
    STREW_ASSIGN(InlinedText inlined, inline_calls(text, read.index));
    own = std::move(inlined.text);
    STREW_ASSIGN(read, module->read_text(own, "INLINED", {}));
  }
  STREW_ASSIGN(const Program program, finish_import(std::move(read.program), "FILE", {}));
  STREW_ASSIGN(const std::vector<Part> parts, partitions(program, options));
  const ValueMap values(program, read.index);
  std::vector<PlannedCall> calls;
  for (const Part& part : parts) {
    Expected<PlannedCall> call = make_call(own, read.index, values, program, {part, {}});
    if (call.ok())
      calls.push_back(std::move(*call));
    else if (call.status().code() != Code::unsupported)
      return call.status();
  }
  STREW_ASSIGN(std::string out, with_calls(own, read.index, calls));
  STREW_TRY(module->read_text(out, "SPLICED", {}).status());
  return out;
}

}  // namespace strew
