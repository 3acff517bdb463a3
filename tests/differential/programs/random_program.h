// random_program: programs of a few nodes, some of which are several operations, as front ends make them: gathers and scatters, and between them movement, elementwise work,
// reductions and scans, with several readers of one value, constants, open extents, and inputs that are outputs.
//
// Each node is drawn from a stream of its own, so that a program without its last nodes is the program that those were added to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "strew/program.h"
#include "tests/differential/programs/extents.h"

namespace strew::test {

/// What an input holds.
struct DrawnInput {
  enum class Kind : uint8_t {
    data,   ///< any elements
    index,  ///< indices
    few,    ///< small numbers around 0: starts of slices
  };
  Kind kind = Kind::data;
  DType dtype = DType::f32;
  ExtentIds dims;
  /// index: element e is below bounds[e % bounds.size()], which are one per component of the index vectors.
  ExtentIds bounds = {};
  bool counts_from_end = false;  ///< index: it may also be as far below 0
  /// index: what an element outside its bounds does.
  enum class Outside : uint8_t {
    never,   ///< it is undefined, so that there is none
    fails,   ///< it fails the call, so that few calls have one
    allowed  ///< the policy says what happens
  } outside = Outside::never;
};

struct RandomProgram {
  Program program;
  Extents extents;
  std::vector<DrawnInput> inputs;  ///< one per input of the program
  std::vector<bool> is_moved;  ///< per output: its elements are elements of inputs and constants, so that NaNs keep their bits
  std::map<std::string, int> nodes;    ///< how many of each kind it has
  std::map<std::string, int> refused;  ///< why nodes were not built: this builder's mistakes, and rules of shapes
};

/// How many nodes this seed's program is drawn with.
int node_count(uint64_t seed);
/// The first `nodes` nodes of the seed's program but for those that are left out.
RandomProgram random_program(uint64_t seed, int nodes, const std::set<int>& without = {});
/// The names of all kinds of nodes.
std::vector<std::string> node_kinds();

/// The program as text: inputs, operations, kernels and outputs.
std::string listing(const Program& program);

}  // namespace strew::test
