// The passes over a program that is written, in the order in which plan_program() runs them. Each is in the file of its name:
// addresses.cc, cost.cc, guard.cc, flags.cc, unroll.cc. And for them and the builder: the names of a program's values, and a walk over its
// statements. Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/program.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

/// The names that are taken. They are never freed.
class Names {
 public:
  void add(const std::string& name) { taken_.insert(name); }
  /// `hint`, or the hint with the first number behind it that makes it a new name: a, a_2, a_3.
  std::string fresh(const std::string& hint) {
    std::string name = hint;
    if (taken_.insert(name).second) return name;
    // The search continues where the last one ended: a large expression uses one hint thousands of times.
    int& next = next_number_.try_emplace(hint, 2).first->second;
    do name = hint + "_" + std::to_string(next++);
    while (!taken_.insert(name).second);
    return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_number_;  ///< for each hint: the next number to try
};

/// A constant is named after its value: c16, cm1, c16_i32, bits1065353216_f32.
inline std::string constant_name(int64_t value) {
  return value < 0 ? "cm" + std::to_string(value).substr(1) : "c" + std::to_string(value);
}
inline std::string constant_name(int64_t value, const Element& element) {
  const std::string index = constant_name(value);
  return (is_float(element.dtype) ? "bits" + index.substr(1) : index) + "_" + print(element);
}

/// The argument that is the number of the launch.
inline constexpr std::string_view kLaunch = "launch";

/// Calls `visit` for every statement, and for the statements of its bodies after it.
template <class Statements, class Visit>
void each(Statements& statements, const Visit& visit) {
  for (auto& s : statements) {
    visit(s);
    each(s.body, visit);
    each(s.otherwise, visit);
  }
}

/// How many bytes the tiles take in the vector core's unified buffer (UB) and in the cube core's L1.
struct PlacedBytes {
  int64_t ub = 0, l1 = 0;
};
/// Computes the addresses of all tiles of a function. `write`: also writes them into the statements as `addr` operands,
/// which ptoas' level3 and C++ need; without them ptoas places the tiles itself, and only the sizes are of interest.
PlacedBytes place_tiles(Function& function, bool write);

/// What the builder knows of a program's cost and its statements do not say.
struct CostInputs {
  Chip chip = Chip::a5;
  int64_t cores = 1, launches = 1;
  std::map<std::string, int64_t> read;  ///< what numbers that are read from memory or tiles are about; all others count as 0
  std::set<std::string> moved;          ///< the tiles whose moves to or from memory are counted as tiles of data
};
/// What core 0 does, which has no less to do than the others.
CoreCost first_core_cost(const Function& function, const CostInputs& inputs);
/// Fills in the cost of the program, from what each of its cores does.
void add_cost(TileProgram& program, const CostInputs& inputs);
/// What each launch after the first one costs, in instruction starts. A guess: nobody has published a measurement of it for such kernels (docs/npu.md,
/// "How the planner chooses"). A test holds that no case of the benchmark takes another number of launches for a third of it, or three times
/// as much.
constexpr double kLaunchCost = 200;
/// The estimated time of a core, in instruction starts. With two buffers, the pipes move different tiles at a time.
double time_of(const CoreCost& cost, int buffers);

/// Changes nested arithmetic that ptoas 0.60 would write without the parentheses that it needs. Fails with Code::internal on
/// arithmetic that cannot be protected: a comparison used as a number, or a number narrower than 64 bits that is widened
/// afterwards. The planner writes neither.
Status guard_arithmetic(Function& function);

/// Inserts flags between the pipes of a core and barriers of one pipe, from what each statement reads and writes, into a
/// function that has none but barriers of all pipes, which stay. `apart`: names of pointers whose memory no two statements
/// write at the same place, so that stores to it need no order.
void write_flags(Function& function, Chip chip, const std::set<std::string>& apart = {});

/// Turns the planned program of one core, in which all numbers are known, into PTO-AS: loops are unrolled, arithmetic on
/// numbers is evaluated, and every write of a tile defines a new value. Fails with the reason if the grammar cannot express
/// the program.
Status unroll(TileProgram& program, Chip chip);

}  // namespace strew::inline v0::pto
