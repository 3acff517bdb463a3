/* The areas of the C interface that have a file of their own, and what they share: rows of 4 floats, added to a table. */
#pragma once

#include "check.h"

void test_bad_index(void);
void test_csr(void);
void test_segments(void);
void test_texts(void);
void test_splice(void);
void test_programs_into(const char* examples);
void test_find_and_drain(void);
void test_tuning(const char* examples);
void test_library(const char* examples);

/* Rows of 4 floats, added to a table of any number of rows. */
extern const char* const kRows;

typedef struct {
  float table[10 * 4];
  int32_t indices[3];
  float updates[3 * 4];
  int64_t table_dims[2], index_dims[1], update_dims[2];
  strew_tensor tensors[3];
} Rows;

/* A table of zeros; updates of ones for rows 2, 0, 2. */
void fill(Rows* rows);
/* Row 0 has 1, row 2 has 2, times `calls`. */
int holds(const Rows* rows, float calls);

strew_prepared* prepare(const char* text, const strew_request* request);
/* The kernel of the process's runtime. */
strew_kernel_ref* get(const char* text, const strew_request* request);
