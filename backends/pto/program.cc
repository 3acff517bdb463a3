// Names of program.h's kinds, as the side-car and messages have them. Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/program.h"

namespace strew::pto {

std::string_view name(ArgumentRole role) {
  switch (role) {
    case ArgumentRole::result:
      return "result";
    case ArgumentRole::operand:
      return "operand";
    case ArgumentRole::indices:
      return "indices";
    case ArgumentRole::updates:
      return "updates";
    case ArgumentRole::extra:
      return "extra";
    case ArgumentRole::scratch:
      return "scratch";
    case ArgumentRole::scalar:
      break;
  }
  return "scalar";
}

std::string_view name(CoreSplit split) {
  switch (split) {
    case CoreSplit::single:
      return "single";
    case CoreSplit::updates:
      return "updates";
    case CoreSplit::destinations:
      break;
  }
  return "destinations";
}

std::string_view name(Output output) {
  switch (output) {
    case Output::pto_as:
      return "pto-as";
    case Output::pto_ir:
      return "pto-ir";
    case Output::pto_cpp:
      break;
  }
  return "pto-cpp";
}

std::string_view name(Sync sync) {
  switch (sync) {
    case Sync::flags:
      return "flags";
    case Sync::addresses:
      return "addresses";
    case Sync::tool:
      break;
  }
  return "tool";
}

}  // namespace strew::pto
