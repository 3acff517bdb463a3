/* The binary interface between generated code and whoever calls it. C, no dependencies: pre-generated libraries include it too.
 *
 * An object exports one symbol per kernel, a constant strew_kernel: what a call has to know (tensors, symbols, constraints between dims,
 * the work and how it may be shared out) and the entries, which are functions over a range of that work. runtime/call runs any kernel from
 * its descriptor alone. Kernels never start threads, allocate or print.
 *
 * Counts stand before the arrays they count. An array of no elements may be null. Texts are UTF-8, never null. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STREW_ABI_VERSION 2u

enum { STREW_OK = 0, STREW_FAULT = 1 };

/* ---- Entries ---------------------------------------------------------------------------------------------------------------------- */

enum { STREW_STREAM = 1 }; /* strew_args.flags, of init: the result is larger than the caches, so store past them */

/* Where the first bad index stands, as the user gave it. position: row-major number of the index position; component: which entry of
 * the index vector; value: the index before normalisation (for u64 indices its bits); bound: the largest legal value. */
typedef struct strew_fault {
  int64_t position, component, value, bound;
} strew_fault;

typedef struct strew_args {
  uint32_t abi;       /* STREW_ABI_VERSION */
  uint32_t flags;     /* STREW_STREAM or 0 */
  void* const* data;  /* element [0,...,0] of: results N, operands N, indices, updates N, extras E; unbound operands are null */
  const int64_t* dyn; /* the values of strew_kernel.symbols */
  const void* pos;    /* list: (position - n_list, less than 2^31) | key << 32 (uint64_t) */
  const void* key;    /* keys writes: destinations (uint32_t, in units of strew_kernel.key_bytes; all bits set = dropped) */
  int64_t n_list;     /* keys: the position that key[0] belongs to; list: the position that stands as 0 */
  int64_t w0, w1;     /* range, clip: sub-range of the plan's first window loop; [0, extent) is everything */
  int64_t k0, k1; /* clip: operand coordinates of the dim whose index moves that loop (if one does); [0, extent) is everything.
                         merge: bytes from one result's private table to the next in k0 */
  void* scratch;  /* merge: the private table of result 0 */
} strew_args;

/* begin, end: index positions (range, clip, check, keys), entries of pos and key (list), elements of the result's init loop (init).
 * STREW_OK or STREW_FAULT with *fault filled. */
typedef int32_t (*strew_entry)(const strew_args* args, int64_t begin, int64_t end, strew_fault* fault);

/* The kinds of entries: places in strew_kernel.entries. STREW_ENTRIES(F) is F(kind, what it does) for each. */
#define STREW_ENTRIES(F)                                      \
  F(range, "applies index positions")                         \
  F(check, "finds the smallest bad position, then component") \
  F(init, "copies or fills the result")                       \
  F(keys, "tells where positions go")                         \
  F(list, "applies listed positions")                         \
  F(merge, "combines a private table into the result")        \
  F(clip, "applies what falls into a range of operand coordinates")
enum {
#define STREW_ENTRY_NUMBER(kind, what) STREW_ENTRY_##kind,
  STREW_ENTRIES(STREW_ENTRY_NUMBER)
#undef STREW_ENTRY_NUMBER
      STREW_ENTRY_COUNT
};

/* ---- The descriptor --------------------------------------------------------------------------------------------------------------- */

/* factor times the product of the symbols whose numbers are strew_kernel.factors[first, first + count). */
typedef struct strew_term {
  int64_t factor;
  uint32_t first, count;
} strew_term;

enum { STREW_RESULT, STREW_OPERAND, STREW_INDICES, STREW_UPDATES, STREW_EXTRA }; /* roles, in binding order */

/* An extent or stride that the call says. */
#define STREW_OPEN INT64_MIN

/* A tensor that a call binds. Tensors stand in binding order. */
typedef struct strew_tensor_rule {
  const char* name;       /* in messages: "updates 0" */
  const char* dtype_name; /* "bf16" */
  uint8_t dtype;          /* DType */
  uint8_t role;
  uint8_t is_open; /* some extent or stride is the call's */
  uint8_t bits;    /* of an element, 2 to 128 */
  uint32_t rank;
  uint32_t data;          /* its place in strew_args.data */
  int32_t may_be;         /* result of init copy: the operand whose buffer it may be; else -1 */
  const int64_t* dims;    /* rank extents */
  const int64_t* strides; /* rank strides in elements, or null: row-major */
} strew_tensor_rule;

/* dyn[i]: an extent or stride of a bound tensor. */
typedef struct strew_symbol {
  uint32_t tensor, dim, is_stride;
} strew_symbol;

