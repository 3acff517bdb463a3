// See addresses.h. A bump allocator: tiles get consecutive addresses, aligned to 32 bytes. Memory is never reused,
// because programs have few tiles, and because flags.cc may then assume that different tiles do not overlap. Tested by
// tests/golden/pto_program_test.cc.
#include "backends/pto/addresses.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kUnit = 32;

class Placer {
 public:
  explicit Placer(bool write) : write_(write) {}

  PlacedBytes run(Function& function) {
    for (Statement& s : function.body) statement(s);
    std::vector<Statement> constants;
    for (const auto& [in_l1, address] : addresses_) {
      Statement s;
      s.opcode = Opcode::constant;
      s.result = name_of(in_l1, address);
      s.type = make_scalar(DType::i64);
      s.value = address;
      constants.push_back(std::move(s));
    }
    function.body.insert(function.body.begin(), std::make_move_iterator(constants.begin()),
                         std::make_move_iterator(constants.end()));
    return {ub_, l1_};
  }

 private:
  static std::string name_of(bool in_l1, int64_t address) { return (in_l1 ? "l1_" : "ub") + std::to_string(address); }

  void statement(Statement& s) {
    if (s.opcode == Opcode::alloc_tile) place(s);
    for (Statement& inner : s.body) statement(inner);
  }

  void place(Statement& s) {
    const int64_t bytes = storage_bytes(s.type.element.dtype, s.type.dims[0] * s.type.dims[1]);
    const bool in_l1 = s.type.tile.location == "mat";
    int64_t& next = in_l1 ? l1_ : ub_;
    if (write_) {
      s.operands[0] = {name_of(in_l1, next)};
      addresses_.insert({in_l1, next});
    }
    next += (bytes + kUnit - 1) / kUnit * kUnit;
  }

  bool write_;
  int64_t ub_ = 0, l1_ = 0;
  std::set<std::pair<bool, int64_t>> addresses_;  ///< the addresses in use: (is it in L1?, address)
};

}  // namespace

PlacedBytes place_tiles(Function& function, bool write) { return Placer(write).run(function); }

}  // namespace strew::inline v0::pto
