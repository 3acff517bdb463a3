// A program that calls one kernel once, for bench/service/disk.cc. STREW_CACHE names the folder that has it. Exit status 1 if the result is wrong.
#include <cstdint>
#include <vector>

#include "bench/service/start/resident.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"

int main(int argc, char**) {
  using namespace strew::types;
  const auto op =
      strew::scatter_rows(f32({128, 16}), i32({8}), f32({8, 16})).combine(strew::CombinerKind::add).in_place().build();
  if (!op.ok()) return 1;
  const auto kernel = strew::Runtime::process().get(*op);
  if (!kernel.ok()) return 1;
  std::vector<float> table(128 * 16), updates(8 * 16, 1.0f);
  const std::vector<int32_t> indices = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<int64_t> table_dims = {128, 16}, index_dims = {8}, update_dims = {8, 16};
  const strew::TensorView views[] = {{table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
  if (!kernel->run(views).ok() || table[0] != 1.0f || table[8 * 16] != 0.0f) return 1;
  return argc > 1 ? strew::bench::print_resident() : 0;
}
