/* Calls the entry of a kernel without libstrew_rt, libc or an operating system's start-up code: KERNEL is its descriptor, rows of 4 floats
 * added to a table of 6 rows. Ends with status 0 if the result is right. For embedded users. */
#include <stddef.h>

#include "strew/abi.h"

extern const strew_kernel KERNEL;

/* What generated code may call. */
void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return to;
}
void* memmove(void* to, const void* from, size_t bytes) {
  if ((const char*)to < (const char*)from) return memcpy(to, from, bytes);
  while (bytes-- > 0) ((char*)to)[bytes] = ((const char*)from)[bytes];
  return to;
}
void* memset(void* to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((char*)to)[i] = (char)value;
  return to;
}

static int run(void) {
  static float table[6 * 4], updates[3 * 4];
  static int32_t indices[3] = {5, 0, 5};
  for (int i = 0; i < 12; ++i) updates[i] = 1;
  void* const data[4] = {table, NULL, indices, updates}; /* results, operands (not bound: in place), indices, updates */
  int64_t dyn[8] = {0};
  /* The descriptor says which extent each symbol is. */
  const int64_t dims[3][2] = {{6, 4}, {3, 0}, {3, 4}};
  for (uint32_t i = 0; i < KERNEL.symbol_count; ++i) dyn[i] = dims[KERNEL.symbols[i].tensor][KERNEL.symbols[i].dim];
  strew_args args = {0};
  strew_fault fault;
  args.abi = STREW_ABI_VERSION;
  args.data = data;
  args.dyn = dyn;
  args.w1 = 4;
  if (KERNEL.entries[STREW_ENTRY_check](&args, 0, 3, &fault) != STREW_OK) return 1;
  if (KERNEL.entries[STREW_ENTRY_range](&args, 0, 3, &fault) != STREW_OK) return 2;
  if (table[0] != 1 || table[3] != 1 || table[4] != 0 || table[20] != 2 || table[23] != 2) return 3;
  indices[1] = 6;
  return KERNEL.entries[STREW_ENTRY_check](&args, 0, 3, &fault) == STREW_FAULT && fault.position == 1 && fault.value == 6 ? 0 : 4;
}

__attribute__((force_align_arg_pointer)) void _start(void) {
  const long status = run();
  __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory"); /* exit_group */
  for (;;) {
  }
}
