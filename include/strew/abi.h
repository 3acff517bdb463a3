/* The binary interface between generated code and its caller. C, no dependencies: pre-generated libraries include it too.
 *
 * Every entry of an artifact is one function over a work range; kernels never start threads, allocate or print. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STREW_ABI_VERSION 1u

enum { STREW_OK = 0, STREW_FAULT = 1 };
enum { STREW_STREAM = 1 }; /* init: the result is larger than the caches, so store past them */

/* Where the first bad index stands, as the user gave it. position: row-major number of the index position; component: which entry of
 * the index vector; value: the index before normalisation (for u64 indices its bits); bound: the largest legal value. */
typedef struct strew_fault {
  int64_t position, component, value, bound;
} strew_fault;

typedef struct strew_args {
  uint32_t abi;       /* STREW_ABI_VERSION */
  uint32_t flags;     /* STREW_STREAM or 0 */
  void* const* data;  /* element [0,...,0] of: results N, operands N, indices, updates N, extras E; unbound operands are null */
  const int64_t* dyn; /* run-time dims and strides, in the order of the plan's symbols */
  const void* pos;    /* list: (position - n_list, less than 2^31) | key << 32 (uint64_t) */
  const void* key;    /* keys writes: destinations (uint32_t, in units of the plan's key; all bits set = dropped) */
  int64_t n_list;     /* keys: the position that key[0] belongs to; list: the position that stands as 0 */
  int64_t w0, w1;     /* range, clip: sub-range of the plan's first window loop; [0, extent) is everything */
  int64_t k0, k1; /* clip: operand coordinates of the dim whose index moves that loop (if one does); [0, extent) is everything.
                         merge: bytes from one result's private table to the next in k0 */
  void* scratch;  /* merge: the private table of result 0 */
} strew_args;

/* begin, end: index positions (range, clip, check, keys), entries of pos and key (list), elements of the result's init loop (init). STREW_OK or STREW_FAULT with *fault filled. */
typedef int32_t (*strew_entry)(const strew_args* args, int64_t begin, int64_t end, strew_fault* fault);

#ifdef __cplusplus
}
#endif
