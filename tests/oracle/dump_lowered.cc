// The lowered graphs of every operator on bool and integers, and of the conversions among these, for tests/oracle/lower_integers.py:
//
//   OP DTYPE[,DTYPE] rules|natives    then the graph as print() has it, then an empty line
//
// A conversion names what it converts from and to. rules: for a target without compounds. natives: for one with all.
#include <cstdio>
#include <string>

#include "backends/lower/lower_numeric.h"
#include "strew/expr_builder.h"

namespace strew {
namespace {

constexpr DType kDTypes[] = {DType::boolean, DType::i4,  DType::u4,  DType::i8,  DType::u8, DType::i16,
                             DType::u16,     DType::i32, DType::u32, DType::i64, DType::u64};

void dump(const std::string& what, const Expr& graph) {
  for (const bool native : {false, true})
    std::printf("%s %s\n%s\n", what.c_str(), native ? "natives" : "rules",
                print(lower_numeric(graph, native ? lowered::Natives::all() : lowered::Natives{})).c_str());
}

bool takes(const ExprOpInfo& row, DType dtype) {
  const uint8_t family = dtype == DType::boolean    ? expr_dtypes::boolean
                         : is_signed_integer(dtype) ? expr_dtypes::signed_integers
                                                    : expr_dtypes::unsigned_integers;
  return row.result != ExprResult::own && (row.arguments & family) != 0;
}

void dump_all() {
  for (const DType dtype : kDTypes) {
    for (const ExprOpInfo& row : expr_ops()) {
      if (!takes(row, dtype)) continue;
      ExprBuilder e;
      std::vector<int32_t> args{e.current(0, dtype)};
      if (row.arity == 2) args.push_back(e.update(0, dtype));
      dump(std::string(row.name) + " " + std::string(name(dtype)), e.returns({e.apply(row.op, args)}));
    }
    for (const DType to : kDTypes) {
      ExprBuilder e;
      const int32_t x = e.current(0, dtype);
      dump("convert " + std::string(name(dtype)) + "," + std::string(name(to)), e.returns({e.convert(x, to)}));
    }
  }
}

}  // namespace
}  // namespace strew

int main() { strew::dump_all(); }
