// Modules for the tests of splicing, and what is looked at in the results.
#pragma once

#include <string>

#include "strew/partition.h"
#include "strew/status.h"
#include "tests/support/spliced.h"

namespace strew {

/// The text, with its calls of functions inlined, and with a call for each part that the options give, but for those that a call cannot stand for. Fails
/// if the text is not read again.
Expected<std::string> rewritten(const std::string& text, const PartitionOptions& options);

inline constexpr char kTypes[] = " : (tensor<8x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<8x3xf32>";

/// A statement of an addition of rows, as JAX writes it.
inline std::string scatter(const std::string& result, const std::string& operand, const std::string& indices,
                           const std::string& updates, const std::string& names = "r") {
  return "    " + result + " = \"stablehlo.scatter\"(" + operand + ", " + indices + ", " + updates +
         ") <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
         "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n    ^bb0(%" +
         names + "0: tensor<f32>, %" + names + "1: tensor<f32>):\n      %" + names + "2 = stablehlo.add %" + names + "0, %" +
         names + "1 : tensor<f32>\n      stablehlo.return %" + names + "2 : tensor<f32>\n    })" + kTypes + "\n";
}

inline constexpr char kArguments[] = "%x: tensor<8x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>";

inline std::string module(const std::string& arguments, const std::string& results, const std::string& body) {
  return "module @m attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main(" + arguments + ") -> (" + results +
         ") {\n" + body + "  }\n}\n";
}

/// The text without the programs of its calls.
inline std::string short_text(std::string text) {
  size_t at = 0;
  while ((at = text.find(" {api_version", at)) != std::string::npos) text.erase(at, text.find("} : (", at) + 1 - at);
  return text;
}

inline std::string program_of(const std::string& text, size_t from = 0) {
  return test::unquoted(text, text.find("program = ", from) + std::string("program = ").size());
}

}  // namespace strew
