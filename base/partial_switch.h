// For a switch over an enum of so many values that a function which treats a few has to leave out the others: opcodes of NPUs and forms of
// their statements, and the operators of formats. Everywhere else a switch lists all values and has no `default:` (-Wswitch-enum), so that
// the compiler names each place that a new operator, dtype or policy has to be added to.
#pragma once

/// Between these two lines, a switch may have a `default:` for what it does not list.
#define STREW_PARTIAL_SWITCHES _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wswitch-enum\"")
#define STREW_END_PARTIAL_SWITCHES _Pragma("GCC diagnostic pop")