enum {
  STREW_EQUAL,     /* the dim is the other dim */
  STREW_AT_MOST,   /* ... or less */
  STREW_NOT_EMPTY, /* the dim has an extent, unless tensor `other` has no elements */
  STREW_EMPTY,     /* the dim is 0, unless tensor `other` has no elements */
  STREW_NOTHING,   /* the tensor has no elements */
  STREW_DISTINCT   /* the tensor's elements lie at different addresses */
};
/* What must hold between the extents of a call. Constraints that hold for every call are left out. */
typedef struct strew_constraint {
  const char* label; /* in messages: "scatter_c4" (docs/op_text.md) */
  uint32_t kind;
  uint32_t tensor, dim, other, other_dim;
} strew_constraint;

/* A loop of positions or components that moves the result: keys reach `step` times `extent` - 1, in units of key_bytes. */
typedef struct strew_reach {
  strew_term extent;
  int64_t step;
} strew_reach;

/* A window and the dim it moves in. */
typedef struct strew_cover {
  strew_term window, dim;
} strew_cover;

enum { STREW_IN_PLACE, STREW_COPY, STREW_FILL }; /* what the result holds before the updates */

/* strew_kernel.strategy: how apply is shared out over threads. STREW_STRATEGIES(F) is F(number, name in texts). */
#define STREW_STRATEGIES(F)   \
  F(sequential, "sequential") \
  F(positions, "positions")   \
  F(window, "window")         \
  F(owner, "owner")           \
  F(radix, "radix")           \
  F(runs, "runs")             \
  F(clip, "clip")             \
  F(private_tables, "private")
enum {
#define STREW_STRATEGY_NUMBER(strategy, text) STREW_STRATEGY_##strategy,
  STREW_STRATEGIES(STREW_STRATEGY_NUMBER)
#undef STREW_STRATEGY_NUMBER
      STREW_STRATEGY_COUNT
};

/* Wide accumulation: the parts that a kernel is made of. */
enum { STREW_FOLD, STREW_NARROW, STREW_START, STREW_PART_COUNT };

typedef struct strew_kernel {
  uint32_t abi;         /* STREW_ABI_VERSION */
  uint32_t size;        /* of this struct, bytes */
  const char* name;     /* the symbol of this descriptor */
  const char* identity; /* the text of the op (docs/op_text.md), the same for all its spellings */
  const char* features; /* the CPU features that the entries use: "avx2,fma"; "" none beyond the architecture's first version */

  /* Tensors and shapes. */
  uint32_t tensor_count;
  uint32_t data_count; /* places in strew_args.data */
  uint32_t result_count;
  uint32_t symbol_count;
  uint32_t constraint_count;
  uint32_t factor_count;
  const strew_tensor_rule* tensors;
  const strew_symbol* symbols;
  const strew_constraint* constraints;
  const uint32_t* factors;

  /* Work. */
  strew_term positions; /* index positions */
  strew_term window;    /* elements of a window */
  strew_term splits;    /* iterations of the first window loop, 1 where there is none */
  strew_term init;      /* elements of a result */
  uint8_t is_gather;
  uint8_t init_kind;
  uint8_t checks_first;    /* policy error: the check entry runs over all positions before anything is written */
  uint8_t computes_floats; /* needs the default floating-point environment */
  uint8_t may_overwrite;   /* init is needless where positions * window == init and every cover is whole */
  uint8_t packs_results;   /* a result has elements of less than a byte */
  uint8_t regroups;        /* private: any grouping of the updates gives the same bits */
  uint8_t widens_touched;  /* wide accumulation: the parts are such that only what updates touch need be widened */
  uint8_t strategy;
  uint32_t tables;      /* private: most tables */
  uint32_t scratch_mib; /* most scratch of a call */
  uint32_t cover_count;
  uint32_t reach_count;
  const strew_cover* covers;

  /* How chunks may be cut: a border in the result at every multiple of these strides (elements of result 0). */
  strew_term position_stride; /* of the innermost position loop; 0: positions do not lie side by side */
  strew_term slab;            /* positions that stay together; factor 0: any chunk of positions may be cut */
  strew_term window_stride;   /* of the first window loop */
  strew_term clip_extent;     /* of the operand dim that an index moves the first window loop in; 1: none does */
  strew_term clip_stride;
  int64_t key_bytes; /* of the result per unit of a key */
  const strew_reach* reaches;
  const uint64_t* identities; /* private: per result, the bits that combine with any x to x */

  /* Policy error: how a bad index is told. */
  uint32_t index_tensor, table_tensor; /* places in tensors */
  uint32_t index_vector_dim;           /* of the indices; their rank: none */
  uint32_t component_count;
  const uint32_t* component_dims; /* dims of the table */
  uint8_t counts_from_end;        /* a negative index v stands for v + extent */
  uint8_t index_is_u64;

  /* Wide accumulation: parts with their own descriptors, and no entries here. */
  uint8_t wide_dtype; /* of the accumulators */
  uint8_t part_count; /* 0, 2 (no start) or 3 */
  const struct strew_kernel* parts[STREW_PART_COUNT];

  strew_entry entries[STREW_ENTRY_COUNT]; /* null where absent */
} strew_kernel;

#ifdef __cplusplus
}
#endif
