/* The binary interface between generated code and its callers. It is plain C without dependencies.
 *
 * An object exports one symbol per kernel: a constant strew_kernel, the kernel's descriptor. The descriptor holds all
 * that a call has to know: tensors, symbols (extents and strides that only the call knows), constraints between dims,
 * the work and how it may be divided among threads, and the entries, which are functions over a range of that work.
 * libstrew_rt runs any kernel from its descriptor alone. Entries never start threads, allocate or print.
 *
 * Words (docs/architecture.md): an index position is one index vector; its window is the block of elements that this
 * vector places. An index source is the index tensors that place windows in a tensor: in a scatter's results, or in a
 * gather's operand. All structs of the descriptor are
 * constants of the object; nobody frees them. An array of no elements may be null. Texts are UTF-8, end with a zero
 * byte and are never null.
 *
 * A change of a struct, of a number or of a meaning raises STREW_ABI_VERSION (docs/versioning.md). Tested by
 * tests/unit/backends/llvm/entries/object_test.cc and tests/runtime_only. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STREW_ABI_VERSION 8u

enum { STREW_OK = 0, STREW_FAULT = 1 };

/* ---- Entries ---------------------------------------------------------------------------------------------------------------------- */

/* strew_args.flags, read by the init entry: the result is larger than the caches, so write it with non-temporal stores. */
enum { STREW_STREAM = 1 };

/* The first index that is out of bounds. position: row-major number of its index position; component: which entry of
 * the index vector; value: the index as the caller gave it, before normalisation of negatives (u64 indices: its bits);
 * bound: the largest legal value; source: number of the index source in strew_kernel.sources. */
typedef struct strew_fault {
  int64_t position, component, value, bound, source;
} strew_fault;

typedef struct strew_args {
  uint32_t abi;   /* STREW_ABI_VERSION */
  uint32_t flags; /* STREW_STREAM or 0 */
  /* Addresses of element [0,...,0] of the N results, N operands, the index tensor, N updates, E extras and the index tensors of look-ups, whose tables
   * stand in the places of updates and extras (a gather has one result, one operand and no updates). An operand that is not bound (init in_place or
   * fill) is null. */
  void* const* data;
  const int64_t* dyn; /* the values of strew_kernel.symbols */
  const void* pos;    /* list reads: uint64_t values (position - n_list) | key << 32; the difference is less than 2^31 */
  const void* key;    /* keys writes: uint32_t numbers of destinations (strew_kernel.key_stride); all bits set: dropped */
  int64_t n_list;     /* keys: the position whose destination is key[0]; list: the position that `pos` counts from */
  int64_t w0, w1;     /* range, clip: iterations [w0, w1) of the column loop; all: [0, strew_kernel.splits) */
  /* clip: coordinates [k0, k1) in the operand dim whose index moves the first window loop; all: [0, strew_kernel.clip_extent).
   * merge: k0 is the distance in bytes from one result's private table to the next. */
  int64_t k0, k1;
  void* scratch;       /* merge: the private table of result 0 */
  const void* program; /* strew_kernel.program */
  int64_t source;      /* check: number of the index source that is checked */
} strew_args;

/* begin, end: index positions (range, clip, check, keys), entries of `pos` (list), elements of a result in the order of
 * the init loop (init), elements of a private table (merge). Returns STREW_OK, or STREW_FAULT with *fault filled;
 * `fault` is never null. Re-entrant: threads may run an entry at the same time if they write no common destination
 * (merge: no common element). */
typedef int32_t (*strew_entry)(const strew_args* args, int64_t begin, int64_t end, strew_fault* fault);

/* The kinds of entries, which number strew_kernel.entries. STREW_ENTRIES(F) expands to F(kind, what the entry does) for each. */
#define STREW_ENTRIES(F)                                            \
  F(range, "applies index positions")                               \
  F(check, "finds the smallest bad position of a source")           \
  F(init, "copies or fills the result")                             \
  F(keys, "tells where positions go")                               \
  F(list, "applies listed positions")                               \
  F(merge, "combines a private table into the result")              \
  F(clip, "applies what falls into a range of operand coordinates") \
  F(stream, "does what range does with stores that bypass the caches")
enum {
#define STREW_ENTRY_NUMBER(kind, what) STREW_ENTRY_##kind,
  STREW_ENTRIES(STREW_ENTRY_NUMBER)
#undef STREW_ENTRY_NUMBER
      STREW_ENTRY_COUNT
};

/* ---- The descriptor --------------------------------------------------------------------------------------------------------------- */

/* A number that may depend on the call: factor times the product of the symbols whose numbers are strew_kernel.factors[first] to
 * factors[first + count - 1]. */
typedef struct strew_term {
  int64_t factor;
  uint32_t first, count;
} strew_term;

enum { STREW_RESULT, STREW_OPERAND, STREW_INDICES, STREW_UPDATES, STREW_EXTRA }; /* roles, in binding order */

/* Stands for an extent or stride that only the call knows. */
#define STREW_OPEN INT64_MIN

