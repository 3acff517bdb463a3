// Builder: puts values, what is computed around kernels, and kernels into an Imported.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/importer.h"
#include "compiler/import/pto/scalar.h"

namespace strew::pto {

/// A value of the program and what its extents are.
struct Whole {
  int value = -1;
  std::vector<Poly> dims;
};

/// One per function: its scalars are the function's.
class Builder {
 public:
  Builder(Imported& imported, Scalars& scalars, std::string path)
      : imported_(imported), scalars_(scalars), path_(std::move(path)) {}

  /// "FILE:LINE:COLUMN: pto.mscatter".
  std::string location(Position at, std::string_view statement) const;
  static std::vector<int64_t> static_dims(const std::vector<Poly>& dims);

  int add_value(Value value);
  int input(TensorType type);  ///< its number in the file is given later
  /// The same elements in the same order. Where more than one extent is open, `like` has them.
  Whole reshaped(const Whole& from, const std::vector<Poly>& dims, const std::string& where, int like = -1);
  /// The part of `from` that begins at `begin`; extents that are no numbers reach to the end.
  Whole part(const Whole& from, const std::vector<Poly>& begin, const std::vector<Poly>& dims, const std::string& where);
  /// `into` with `part` from `begin` on.
  Whole placed(const Whole& into, const Whole& part, const std::vector<Poly>& begin, const std::string& where);
  /// 32-bit integers as u32, bits kept.
  Whole as_u32(const Whole& from, DType dtype, const std::string& where);

  /// A rank-0 i64. Only arguments stand in `poly`; `arguments` says which value each is.
  int scalar(const Poly& poly, const std::string& where);
  /// rem(poly, divisor).
  int scalar_remainder(const Poly& poly, int64_t divisor, const std::string& where);
  int extent_of(int value, int dim);
  int integer(int64_t value);
  std::vector<int> arguments;  ///< value of each argument that is a scalar

 private:
  int compute(ComputeOp op, std::vector<int> arguments, TensorType type, std::vector<int64_t> dims, const std::string& where);
  std::vector<int64_t> starts(const std::vector<Poly>& begin, std::vector<int>& more, const std::string& where);
  int node(Expr& expr, const Poly& poly, std::vector<int>& inputs);
  int node_of_symbol(Expr& expr, SymbolId id, std::vector<int>& inputs);
  int map(Expr expr, std::vector<int> inputs, const std::string& where);

  Imported& imported_;
  Scalars& scalars_;
  std::string path_;
  std::map<int64_t, int> integers_;
};

}  // namespace strew::pto
