// A call of strew in a module's text: what a part of the program reads and makes there, and the program of the part as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/mlir_text.h"
#include "compiler/splice/policy.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Which values of the text the values of the program are.
struct ValueMap {
  ValueMap(const Program& program, const TextIndex& index);
  std::vector<int> program_value;             ///< per value of the text; -1: none is known
  std::vector<std::vector<int>> text_values;  ///< per value of the program, ascending by where they are defined
  std::vector<int> statement_of_node;         ///< per node of the program; -1: it has none
};

struct PlannedCall {
  int block = -1;
  std::vector<int> statements;  ///< what the part's program holds, in the text's order
  std::vector<int> inputs;      ///< values of the text: the operands
  std::vector<std::vector<int>>
      outputs;  ///< per result: the values of the text that it takes the place of, the one of the first maker first
  std::vector<std::pair<int, int>> in_place;  ///< result number, operand number
  std::string kernel, location;
  std::vector<std::string> operations;
  std::string program;  ///< the text of the part's module
};

/// The call that does what the part does. Fails if the text can't be changed so: the message is the reason, a sentence.
Expected<PlannedCall> make_call(std::string_view text, const TextIndex& index, const ValueMap& values, const Program& program,
                                const ChosenPart& part);

/// What stands behind the equal sign of the call's statement. `operands`: the names of the inputs.
std::string call_text(const TextIndex& index, const PlannedCall& call, const std::vector<std::string>& operands);

}  // namespace strew::inline v0
