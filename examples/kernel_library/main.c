/* Runs every kernel of decoder_kernels and compares the results with plain loops. Exit: 0 if all are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder_kernels.h"

static int wrong = 0;

static void done(const char* kernel, strew_status status, int is_right) {
  printf("%-21s %s\n", kernel, status != NULL ? strew_status_message(status) : is_right ? "as expected" : "WRONG");
  wrong += status != NULL || !is_right;
  strew_status_free(status);
}

static unsigned next_number(void) {
  static unsigned state = 1;
  return (state = state * 1664525u + 1013904223u) >> 8;
}

/* The sizes of decoder_model.py. */
enum { kBatch = 4, kHeads = 3, kPositions = 1024, kWidth = 64, kPrompt = 128, kVocabulary = 49152, kHidden = 576, kKept = 64 };

static void fill(uint16_t* elements, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) elements[i] = (uint16_t)next_number();
}

/* The cache of a layer: a prompt of one sequence, then a token of each sequence, at the end of what its cache has. */
static void cache_of_the_model(const strew_context* context) {
  static uint16_t cache[kBatch][kHeads][kPositions][kWidth], expected[kBatch][kHeads][kPositions][kWidth];
  static uint16_t rows[kHeads][kPrompt][kWidth], token[kBatch][kHeads][kWidth];
  const int32_t prompt[2] = {2, 0}; /* the sequence, and the position at which the prompt begins */
  int32_t places[kBatch][3] = {{0}};
  strew_status status;
  int b, h;
  fill(&cache[0][0][0][0], sizeof cache / sizeof(uint16_t));
  fill(&rows[0][0][0], sizeof rows / sizeof(uint16_t));
  fill(&token[0][0][0], sizeof token / sizeof(uint16_t));
  memcpy(expected, cache, sizeof cache);
  for (h = 0; h < kHeads; ++h) memcpy(expected[2][h], rows[h], sizeof rows[h]);
  status = prompt_to_cache_at(context, cache, cache, prompt, rows);
  done("prompt_to_cache", status, memcmp(cache, expected, sizeof cache) == 0);
  for (b = 0; b < kBatch; ++b) {
    places[b][1] = (int32_t)(next_number() % kPositions);
    for (h = 0; h < kHeads; ++h) memcpy(expected[b][h][places[b][1]], token[b][h], sizeof token[b][h]);
  }
  status = append_to_cache_at(context, cache, cache, &places[0][0], token);
  done("append_to_cache", status, memcmp(cache, expected, sizeof cache) == 0);
}

/* Tokens into pages of 16, by pairs of a page and a place. */
static void append_to_pages(const strew_context* context) {
  enum { kPages = 32, kPage = 16, kToken = kHeads * kWidth, kTokens = 21 };
  static uint16_t pages[kPages * kPage * kToken], expected[kPages * kPage * kToken], tokens[kTokens * kToken];
  int32_t places[kTokens][2];
  strew_status status;
  int t;
  fill(tokens, kTokens * kToken);
  for (t = 0; t < kTokens; ++t) {
    places[t][0] = (int32_t)(next_number() % kPages);
    places[t][1] = t % kPage;
    memcpy(expected + (places[t][0] * kPage + places[t][1]) * kToken, tokens + t * kToken, sizeof(uint16_t) * kToken);
  }
  status = append_to_pages_bf16_at(context, pages, &places[0][0], tokens, kPages, kTokens);
  done("append_to_pages_bf16", status, memcmp(pages, expected, sizeof pages) == 0);
  memset(pages, 0, sizeof pages);
  status = append_to_pages_f16_at(context, pages, &places[0][0], tokens, kPages, kTokens);
  done("append_to_pages_f16", status, memcmp(pages, expected, sizeof pages) == 0);
}

/* The rows of the tokens, and the sum of the gradients of each token's rows. */
static void embedding(const strew_context* context) {
  enum { kRows = 1000, kTokens = 300 };
  uint16_t* const table = malloc(sizeof(uint16_t) * kVocabulary * kHidden);
  static uint16_t taken[kBatch][kHidden];
  static float gradient[kRows][kHidden], sums[kRows][kHidden], rows[kTokens][kHidden];
  int32_t last[kBatch];
  int64_t tokens[kTokens];
  strew_status status;
  int i, t, right = 1;
  fill(table, (size_t)kVocabulary * kHidden);
  for (t = 0; t < kBatch; ++t) last[t] = (int32_t)(next_number() % kVocabulary);
  status = embed_at(context, taken, table, last);
  for (t = 0; t < kBatch; ++t) right = right && memcmp(taken[t], table + (size_t)last[t] * kHidden, sizeof taken[t]) == 0;
  done("embed", status, right);
  last[3] = kVocabulary;
  status = embed_at(context, taken, table, last);
  right = status != NULL && strew_status_code(status) == STREW_CODE_OUT_OF_BOUNDS;
  strew_status_free(status);
  done("embed, bad token", NULL, right);
  free(table);
  for (t = 0; t < kTokens; ++t) {
    tokens[t] = next_number() % kRows;
    for (i = 0; i < kHidden; ++i) {
      rows[t][i] = (float)(next_number() % 2048) / 64;
      sums[tokens[t]][i] += rows[t][i];
    }
  }
  status = embed_gradient_at(context, &gradient[0][0], tokens, &rows[0][0], kRows, kTokens);
  done("embed_gradient", status, memcmp(gradient, sums, sizeof sums) == 0);
}

/* The kept probabilities at their tokens, zero elsewhere. */
static void top_p(const strew_context* context) {
  static float all[kBatch][kVocabulary], expected[kBatch][kVocabulary], kept[kBatch][kKept];
  static int32_t places[kBatch][kKept][2];
  strew_status status;
  int b, k;
  for (b = 0; b < kBatch; ++b) {
    for (k = 0; k < kKept; ++k) {
      kept[b][k] = (float)(next_number() % 4096) / 4096;
      places[b][k][0] = b;
      places[b][k][1] = (int32_t)(next_number() % kVocabulary);
      expected[b][places[b][k][1]] += kept[b][k];
    }
  }
  memset(all, 0xff, sizeof all);
  status = nucleus_at(context, &all[0][0], &places[0][0][0], &kept[0][0]);
  done("nucleus", status, memcmp(all, expected, sizeof all) == 0);
}

int main(void) {
  strew_context* context = NULL;
  const strew_status status = decoder_kernels_open(NULL, &context);
  if (status != NULL) {
    fprintf(stderr, "%s\n", strew_status_message(status));
    return 1;
  }
  cache_of_the_model(context);
  append_to_pages(context);
  embedding(context);
  top_p(context);
  strew_context_free(context);
  return wrong == 0 ? 0 : 1;
}
