// place_tiles(): a bump allocator. Tiles get consecutive addresses, aligned to 32 bytes. Memory is never reused, because
// programs have few tiles, and because flags.cc may then assume that different tiles do not overlap. Tested by
// tests/golden/pto_program_test.cc.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/passes.h"

namespace strew::inline v0::pto {

PlacedBytes place_tiles(Function& function, bool write) {
  constexpr int64_t kUnit = 32;
  const auto name_of = [](bool in_l1, int64_t address) { return (in_l1 ? "l1_" : "ub") + std::to_string(address); };
  PlacedBytes out;
  std::set<std::pair<bool, int64_t>> addresses;  // (is it in L1?, address)
  each(function.body, [&](Statement& s) {
    if (s.opcode != Opcode::alloc_tile) return;
    const bool in_l1 = s.type.tile.location == "mat";
    int64_t& next = in_l1 ? out.l1 : out.ub;
    if (write) {
      s.operands[0] = {name_of(in_l1, next)};
      addresses.insert({in_l1, next});
    }
    next += (storage_bytes(s.type.element.dtype, s.type.dims[0] * s.type.dims[1]) + kUnit - 1) / kUnit * kUnit;
  });
  std::vector<Statement> constants;
  for (const auto& [in_l1, address] : addresses)
    constants.push_back(
        {.opcode = Opcode::constant, .result = name_of(in_l1, address), .type = make_scalar(DType::i64), .value = address});
  function.body.insert(function.body.begin(), std::make_move_iterator(constants.begin()),
                       std::make_move_iterator(constants.end()));
  return out;
}

}  // namespace strew::inline v0::pto
