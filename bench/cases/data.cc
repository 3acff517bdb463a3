// Numbers are small and whole, so sums are exact in any order and a peer that adds in another one is still right. Zipf(1) draws ranks by
// inverting the cumulative sum and scrambles them over the table; `hot` sends half of the updates to row 0. The generator is splitmix64:
// a few lines, the same everywhere.
#include "bench/cases/data.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <numeric>
#include <optional>

namespace strew::bench {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>((next() >> 32) * static_cast<uint64_t>(n) >> 32); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

std::vector<int32_t> permutation(int64_t n, Random& random) {
  std::vector<int32_t> p(static_cast<size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  return p;
}

class Zipf {
 public:
  Zipf(int64_t n, Random& random) : scrambled_(permutation(n, random)) {
    double sum = 0;
    for (int64_t rank = 1; rank <= n; ++rank) cumulative_.push_back(sum += 1.0 / static_cast<double>(rank));
  }
  int32_t draw(Random& random) const {
    const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), random.unit() * cumulative_.back());
    return scrambled_[static_cast<size_t>(at - cumulative_.begin())];
  }

 private:
  std::vector<int32_t> scrambled_;
  std::vector<double> cumulative_;
};

/// Rows for one set, [lists][updates]; the rows of a list are those of one table.
void draw_rows(const Case& c, int64_t lists, int64_t n, const Zipf* zipf, Random& random, std::vector<int32_t>& out) {
  for (int64_t list = 0; list < lists; ++list) {
    const size_t first = out.size();
    if (c.spread == Spread::unique) {
      const std::vector<int32_t> p = permutation(n, random);
      out.insert(out.end(), p.begin(), p.begin() + c.updates);
    } else {
      for (int64_t i = 0; i < c.updates; ++i) out.push_back(zipf ? zipf->draw(random) : static_cast<int32_t>(random.below(n)));
    }
    for (size_t i = first; i < out.size(); ++i) {
      if (c.spread == Spread::hot && random.below(2) == 0) out[i] = 0;
      if (c.skip && random.below(10) == 0) out[i] = -1;
    }
    if (c.spread == Spread::sorted) std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
}

/// Starts of slices: per batch element (kv) or per dim (block).
void draw_positions(const Case& c, Random& random, std::vector<int32_t>& out) {
  for (int64_t i = 0; i < c.updates; ++i) {
    const size_t dim = c.action == Action::kv ? 2 : static_cast<size_t>(i);
    const int64_t room = c.table[dim] - c.source[dim] + 1;
    out.push_back(static_cast<int32_t>(c.circular ? room + random.below(c.source[dim] - 1) : random.below(room)));
  }
}

void draw_indices(Data& d, Random& random) {
  const Case& c = d.c;
  const bool two = c.action == Action::nd_get || c.action == Action::nd_set || c.action == Action::nd_add;
  const int64_t n = (two                                               ? c.table[0] * c.table[1]
                     : c.action == Action::batched_add || c.is_along() ? c.table[1]
                                                                       : c.table[0]) -
                    (c.skip ? 1 : 0);
  std::vector<int32_t> drawn;
  const std::optional<Zipf> zipf = c.spread == Spread::zipf ? std::optional<Zipf>(std::in_place, n, random) : std::nullopt;
  for (int64_t set = 0; set < c.sets; ++set) {
    drawn.clear();
    if (c.spread == Spread::position)
      draw_positions(c, random, d.indices);
    else
      draw_rows(c, c.action == Action::batched_add ? c.table[0] : 1, n, zipf ? &*zipf : nullptr, random, two ? drawn : d.indices);
    for (const int32_t row : drawn) {
      d.indices.push_back(row / static_cast<int32_t>(c.table[1]));
      d.indices.push_back(row % static_cast<int32_t>(c.table[1]));
    }
  }
}

/// The table row of every source row.
void resolve_rows(Data& d) {
  const Case& c = d.c;
  if (c.action == Action::block) return;
  for (int64_t set = 0; set < c.sets; ++set) {
    const int32_t* ix = d.set(set);
    for (int64_t i = 0; i < d.row_count(); ++i) {
      int64_t row = 0;
      switch (c.action) {
        case Action::kv: {
          const int64_t slab = i / c.source[2], at = ix[slab / c.table[1]] + i % c.source[2];
          row = slab * c.table[2] + at % c.table[2];
          break;
        }
        case Action::batched_add:
          row = i / c.updates * c.table[1] + ix[i];
          break;
        case Action::along_get:
        case Action::along_add:
          row = i / c.table[1] * c.table[1] + ix[i];
          break;
        case Action::nd_get:
        case Action::nd_set:
        case Action::nd_add:
          row = ix[2 * i] * c.table[1] + ix[2 * i + 1];
          break;
        default:
          row = ix[i];
      }
      d.rows.push_back(static_cast<int32_t>(row));
    }
    d.rows.insert(d.rows.end(), Data::kAhead, 0);
  }
}

uint16_t bf16_from(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float f32_from(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }

/// `count` elements of a table's row and of a source row, combined in the table.
void combine(const Case& c, char* table, const char* source, int64_t count) {
  const auto each = [&]<class T>(T, auto f) {
    for (int64_t i = 0; i < count; ++i) {
      T a, b;
      std::memcpy(&a, table + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      std::memcpy(&b, source + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      a = f(a, b);
      std::memcpy(table + i * static_cast<int64_t>(sizeof(T)), &a, sizeof(T));
    }
  };
  if (!c.reads_table())
    std::memcpy(table, source, static_cast<size_t>(count * c.element_bytes()));
  else if (c.dtype == DType::bf16)
    each(uint16_t{}, [](uint16_t a, uint16_t b) { return bf16_from(f32_from(a) + f32_from(b)); });
  else if (c.dtype == DType::i32)
    each(uint32_t{}, [](uint32_t a, uint32_t b) { return a + b; });
  else if (c.action == Action::max)
    each(float{}, [](float a, float b) { return a < b ? b : a; });
  else
    each(float{}, [](float a, float b) { return a + b; });
}

/// 16-bit floats: the whole table in f32, one rounding at the end where anything was added.
void plain_wide(const Data& d, int64_t set, char* table) {
  const int64_t width = d.c.row_elements();
  const int32_t* rows = d.row_set(set);
  uint16_t* narrow = reinterpret_cast<uint16_t*>(table);
  const uint16_t* source = reinterpret_cast<const uint16_t*>(d.source.data());
  std::vector<float> sums(static_cast<size_t>(d.table_rows() * width));
  std::transform(narrow, narrow + sums.size(), sums.begin(), f32_from);
  for (int64_t i = 0; i < d.row_count(); ++i)
    for (int64_t k = 0; k < width; ++k) sums[static_cast<size_t>(rows[i] * width + k)] += f32_from(source[i * width + k]);
  std::transform(sums.begin(), sums.end(), narrow, bf16_from);
}

void plain_block(const Data& d, int64_t set, char* table) {
  const Case& c = d.c;
  const int64_t run = c.source.back(), rows = d.row_count();
  for (int64_t i = 0; i < rows; ++i) {
    int64_t rest = i, offset = d.set(set)[c.table.size() - 1], stride = c.table.back();
    for (size_t dim = c.table.size() - 1; dim-- > 0;) {
      offset += (d.set(set)[dim] + rest % c.source[dim]) * stride;
      stride *= c.table[dim];
      rest /= c.source[dim];
    }
    combine(c, table + offset * c.element_bytes(), d.source.data() + i * run * c.element_bytes(), run);
  }
}

bool write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return out.good();
}

}  // namespace

void fill_numbers(const Case& c, Memory& memory, uint64_t seed, bool whole) {
  Random random(seed);
  constexpr size_t kPeriod = size_t{1} << 20;
  const size_t count = memory.size() / static_cast<size_t>(c.element_bytes());
  constexpr uint16_t kHalves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
  std::vector<char> pattern;
  const auto append = [&](auto value) {
    pattern.insert(pattern.end(), reinterpret_cast<const char*>(&value), reinterpret_cast<const char*>(&value) + sizeof(value));
  };
  for (size_t i = 0; i < std::min(count, kPeriod); ++i) {
    const int64_t n = random.below(5);
    const float value = whole ? static_cast<float>(n - 2) : static_cast<float>(random.unit() - 0.5) * 1.5F;
    if (c.dtype == DType::i32) append(static_cast<int32_t>(n - 2));
    if (c.dtype == DType::f32) append(value);
    if (c.dtype == DType::bf16) append(bf16_from(value));
    if (c.dtype == DType::f16) append(kHalves[n]);
  }
  for (size_t at = 0; at < memory.size(); at += pattern.size())
    std::memcpy(memory.data() + at, pattern.data(), std::min(pattern.size(), memory.size() - at));
}

Data make_data(const Case& c) {
  Data d{c, Memory(c.table_bytes()), Memory(c.source_bytes()), {}, {}};
  if (!d.table || !d.source) return d;
  fill_numbers(c, d.table, 7);
  fill_numbers(c, d.source, 8);
  Random random(9);
  draw_indices(d, random);
  resolve_rows(d);
  return d;
}

void plain_result(const Data& d, int64_t set, char* table, char* into) {
  const Case& c = d.c;
  if (c.action == Action::block) return plain_block(d, set, table);
  if (c.mode == Mode::wide) return plain_wide(d, set, table);
  const int64_t bytes = c.row_bytes();
  const int32_t* rows = d.row_set(set);
  for (int64_t i = 0; i < d.row_count(); ++i) {
    if (rows[i] < 0) continue;
    if (c.gathers())
      std::memcpy(into + i * bytes, table + rows[i] * bytes, static_cast<size_t>(bytes));
    else
      combine(c, table + rows[i] * bytes, d.source.data() + i * bytes, c.row_elements());
  }
}

bool write_files(const Data& d, const std::string& folder) {
  Memory table(d.c.table_bytes()), into(d.c.source_bytes());
  if (!table || !into) return false;
  std::memcpy(table.data(), d.table.data(), table.size());
  plain_result(d, 0, table.data(), into.data());
  const Memory& result = d.c.gathers() ? into : table;
  return write_file(folder + "/table.bin", d.table.data(), d.table.size()) &&
         write_file(folder + "/source.bin", d.source.data(), d.source.size()) &&
         write_file(folder + "/indices.bin", d.indices.data(), d.indices.size() * sizeof(int32_t)) &&
         write_file(folder + "/result.bin", result.data(), result.size());
}

}  // namespace strew::bench
