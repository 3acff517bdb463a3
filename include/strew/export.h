// STREW_API marks what the shared libraries export. All other symbols are hidden (-fvisibility=hidden);
// cmake/exported_symbols.txt lists the exported ones, and the test exported_symbols compares the list with the
// libraries.
#pragma once

#if defined(__GNUC__)
#define STREW_API __attribute__((visibility("default")))
#else
#define STREW_API
#endif