/* Does a result have an element per element of the indexed dims and window, or one per destination row? Then its stride is 0 in window dims. */
enum { STREW_PER_ELEMENT, STREW_PER_ROW };

/* A tensor that a call binds: one argument. strew_kernel.tensors lists them in the order of the arguments. */
typedef struct strew_tensor_rule {
  const char* name;       /* for messages: "updates 0" */
  const char* dtype_name; /* "bf16" */
  uint8_t dtype;          /* DType (dtype.h) as a number */
  uint8_t role;           /* STREW_RESULT to STREW_EXTRA */
  uint8_t is_open;        /* some extent or stride is STREW_OPEN */
  uint8_t bits;           /* size of an element, 2 to 128 */
  uint32_t rank;
  uint32_t data;          /* the tensor's index in strew_args.data */
  int32_t may_be;         /* result with init copy: number of the operand tensor whose buffer the result may share; else -1 */
  int32_t source;         /* number in strew_kernel.sources of the index source that places its windows; -1: none does */
  uint32_t result_kind;   /* of a result: STREW_PER_ELEMENT or STREW_PER_ROW; else 0 */
  const int64_t* dims;    /* rank extents in elements, or STREW_OPEN */
  const int64_t* strides; /* rank strides in elements, or STREW_OPEN; null: row-major */
  const struct strew_codec* codec; /* null: elements are stored as dtype says; this version knows no other */
} strew_tensor_rule;

/* Where strew_args.dyn[i] is read: the extent, or the stride if is_stride is not 0, of dim `dim` of tensor `tensor`. */
typedef struct strew_symbol {
  uint32_t tensor, dim, is_stride;
} strew_symbol;

enum {
  STREW_EQUAL,     /* extent of the dim == extent of the other dim */
  STREW_AT_MOST,   /* extent of the dim <= extent of the other dim */
  STREW_NOT_EMPTY, /* extent of the dim > 0, unless tensor `other` has no elements; of a scatter: otherwise no update is applied */
  STREW_EMPTY,     /* extent of the dim == 0, unless tensor `other` has no elements */
  STREW_NOTHING,   /* the tensor has no elements */
  STREW_DISTINCT,  /* no two elements of the tensor share an address */
  STREW_DISTINCT_ROWS /* the same, except that the tensor repeats along dims of stride 0 */
};
/* A condition on the extents of a call, between dim `dim` of tensor `tensor` and dim `other_dim` of tensor `other`.
 * Conditions between static extents were checked when the op was verified; the descriptor leaves them out. */
typedef struct strew_constraint {
  const char* label; /* of the verifier's rule, for messages: "scatter_c4" (docs/op_text.md) */
  uint32_t kind;
  uint32_t tensor, dim, other, other_dim;
} strew_constraint;

/* How far one position loop or index component can move a key: by `step` * (`extent` - 1). The sum over all of strew_kernel.reaches is the
 * largest key. */
typedef struct strew_reach {
  strew_term extent, step;
} strew_reach;

/* What the index tensors of a source hold: a start coordinate per component. */
enum { STREW_VECTORS };

/* One entry of a source's index vectors. */
typedef struct strew_index_component {
  uint32_t tensor;          /* number in strew_kernel.tensors of the index tensor that holds it */
  uint32_t vector_dim;      /* the dim of that tensor along which the entries of a vector lie; its rank: a vector has one entry */
  uint32_t dim;             /* the dim that it indexes of the tensors that the source places */
  uint32_t counts_from_end; /* a negative index v stands for v + extent */
} strew_index_component;

/* Where the windows of the tensors lie that name this source (strew_tensor_rule.source). */
typedef struct strew_index_source {
  uint32_t kind;         /* STREW_VECTORS */
  uint32_t policy;       /* OobPolicy (op.h) as a number */
  uint32_t table;        /* number in strew_kernel.tensors of the first tensor that the source places */
  uint32_t checks_first; /* policy error: the check entry runs over all positions before anything is written */
  strew_term positions;  /* number of its index positions */
  /* Bit d: the index tensors repeat along their dim d (stride 0), and positions are counted without it. An index that is out of bounds is
   * reported at coordinate 0 of that dim. */
  uint32_t repeated_dims;
  uint32_t component_count;
  const strew_index_component* components;
} strew_index_source;

/* The extent of the window in an operand dim that an index component moves, and the extent of that dim. The window
 * covers the dim if the two are equal. */
typedef struct strew_cover {
  strew_term window, dim;
} strew_cover;

enum { STREW_IN_PLACE, STREW_COPY, STREW_FILL }; /* what the result holds before the updates */

/* Whether the entries compute floats: in the default floating-point environment, or in that of the calling thread (target.h, host_fp). */
enum { STREW_NO_FLOATS, STREW_FLOATS, STREW_HOST_FLOATS };

/* strew_kernel.strategy: how the updates are divided among threads (Strategy in schedule.h describes each).
 * STREW_STRATEGIES(F) expands to F(enumerator, name in texts) for each. */
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

