/* A C program that links the runtime alone, and asks it for something that can fail. */
#include <strew/strew_rt.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  strew_kernel_ref* kernel = NULL;
  const strew_status status = strew_kernel_open(NULL, 0, NULL, &kernel);
  const int is_right = strew_status_code(status) == STREW_CODE_INVALID_ARGUMENT && strstr(strew_status_message(status), "kernel: null") != NULL;
  printf("strew %s: %s\n", strew_version(), strew_status_message(status));
  strew_status_free(status);
  return is_right ? 0 : 1;
}
