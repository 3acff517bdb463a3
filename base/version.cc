// The version of the library, which is fixed when the library is compiled. Tested by tests/unit/base/version_test.cc.
#include "strew/version.h"

#define STREW_TEXT_(number) #number
#define STREW_TEXT(number) STREW_TEXT_(number)

extern "C" const char* strew_version(void) {
  return STREW_TEXT(STREW_VERSION_MAJOR) "." STREW_TEXT(STREW_VERSION_MINOR) "." STREW_TEXT(STREW_VERSION_PATCH);
}