/* The parts of a kernel with wide accumulation, each a kernel of its own: fold applies the updates to the accumulators,
 * narrow rounds the accumulators to the results, start converts the operands to the results (absent where their dtypes
 * are equal). sums does all of it in one pass, with the accumulators of a row in registers, for calls whose destinations
 * are sorted: its keys never decrease, and dropped ones stand only before and after the others. It binds the tensors of the
 * whole kernel, and is absent where it would not pay or is not built. */
enum { STREW_FOLD, STREW_NARROW, STREW_START, STREW_SUMS, STREW_PART_COUNT };

typedef struct strew_kernel {
  uint32_t abi;         /* STREW_ABI_VERSION */
  uint32_t size;        /* of this struct, bytes */
  const char* name;     /* the symbol of this descriptor */
  const char* identity; /* canonical text of the op (docs/op_text.md), the same for all spellings of the op */
  const char* features; /* CPU features that the entries use, "avx2,fma"; "": none beyond the architecture's baseline */
  const char* target;   /* text of the target that it was compiled for (target.h), "x86_64-x86-64-v3" */
  const char* schedule; /* text of its schedule (schedule.h), "strategy=owner vector_bytes=32 …" */
  const char* backend;  /* that made the entries, "llvm"; "reference": the kernel is interpreted */

  /* Tensors and shapes. */
  uint32_t tensor_count;
  uint32_t data_count; /* elements of strew_args.data */
  uint32_t result_count;
  uint32_t symbol_count;
  uint32_t constraint_count;
  uint32_t factor_count;
  const strew_tensor_rule* tensors;
  const strew_symbol* symbols;
  const strew_constraint* constraints;
  const uint32_t* factors;

  /* Work. */
  strew_term positions; /* number of index positions */
  strew_term window;    /* elements of a window */
  strew_term
      splits; /* iterations of the column loop: the first of windows, or of windows with one element the innermost position loop; 1: none is cut */
  strew_term init; /* elements of a result that init copy or fill writes */
  uint8_t is_gather;
  uint8_t init_kind;       /* STREW_IN_PLACE, STREW_COPY or STREW_FILL */
  uint8_t computes_floats; /* STREW_NO_FLOATS, STREW_FLOATS or STREW_HOST_FLOATS */
  uint8_t may_overwrite;   /* a call may skip init if positions * window == init and, in every cover, the window covers the dim */
  uint8_t packs_results;   /* a result has elements of less than a byte */
  uint8_t regroups;        /* strategy private: any grouping of the updates gives the same bits */
  uint8_t widens_touched;  /* wide accumulation: a call may widen and round only the blocks of the result that updates reach */
  uint8_t strategy;        /* STREW_STRATEGY_...: of the schedule */
  uint8_t adapts;      /* a call may take another one of `strategies`, and the entry stream, if there is one, in place of range */
  uint8_t streams;     /* the entry stream is what calls take as long as they know no better */
  uint32_t strategies; /* bits 1 << STREW_STRATEGY_...: those that a call may take, all with the same results */
  uint32_t tables;     /* strategy private: the schedule's number of tables */
  uint32_t scratch_mib; /* the most scratch memory of a call, MiB */
  uint32_t cover_count;
  uint32_t reach_count;
  const strew_cover* covers;

  /* How the work may be cut into chunks. Strides are in elements of result 0: a chunk that begins at iteration i begins
   * at i times the stride, from which the runtime computes cuts at borders of cache lines. */
  strew_term position_stride; /* of the innermost position loop; 0: consecutive positions are not at a fixed distance */
  strew_term slab; /* positions i * slab to (i + 1) * slab - 1 may share destinations, so chunks end at multiples; 0: anywhere */
  strew_term window_stride; /* of the column loop */
  strew_term clip_extent;   /* extent of the operand dim in which an index moves the first window loop; 1: no index moves it */
  strew_term clip_stride;   /* of that operand dim */
  /* A key is the number of a destination, in all results: its row number, where the rows of result 0 lie one after the other. The window of
   * key k begins k * key_stride elements behind the first element of result 0. */
  strew_term key_stride;
  const strew_reach* reaches;
  const uint64_t* identities; /* strategy private: per result, the bits of the combiner's identity element */

  const strew_index_source* sources; /* source_count; first that of a scatter's results, or of a gather's operand */
  uint32_t source_count;

  /* Wide accumulation: the parts have descriptors of their own, and this kernel has no entries. */
  uint8_t wide_dtype; /* DType of the accumulators */
  uint8_t part_count; /* 0, or one more than the number of the last part; a part that is absent is null */

  const struct strew_kernel* parts[STREW_PART_COUNT];

  strew_entry entries[STREW_ENTRY_COUNT]; /* null where absent */
  const void*
      program; /* what entries that were compiled with strew interpret (backends/portable); null: entries are generated code */
} strew_kernel;

#ifdef __cplusplus
}
#endif
