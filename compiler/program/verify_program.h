// verify(ProgramParts): is a program that a front end made, or that the folds changed, one that the code behind it may index into?
#pragma once

#include "strew/program.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Fails with Code::internal, and names what is wrong, unless every number in `program` is in its range, values do not depend on themselves, a
/// kernel reads only what is known before it runs, and what is read has the kind, dtype and rank that its reader expects. Linear in the size
/// of the program without its constants' bytes.
Status verify(const ProgramParts& program);

}  // namespace strew::inline v0
