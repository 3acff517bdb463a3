// Cutting: the part of a program between some values and others, as a program of its own.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

/// What lies between a cut's inputs and its outputs: value numbers, ascending.
struct CutNeeds {
  std::vector<int> inputs, inside;
};

/// Calls use(v) with every value that must be known before `v` is, unless `v` is an input.
template <class Use>
void each_needed(const ProgramParts& program, int v, const Use& use) {
  const Value& value = program.values[static_cast<size_t>(v)];
  each_source(program, value, use);
  if (value.kind == ValueKind::result) each_use(program.kernels[static_cast<size_t>(value.index)], use);
}

/// Walks back from the values `from` through kernels, stacks, extents and the operations around kernels. It stops at inputs of the file and at values
/// for which stops(value) says so, which are the cut's inputs, and at results of opaque operations, which are the caller's to look for.
CutNeeds cut_needs(const ProgramParts& program, std::vector<int> from, const std::function<bool(int)>& stops);

/// The program that computes `outputs` from the inputs of `needs`, which cut_needs() found for their values. Constants are moved.
Program make_cut(ProgramParts from, const CutNeeds& needs, const std::vector<ProgramOutput>& outputs);

}  // namespace strew::inline v0
