/* Runs every kernel of decoder_kernels and compares the results with plain loops. Exit: 0 if all are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder_kernels.h"

static int wrong = 0;

static void done(const char* kernel, strew_status status, int is_right) {
  printf("%-15s %s\n", kernel, status != NULL ? strew_status_message(status) : is_right ? "as expected" : "WRONG");
  wrong += status != NULL || !is_right;
  strew_status_free(status);
}

static unsigned next_number(void) {
  static unsigned state = 1;
  return (state = state * 1664525u + 1013904223u) >> 8;
}

/* The step of decode.onnx: past and present are bf16[8,8,2048,128], one token per sequence, and may be one buffer. */
static void cache_step_of_the_model(const strew_context* context) {
  enum { kBatch = 8, kHeads = 8, kLength = 2048, kWidth = 128 };
  const size_t bytes = sizeof(uint16_t) * kBatch * kHeads * kLength * kWidth;
  uint16_t* const cache = malloc(bytes);
  uint16_t* const expected = malloc(bytes);
  static uint16_t token[kBatch * kHeads * kWidth];
  int64_t places[kBatch];
  strew_status status;
  size_t i;
  int b, h;
  for (i = 0; i < bytes / sizeof *cache; ++i) cache[i] = expected[i] = (uint16_t)next_number();
  for (i = 0; i < sizeof token / sizeof *token; ++i) token[i] = (uint16_t)next_number();
  for (b = 0; b < kBatch; ++b) {
    places[b] = next_number() % kLength;
    for (h = 0; h < kHeads; ++h)
      memcpy(expected + ((b * kHeads + h) * (size_t)kLength + (size_t)places[b]) * kWidth, token + (b * kHeads + h) * kWidth, sizeof(uint16_t) * kWidth);
  }
  status = cache_step_at(context, cache, cache, places, token);
  done("cache_step", status, memcmp(cache, expected, bytes) == 0);
  free(cache);
  free(expected);
}

/* Tokens into pages of 16, by pairs of a page and a place. */
static void append_to_pages(const strew_context* context) {
  enum { kPages = 32, kPage = 16, kToken = 8 * 128, kTokens = 21 };
  static uint16_t pages[kPages * kPage * kToken], expected[kPages * kPage * kToken], tokens[kTokens * kToken];
  int32_t places[kTokens][2];
  strew_status status;
  int t, i;
  for (i = 0; i < kTokens * kToken; ++i) tokens[i] = (uint16_t)next_number();
  for (t = 0; t < kTokens; ++t) {
    places[t][0] = (int32_t)(next_number() % kPages);
    places[t][1] = t % kPage;
    memcpy(expected + (places[t][0] * kPage + places[t][1]) * kToken, tokens + t * kToken, sizeof(uint16_t) * kToken);
  }
  status = append_bf16_at(context, pages, places, tokens, kPages, kTokens);
  done("append_bf16", status, memcmp(pages, expected, sizeof pages) == 0);
  memset(pages, 0, sizeof pages);
  status = append_f16_at(context, pages, places, tokens, kPages, kTokens);
  done("append_f16", status, memcmp(pages, expected, sizeof pages) == 0);
}

/* Rows of the table by token, and the sum of the gradients of each token's rows. */
static void embedding(const strew_context* context) {
  enum { kRows = 1000, kWidth = 64, kTokens = 300 };
  static uint16_t table[kRows * kWidth], taken[kTokens * kWidth];
  static float gradient[kRows * kWidth], sums[kRows * kWidth], rows[kTokens * kWidth];
  int64_t tokens[kTokens];
  strew_status status;
  int i, t, right = 1;
  for (i = 0; i < kRows * kWidth; ++i) table[i] = (uint16_t)next_number();
  for (t = 0; t < kTokens; ++t) {
    tokens[t] = next_number() % kRows;
    for (i = 0; i < kWidth; ++i) {
      rows[t * kWidth + i] = (float)(next_number() % 2048) / 64;
      sums[tokens[t] * kWidth + i] += rows[t * kWidth + i];
    }
  }
  status = embed_at(context, taken, table, tokens, kTokens, kRows);
  for (t = 0; t < kTokens; ++t) right = right && memcmp(taken + t * kWidth, table + tokens[t] * kWidth, sizeof(uint16_t) * kWidth) == 0;
  done("embed", status, right);
  status = embed_gradient_at(context, gradient, tokens, rows, kRows, kTokens);
  done("embed_gradient", status, memcmp(gradient, sums, sizeof sums) == 0);
}

int main(void) {
  strew_context* context = NULL;
  const strew_status status = decoder_kernels_open(NULL, &context);
  if (status != NULL) {
    fprintf(stderr, "%s\n", strew_status_message(status));
    return 1;
  }
  cache_step_of_the_model(context);
  append_to_pages(context);
  embedding(context);
  strew_context_free(context);
  return wrong == 0 ? 0 : 1;
}
