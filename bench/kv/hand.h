// Hand-written KV-cache updates: the limit that the generated kernels are measured against, and two plain copies of as many bytes.
#pragma once

#include <cstdint>

namespace strew::bench {

/// cache [batch, heads, sequence, row bytes], update [batch, heads, length, row bytes].
struct KvShape {
  int64_t batch, heads, sequence, length, row_bytes;
  int64_t slabs() const { return batch * heads; }
  int64_t cache_bytes() const { return slabs() * sequence * row_bytes; }
  int64_t update_bytes() const { return slabs() * length * row_bytes; }
};

/// One row of 256 bytes per slab, straight vector code (shape.length == 1, shape.row_bytes == 256).
void hand_decode(char* cache, const char* update, const int64_t* positions, const KvShape& shape);
/// One memcpy per slab, two where the rows wrap round the end.
void hand_slabs(char* cache, const char* update, const int64_t* positions, const KvShape& shape);
/// The same with non-temporal stores; false where this machine has none.
bool hand_slabs_streaming(char* cache, const char* update, const int64_t* positions, const KvShape& shape);
/// One straight copy with non-temporal stores (memcpy where there are none).
void stream_copy(char* destination, const char* source, int64_t bytes);

}  // namespace strew::bench
