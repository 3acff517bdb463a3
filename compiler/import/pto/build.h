// Builder: adds values, Computes and kernels to an Program while a function is lifted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/pto/scalar.h"
#include "strew/expr_builder.h"
#include "strew/import.h"

namespace strew::inline v0::pto {

/// A value of the imported program, with its extents as polynomials.
struct ShapedValue {
  int value = -1;
  std::vector<Poly> dims;
};

/// There is one builder per function, since it uses the function's scalars.
class Builder {
 public:
  Builder(Program& imported, Scalars& scalars, std::string path)
      : imported_(imported), scalars_(scalars), path_(std::move(path)) {}

  /// The location as text: "FILE:LINE:COLUMN: pto.mscatter".
  std::string location(Position at, std::string_view statement) const;
  static std::vector<int64_t> static_dims(const std::vector<Poly>& dims);

  /// An input whose index in the file finish() sets. `symbols`: see Value.
  int input(TensorType type, std::vector<std::string> symbols = {});
  /// `from` with other dims and the same elements in the same order. If more than one extent is open, the value `like` has those extents.
  Expected<ShapedValue> reshaped(const ShapedValue& from, const std::vector<Poly>& dims, const std::string& where, int like = -1);
  /// The part of `from` that begins at `begin`; in a dim whose extent is no constant it reaches to the end.
  Expected<ShapedValue> part(const ShapedValue& from, const std::vector<Poly>& begin, const std::vector<Poly>& dims,
                             const std::string& where);
  /// `into` with `part` written into it, from `begin` on.
  Expected<ShapedValue> placed(const ShapedValue& into, const ShapedValue& part, const std::vector<Poly>& begin,
                               const std::string& where);
  /// A tensor of 32-bit integers with the same bits as u32.
  Expected<ShapedValue> as_u32(const ShapedValue& from, DType dtype, const std::string& where);

  /// The value of `poly` as a rank-0 i64. `poly` may contain no symbols but arguments, whose values are in `arguments`.
  /// With a `divisor` that is not 0: the value of rem(poly, divisor).
  Expected<int> scalar(const Poly& poly, const std::string& where, int64_t divisor = 0);
  int integer(int64_t value);
  std::vector<int> arguments;  ///< the value of each scalar argument

 private:
  Expected<std::vector<int>> starts(const std::vector<Poly>& begin, const std::string& where);
  int32_t node(ExprBuilder& e, const Poly& poly, std::vector<int>& inputs);
  int32_t node_of_symbol(ExprBuilder& e, SymbolId id, std::vector<int>& inputs);

  Program& imported_;
  Scalars& scalars_;
  std::string path_;
  std::map<int64_t, int> integers_;
};

}  // namespace strew::inline v0::pto
