// Grower: draws the nodes of a random program one after the other. It keeps what was drawn, so that later nodes can read it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "strew/builder.h"
#include "tests/differential/programs/random_program.h"
#include "tests/support/rng.h"

namespace strew::test {

/// A value of the program.
struct Drawn {
  int value = -1;
  DType dtype = DType::f32;
  ExtentIds dims;
  bool is_moved = false;  ///< RandomProgram::is_moved
  size_t rank() const { return dims.size(); }
};

class Grower {
 public:
  explicit Grower(uint64_t seed);
  void add_node(int number);
  RandomProgram finish();
  static std::vector<std::string> kinds();

 private:
  using Draw = Expected<Drawn> (Grower::*)();
  struct Kind {
    const char* name;
    int weight;
    Draw draw;
  };
  static const std::vector<Kind>& table();

  // Values, in grower.cc.
  DType random_dtype();
  ExtentId random_extent();
  ExtentIds random_dims(size_t rank);
  int64_t most_elements(const ExtentIds& dims) const;
  bool fits(const ExtentIds& dims) const { return most_elements(dims) <= limit_; }
  bool is_static(const ExtentIds& dims) const;
  /// As a type has them: kDynamic where they are open.
  std::vector<int64_t> type_dims(const ExtentIds& dims) const;
  TensorType type(const Drawn& drawn) { return builder().type(drawn.value); }
  int input(DrawnInput input);
  /// A new input, or a constant.
  Drawn data(DType dtype, const ExtentIds& dims);
  int scalar(DType dtype);
  Drawn constant(DType dtype, const ExtentIds& dims, const std::function<Scalar()>& element);
  /// A value for which `holds`, often the last one that was made.
  std::optional<Drawn> find(const std::function<bool(const Drawn&)>& holds);
  /// Any value of rank `least` and more; a new one if there is none.
  Drawn any(size_t least = 0);
  /// A value of this type: one that is there, or a new one.
  Drawn like(DType dtype, const ExtentIds& dims);
  /// The extents as a rank-1 tensor; each open one is that of a value that is there.
  Expected<int> shape(const ExtentIds& dims);
  std::optional<int> extent_value(ExtentId id);
  ProgramBuilder& builder() { return *builder_; }
  Expected<Drawn> made(const Expected<int>& value, DType dtype, ExtentIds dims, bool is_moved) {
    if (!value.ok()) return value.status();
    return Drawn{*value, dtype, std::move(dims), is_moved};
  }
  static Status nothing(const char* why) { return unsupported(std::string("not drawn: ") + why); }
  Expr random_function(const std::vector<DType>& extras, DType result);

  // Elementwise work, reductions and scans: elementwise.cc.
  Expected<Drawn> map();
  Expected<Drawn> convert();
  Expected<Drawn> apply();
  Expected<Drawn> reduce();
  Expected<Drawn> reduce_by_graph();
  Expected<Drawn> scan();

  // Movement: movement.cc.
  Expected<Drawn> transpose();
  Expected<Drawn> broadcast();
  Expected<Drawn> reshape_units();
  Expected<Drawn> reshape();
  Expected<Drawn> slice();
  Expected<Drawn> slice_from();
  Expected<Drawn> update();
  Expected<Drawn> concatenate();
  Expected<Drawn> reverse();
  Expected<Drawn> pad();
  Expected<Drawn> iota();
  Expected<Drawn> one_hot();
  Expected<Drawn> extent();

  // Kernels: indexed.cc.
  struct Policy {
    OobPolicy oob = OobPolicy::error;
    bool normalize = false;
  };
  Policy random_policy(bool scatter);
  DrawnInput::Outside outside(const Policy& policy) const;
  /// Indices below `bounds` (one per component, which the last dim of `dims` counts if there are several, or `vectors`).
  Expected<Drawn> indices(const ExtentIds& dims, const ExtentIds& bounds, const Policy& policy, bool vectors = false);
  Expected<Drawn> plain_indices(const ExtentIds& dims, const ExtentIds& bounds, const Policy& policy);
  DType index_dtype(const ExtentIds& bounds);
  Expected<int> kernel(Op op, const std::vector<Drawn>& operands, const std::vector<Drawn>& indices,
                       const std::vector<Drawn>& updates);
  Expected<Drawn> finish_gather(GatherBuilder op, const Policy& policy, const Drawn& operand, const std::vector<Drawn>& indices,
                                ExtentIds dims);
  Expected<Drawn> finish_scatter(ScatterBuilder op, const Policy& policy, const Drawn& operand, const std::vector<Drawn>& indices,
                                 const Drawn& updates);
  void random_combiner(ScatterBuilder& op, DType dtype, bool& is_moved);
  /// What a scatter writes into.
  Drawn table(DType dtype, const ExtentIds& dims);
  Expected<Drawn> gather();
  Expected<Drawn> gather_rows();
  Expected<Drawn> gather_elements();
  Expected<Drawn> gather_nd();
  Expected<Drawn> dynamic_slice();
  Expected<Drawn> scatter_rows();
  Expected<Drawn> scatter_elements();
  Expected<Drawn> scatter_nd();
  Expected<Drawn> dynamic_update_slice();
  Expected<Drawn> tensor_scatter();

  // Several nodes: idioms.cc.
  Expected<Drawn> row_of(const std::vector<Draw>& nodes);
  std::vector<Draw> rows_and_work();
  Draw row_scatter();
  Expected<Drawn> messages();
  Expected<Drawn> messages_shared();
  Expected<Drawn> bags();
  Expected<Drawn> transposed();

  uint64_t seed_;
  Rng rng_;
  RandomProgram out_;
  std::optional<ProgramBuilder> builder_;
  std::vector<Drawn> drawn_;
  std::string location_;
  DType usual_ = DType::f32;
  int64_t limit_ = 0;  ///< elements of a value
  ExtentIds open_;
  bool reads_last_ = false;  ///< nodes read the last value that they can read
};

}  // namespace strew::test
