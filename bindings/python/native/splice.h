// Splicing of StableHLO modules, for strew.jax.
#pragma once

#include <nanobind/nanobind.h>

namespace strew::python {

/// Adds splice(text, fused, own_numerics): the text with calls of strew, (name, location, operations) of each call, and (operation, location, reason) of each scatter
/// and gather that stays XLA's.
void add_splice(nanobind::module_& module);

}  // namespace strew::python
