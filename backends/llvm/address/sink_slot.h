// Where single elements go that lie outside: a spare element per result, or the fill value. It saves a branch that would be mispredicted.
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew {

/// Can what is outside be redirected instead of branched over? Single elements of whole bytes can: dropped updates to memory that nobody
/// reads, gathers to a copy of the fill value.
bool uses_sink_slot(const Frame& frame);

/// The indexed tensors' pointers, unless the i1 `inside` holds, become those of sink.
void redirect_to_sink(Frame& frame, llvm::Value* inside, Pointers& p);

}  // namespace strew
