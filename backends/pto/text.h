// Programs as text, in each flavour that can be asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/program.h"

namespace strew::inline v0::pto {

/// All programs of one file, which must be for one chip: pto-as (one program), pto-ir, pto-ir-generic or pto-cpp.
Expected<std::string> program_text(const std::vector<Program>& programs, std::string_view kind);

/// The programs in pto-isa C++.
std::string print_cpp(const std::vector<Program>& programs);

/// A C++ function per program that shows a caller what to pass, how to launch and what to guarantee. `side_car`: the name of the JSON
/// beside it.
std::string print_host(const std::vector<Program>& programs);

}  // namespace strew::inline v0::pto
