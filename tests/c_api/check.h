/* Checks for the tests of the C interface: a failed one prints its line and counts. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "strew/strew.h"

extern int failures;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

/* The status must be success; frees it. Returns 1 if it is. */
#define OK(status) check_ok(status, __FILE__, __LINE__)
static inline int check_ok(strew_status status, const char* file, int line) {
  if (status == NULL) return 1;
  printf("%s:%d: failed: %s\n", file, line, strew_status_message(status));
  strew_status_free(status);
  ++failures;
  return 0;
}

/* The status must be a failure of this code, with this text in its message; frees it. */
#define FAILS(status, code, text) check_failure(status, code, text, __FILE__, __LINE__)
static inline void check_failure(strew_status status, strew_code code, const char* text, const char* file, int line) {
  if (strew_status_code(status) != code || strstr(strew_status_message(status), text) == NULL) {
    printf("%s:%d: code %d, message '%s', expected code %d and '%s'\n", file, line, (int)strew_status_code(status),
           strew_status_message(status), (int)code, text);
    ++failures;
  }
  strew_status_free(status);
}
