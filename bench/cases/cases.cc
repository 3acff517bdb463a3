// The forty cases of the suite, then what lies beyond it: relaxed histograms, 16-bit sums in f32, two-component scatters with small
// windows, and operands that have to be copied. Sizes are those of real models and data sets: KV caches of 8 heads x 128, an embedding
// table of 500,000 rows, ogbn-arxiv's graph, the shape of onnxruntime issue 28584.
#include "bench/cases/cases.h"

#include <fmt/format.h>

#include <algorithm>

namespace strew::bench {
namespace {

using Dims = std::vector<int64_t>;

/// Table [n, d] (d 0: [n]), m rows.
Case rows(const char* name, Action action, int64_t n, int64_t d, int64_t m, Spread spread = Spread::unique, int64_t sets = 1,
          DType dtype = DType::f32) {
  Case c;
  c.name = name;
  c.action = action;
  c.table = d == 0 ? Dims{n} : Dims{n, d};
  c.source = d == 0 ? Dims{m} : Dims{m, d};
  c.updates = m;
  c.dtype = dtype;
  c.spread = spread;
  c.sets = sets;
  return c;
}

/// Cache [batch, 8, sequence, 128], `length` new rows per head.
Case cache(const char* name, int64_t batch, int64_t sequence, int64_t length, DType dtype, int64_t sets, bool circular = false) {
  Case c;
  c.name = name;
  c.action = Action::kv;
  c.table = {batch, 8, sequence, 128};
  c.source = {batch, 8, length, 128};
  c.updates = batch;
  c.dtype = dtype;
  c.spread = Spread::position;
  c.sets = sets;
  c.circular = circular;
  return c;
}

Case slice(const char* name, Dims table, Dims source) {
  Case c;
  c.name = name;
  c.action = Action::block;
  c.updates = static_cast<int64_t>(table.size());
  c.table = std::move(table);
  c.source = std::move(source);
  c.spread = Spread::position;
  c.sets = 8;
  return c;
}

/// Table [n0, n1, w], m index pairs.
Case pairs(const char* name, Action action, int64_t n0, int64_t n1, int64_t w, int64_t m, Spread spread, int64_t sets) {
  Case c = rows(name, action, 0, w, m, spread, sets);
  c.table = {n0, n1, w};
  return c;
}

Case skipping(Case c) {
  c.skip = true;
  return c;
}

Case beyond(Case c, const char* suffix, Mode mode) {
  c.name += suffix;
  c.mode = mode;
  c.beyond = true;
  return c;
}

/// Table [n, d], an index for each of its elements.
Case along(const char* name, Action action, int64_t n, int64_t d) {
  Case c = rows(name, action, n, d, n, Spread::uniform, 1);
  c.updates = n * d;
  return c;
}

std::vector<Case> make_forty() {
  using enum Action;
  using enum Spread;
  constexpr DType kBf16 = DType::bf16, kF16 = DType::f16, kF32 = DType::f32;
  std::vector<Case> all = {
      rows("tiny_set_8x64B", set, 1024, 16, 8, unique, 8),
      rows("tiny_add_8x64B", add, 1024, 16, 8, unique, 8),
      rows("tiny_get_8x64B", get, 1024, 16, 8, unique, 8),
      cache("kv_decode_b1_bf16", 1, 8192, 1, kBf16, 64),
      cache("kv_decode_b1_f16", 1, 8192, 1, kF16, 64),
      cache("kv_decode_b8_bf16", 8, 8192, 1, kBf16, 64),
      cache("kv_decode_b8_f16", 8, 8192, 1, kF16, 64),
      cache("kv_prefill512_b1_bf16", 1, 8192, 512, kBf16, 8),
      cache("kv_prefill512_b8_bf16", 8, 8192, 512, kBf16, 8),
      cache("kv_circular128_b1_f16", 1, 4096, 128, kF16, 8, true),
      skipping(rows("paged_kv_t32_bf16", set, 65537, 1024, 32, unique, 64, kBf16)),
      skipping(rows("paged_kv_t2048_bf16", set, 65537, 1024, 2048, unique, 8, kBf16)),
      slice("dus_2d_384x1024_10rows", {384, 1024}, {10, 1024}),
      slice("dus_2d_4096_256x256", {4096, 4096}, {256, 256}),
      slice("dus_4d_1x1280x32x64", {1, 1280, 32, 64}, {1, 1, 32, 64}),
      rows("embed_get_d64_uniform", get, 500'000, 64, 65'536, uniform, 4),
      rows("embed_get_d64_zipf", get, 500'000, 64, 65'536, zipf, 4),
      rows("embed_get_d128_zipf", get, 250'000, 128, 65'536, zipf, 2),
      rows("embed_get_d1024_uniform", get, 32'768, 1024, 8192, uniform, 2),
      rows("embed_grad_d64_uniform_f32", add, 500'000, 64, 100'000, uniform, 4),
      rows("embed_grad_d64_zipf_f32", add, 500'000, 64, 100'000, zipf, 4),
      rows("embed_grad_d64_uniform_bf16", add, 500'000, 64, 100'000, uniform, 4, kBf16),
      rows("embed_grad_d64_zipf_bf16", add, 500'000, 64, 100'000, zipf, 4, kBf16),
      rows("hot_row_add_d64", add, 100'000, 64, 200'000, hot),
      rows("gnn_add_f64_random", add, 169'343, 64, 1'166'243, uniform),
      rows("gnn_add_f64_sorted", add, 169'343, 64, 1'166'243, sorted),
      rows("segment_sum_12123x1024", add, 12'123, 1024, 32'768, sorted),
      rows("ort28584_add_d80", add, 556'416, 80, 481'385, uniform),
      rows("histogram_4M_65536_f32", add, 65'536, 0, 4'000'000, uniform),
      rows("histogram_4M_65536_i32", add, 65'536, 0, 4'000'000, uniform, 1, DType::i32),
      rows("elem_set_16M", set, 1 << 24, 0, 1 << 24),
      rows("elem_add_16M", add, 1 << 24, 0, 1 << 24, uniform),
      rows("moe_permute_4096B", get, 2048, 2048, 4096, uniform, 2, kBf16),
      rows("moe_unpermute_4096B", set, 4096, 2048, 4096, unique, 2, kBf16),
      rows("rows_set_d64_100k", set, 500'000, 64, 100'000, unique, 4),
      rows("rows_set_d256_50k", set, 125'000, 256, 50'000, unique, 4),
      pairs("gather_nd_k2_d64", nd_get, 500, 1000, 64, 50'000, uniform, 4),
      pairs("scatter_nd_k2_pillars", nd_set, 496, 432, 64, 12'000, unique, 4),
      rows("rows_max_d64", max, 169'343, 64, 200'000, uniform, 2, kF32),
  };
  Case batched;
  batched.name = "batched_scatter_add";
  batched.action = batched_add;
  batched.table = {64, 4096, 64};
  batched.source = {64, 512, 64};
  batched.updates = 512;
  batched.spread = uniform;
  batched.sets = 2;
  all.push_back(batched);
  return all;
}

std::vector<Case> make_cases() {
  std::vector<Case> all = make_forty(), more;
  for (const Case& c : all) {
    if (c.name.starts_with("histogram_")) more.push_back(beyond(c, "_relaxed", Mode::relaxed));
    if (c.action == Action::add && c.dtype == DType::bf16) {
      more.push_back(beyond(c, "_native", Mode::plain));
      more.push_back(beyond(c, "_wide", Mode::wide));
    }
    if (c.name == "dus_4d_1x1280x32x64" || c.name == "kv_decode_b8_bf16") more.push_back(beyond(c, "_copied", Mode::copied));
  }
  more.push_back(
      beyond(rows("histogram_4M_65536_f32_sorted", Action::add, 65'536, 0, 4'000'000, Spread::sorted), "", Mode::plain));
  more.push_back(beyond(cache("kv_decode_b8_bf16_cold", 8, 8192, 1, DType::bf16, 4096), "", Mode::plain));
  // What others are level with strew on, or ahead: elements along the last axis; points of three numbers; appending to a cache one token per sample,
  // for batches of every size; rows of a page.
  const auto add = [&](const Case& c) { more.push_back(beyond(c, "", Mode::plain)); };
  add(along("along_get_80k_64", Action::along_get, 80'000, 64));
  add(along("along_add_80k_64", Action::along_add, 80'000, 64));
  add(rows("points_get_12B", Action::get, 1'000'000, 3, 500'000, Spread::uniform, 2));
  add(rows("points_set_12B", Action::set, 1'000'000, 3, 500'000, Spread::unique, 2));
  add(rows("points_add_12B", Action::add, 1'000'000, 3, 500'000, Spread::uniform, 2));
  add(cache("kv_append_b2_bf16", 2, 8192, 1, DType::bf16, 64));
  add(cache("kv_append_b4_bf16", 4, 8192, 1, DType::bf16, 64));
  add(cache("kv_append_b16_bf16", 16, 8192, 1, DType::bf16, 64));
  add(rows("pages_set_4KiB", Action::set, 65'536, 1024, 4096, Spread::unique, 4));
  add(rows("pages_add_4KiB", Action::add, 65'536, 1024, 4096, Spread::uniform, 4));
  constexpr int64_t kUpdates = 100'000;
  const auto pair_add = [&](const char* name, int64_t n, int64_t width, int64_t sets) {
    more.push_back(beyond(pairs(name, Action::nd_add, n, n, width, kUpdates, Spread::uniform, sets), "", Mode::plain));
  };
  pair_add("generic_k2_w1_cached", 64, 1, 1);
  pair_add("generic_k2_w4_cached", 64, 4, 1);
  pair_add("generic_k2_w16_cached", 64, 16, 1);
  pair_add("generic_k2_w1_cold", 4096, 1, 40);
  pair_add("generic_k2_w4_cold", 4096, 4, 40);
  pair_add("generic_k2_w16_cold", 2048, 16, 40);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Case> make_sweep() {
  constexpr int64_t kMost = int64_t{128} << 20;
  std::vector<Case> all;
  for (const Action action : {Action::add, Action::get}) {
    for (const int64_t row_bytes : {4, 64, 256, 1024, 16384}) {
      for (const int64_t table_bytes : {int64_t{16} << 10, int64_t{512} << 10, int64_t{8} << 20, int64_t{256} << 20}) {
        for (const int64_t positions : {10, 1000, 100'000, 10'000'000}) {
          for (const bool sorted : {false, true}) {
            const int64_t rows = table_bytes / row_bytes;
            if (rows < 4 || positions * row_bytes > kMost) continue;
            Case c;
            c.action = action;
            c.table = row_bytes == 4 ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, row_bytes / 4};
            c.source = row_bytes == 4 ? std::vector<int64_t>{positions} : std::vector<int64_t>{positions, row_bytes / 4};
            c.updates = positions;
            c.spread = sorted ? Spread::sorted : Spread::uniform;
            c.sets = std::clamp<int64_t>((int64_t{1} << 20) / positions, 1, 1024);
            c.name =
                fmt::format("{}_{}B_{}K_{}{}", name(action), row_bytes, table_bytes >> 10, positions, sorted ? "_sorted" : "");
            all.push_back(c);
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t dim : dims) n *= dim;
  return n;
}

int64_t Case::row_elements() const { return table.size() == 1 || is_along() ? 1 : source.back(); }
int64_t Case::table_bytes() const { return product(table) * element_bytes(); }
int64_t Case::source_bytes() const { return product(source) * element_bytes(); }

int64_t Case::index_numbers() const {
  if (action == Action::nd_get || action == Action::nd_set || action == Action::nd_add) return 2 * updates;
  return action == Action::batched_add ? table[0] * updates : updates;
}

int64_t Case::bytes_moved() const {
  const int64_t copy = mode == Mode::copied ? 2 * table_bytes() : 0;
  return copy + source_bytes() * (reads_table() ? 3 : 2) + 4 * index_numbers();
}

const std::vector<Case>& suite_cases() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

const std::vector<Case>& sweep_cases() {
  static const std::vector<Case> cases = make_sweep();
  return cases;
}

const char* name(Action action) {
  constexpr const char* kNames[] = {"set",    "get",    "add",    "max",         "kv",        "block",
                                    "nd_get", "nd_set", "nd_add", "batched_add", "along_get", "along_add"};
  return kNames[static_cast<size_t>(action)];
}

const char* name(Spread spread) {
  constexpr const char* kNames[] = {"unique", "uniform", "zipf", "hot", "sorted", "position"};
  return kNames[static_cast<size_t>(spread)];
}

std::string cases_json() {
  const auto list = [](const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); };
  constexpr const char* kModes[] = {"plain", "relaxed", "wide", "copied"};
  std::string text = "[\n";
  for (const Case& c : suite_cases()) {
    text += fmt::format(
        R"(  {{"name": "{}", "action": "{}", "table": {}, "source": {}, "updates": {}, "dtype": "{}", "spread": "{}", )"
        R"("sets": {}, "circular": {}, "skip": {}, "mode": "{}", "beyond": {}, "bytes_moved": {}}},)"
        "\n",
        c.name, name(c.action), list(c.table), list(c.source), c.updates, name(c.dtype), name(c.spread), c.sets, c.circular,
        c.skip, kModes[static_cast<size_t>(c.mode)], c.beyond, c.bytes_moved());
  }
  text.erase(text.size() - 2);
  return text + "\n]\n";
}

}  // namespace strew::bench
