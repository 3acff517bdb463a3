// assign(): what STREW_ASSIGN does to a variable that is declared already, as one statement: if (has_axes) STREW_TRY(assign(axes, read_axes())).
// Tested by tests/unit/base/status_test.cc.
#pragma once

#include <utility>

#include "strew/status.h"

namespace strew::inline v0 {

/// Gives the variable the value, if there is one; else the variable stays as it is, and the result says why there is none.
template <class T, class U>
Status assign(T& variable, Expected<U> value) {
  if (value.ok()) variable = *std::move(value);
  return value.status();
}

}  // namespace strew::inline v0
