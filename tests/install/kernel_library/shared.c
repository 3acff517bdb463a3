/* Calls a kernel of a shared library. It calls ceil(), which CPUs of the baseline have no instruction for. Exit: 0 right. */
#include <string.h>

#include "shared_kernels.h"

int main(void) {
  float table[4] = {1, 2, 3, 4};
  const float updates[3] = {0.5f, 7, -1.5f}, expected[4] = {-1, 2, 1, 4};
  const int64_t places[3] = {2, 9, 0};
  strew_context_options options = STREW_CONTEXT_OPTIONS_INIT;
  strew_context* context = NULL;
  options.cpu = "x86-64";
  if (shared_kernels_open(&options, &context) != NULL || round_up_at(context, table, places, updates) != NULL) return 1;
  strew_context_free(context);
  return memcmp(table, expected, sizeof table) == 0 ? 0 : 2;
}
