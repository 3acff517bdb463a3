// The version of strew: of the headers that a program is compiled with, and of the library that it runs with. For C and C++.
// docs/versioning.md says what each number promises. CMakeLists.txt reads the three numbers from here.
#pragma once

#include "strew/export.h"

#define STREW_VERSION_MAJOR 0
#define STREW_VERSION_MINOR 2
#define STREW_VERSION_PATCH 0
/// The headers' version as one number, for comparisons by the preprocessor: 0.1.0 is 100, 1.2.3 is 10203.
#define STREW_VERSION (STREW_VERSION_MAJOR * 10000 + STREW_VERSION_MINOR * 100 + STREW_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the loaded library, such as "0.1.0". Both libstrew and libstrew_rt export it. The text is static and
/// never null. Thread-safe.
STREW_API const char* strew_version(void);

#ifdef __cplusplus
}
#endif
