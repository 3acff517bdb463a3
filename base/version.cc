// The library's own version, fixed when it was compiled. Tested by tests/unit/version_test.cc.
#include "strew/version.h"

#define STREW_TEXT_(number) #number
#define STREW_TEXT(number) STREW_TEXT_(number)

extern "C" const char* strew_version(void) {
  return STREW_TEXT(STREW_VERSION_MAJOR) "." STREW_TEXT(STREW_VERSION_MINOR) "." STREW_TEXT(STREW_VERSION_PATCH);
}
