// The hand-written KV updates. Compiled for the machine it runs on (bench/CMakeLists.txt), as their author would; plain loops over GCC's
// vectors, so it builds anywhere. Checked by the benchmark itself: kernels and these must leave the same bytes.
#include "bench/kv/hand.h"

#include <algorithm>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace strew::bench {
namespace {

constexpr int64_t kRow = 256;
typedef char Vector __attribute__((vector_size(32), aligned(1), may_alias));

#ifdef __AVX__
void copy_streaming(char* destination, const char* source, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(destination + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + i)));
  }
}
#endif

/// copy(destination, source, bytes) once or twice per slab.
template <class Copy>
void each_slab(char* cache, const char* update, const int64_t* positions, const KvShape& shape, Copy copy) {
  for (int64_t b = 0; b < shape.batch; ++b) {
    const int64_t start = positions[b], straight = std::min(shape.length, shape.sequence - start);
    for (int64_t h = 0; h < shape.heads; ++h) {
      char* slab = cache + (b * shape.heads + h) * shape.sequence * shape.row_bytes;
      const char* rows = update + (b * shape.heads + h) * shape.length * shape.row_bytes;
      copy(slab + start * shape.row_bytes, rows, straight * shape.row_bytes);
      if (straight < shape.length) copy(slab, rows + straight * shape.row_bytes, (shape.length - straight) * shape.row_bytes);
    }
  }
}

}  // namespace

void hand_decode(char* cache, const char* update, const int64_t* positions, const KvShape& shape) {
  const int64_t slab_bytes = shape.sequence * kRow;
  for (int64_t b = 0; b < shape.batch; ++b) {
    char* destination = cache + b * shape.heads * slab_bytes + positions[b] * kRow;
    for (int64_t h = 0; h < shape.heads; ++h, destination += slab_bytes, update += kRow) {
      Vector row[kRow / sizeof(Vector)];
      for (size_t i = 0; i < kRow / sizeof(Vector); ++i) row[i] = reinterpret_cast<const Vector*>(update)[i];
      for (size_t i = 0; i < kRow / sizeof(Vector); ++i) reinterpret_cast<Vector*>(destination)[i] = row[i];
    }
  }
}

void hand_slabs(char* cache, const char* update, const int64_t* positions, const KvShape& shape) {
  each_slab(cache, update, positions, shape,
            [](char* d, const char* s, int64_t n) { std::memcpy(d, s, static_cast<size_t>(n)); });
}

bool hand_slabs_streaming(char* cache, const char* update, const int64_t* positions, const KvShape& shape) {
#ifdef __AVX__
  each_slab(cache, update, positions, shape, copy_streaming);
  _mm_sfence();
  return true;
#else
  (void)cache, (void)update, (void)positions, (void)shape;
  return false;
#endif
}

void stream_copy(char* destination, const char* source, int64_t bytes) {
#ifdef __AVX__
  copy_streaming(destination, source, bytes);
  _mm_sfence();
#else
  std::memcpy(destination, source, static_cast<size_t>(bytes));
#endif
}

}  // namespace strew::bench
