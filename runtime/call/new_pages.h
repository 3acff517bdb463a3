// Whether memory was not touched yet. The system clears a page when it is first touched, and then has it in the caches: stores that bypass them wait until its lines have been written
// back. Gathers into arrays of 77 MB that a program's allocator had just taken from the system took 50 ms so on a Xeon with AMX, and 30 with plain stores; into arrays that were kept, 12 and 20.
// Tested by tests/unit/runtime/call/new_pages_test.cc.
#pragma once

#include "base/units.h"

namespace strew::inline v0 {

/// Has the system no page yet for the middle of these bytes? Of less than 1 MiB nobody asks, because the answer takes 0.3 us; nor of systems other than Linux. `data` need not be mapped.
bool has_new_pages(const void* data, Bytes bytes);

}  // namespace strew::inline v0
