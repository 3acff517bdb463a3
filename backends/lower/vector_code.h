// Which lane loops become vector code: what a body reads and writes, and how it lies along the loop. Code generators and the passes of walk.h ask here.
// Tested by tests/golden/machine_code_test.cc and tests/differential.
#pragma once

#include <vector>

#include "backends/lower/kernel.h"

namespace strew::inline v0::lowered {

/// The tensors whose elements a body reads and writes; the results first. A private table's is the update that it is merged like.
STREW_API std::vector<int> tensors_of(const Plan& plan, const Body& body);
/// The tensor whose pointer leads to what the operand is an element of.
inline int pointer_of(const Plan& plan, const Operand& operand) {
  return operand.is(Operand::Kind::table) ? plan.update(operand.number) : operand.number;
}

/// Can iterations of `loop` be lanes of vectors? Results have stride 1, what is read has stride 1 or 0 (the same element for all lanes), and elements
/// are whole bytes.
STREW_API bool is_vector_code(const Plan& plan, const Body& body, const Loop& loop);
/// Can the inputs of a graph of the body be loaded in vectors: have those in memory stride 1 or 0 along `loop`, and elements of whole bytes?
STREW_API bool loads_vectors(const Plan& plan, const Body& body, const Expr& graph, const Loop& loop);
/// Elements per vector of so many bytes: as many as fill it with the widest type that the body reads, computes in or writes; at least 1.
STREW_API int lanes_of(const Plan& plan, const Body& body, int vector_bytes);

/// Of a row of constant length, the parts that one register each holds: whole vectors of `lanes` elements, then what is left in powers of two.
struct RowPart {
  int64_t first = 0;
  int lanes = 1;
};
STREW_API std::vector<RowPart> row_parts(int64_t length, int lanes);

}  // namespace strew::inline v0::lowered
