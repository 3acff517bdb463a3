// See program_inputs.h. Tested by every run of strew_program_differential, which fails if no call has a bad index or if most calls fail.
#include "tests/differential/programs/program_inputs.h"

#include <algorithm>

#include "base/number.h"
#include "tests/differential/random_data.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

class InputMaker {
 public:
  InputMaker(const RandomProgram& drawn, const std::vector<int64_t>& variables, Rng& rng)
      : drawn_(drawn), variables_(variables), rng_(rng), mode_(random_mode()) {}

  Tensor make(const DrawnInput& input) {
    Tensor out = make_tensor(input.dtype, drawn_.extents.values(input.dims, variables_)).value();
    switch (input.kind) {
      case DrawnInput::Kind::data:
        fill_tensor(rng_, out.data.data(), {out.dtype, out.dims, {}}, rng_.chance(80) ? mode_ : random_mode());
        break;
      case DrawnInput::Kind::index:
        for (int64_t e = 0; e < out.elements(); ++e) store(out, e, index(input, e));
        break;
      case DrawnInput::Kind::few:
        for (int64_t e = 0; e < out.elements(); ++e) store(out, e, rng_.between(-2, 6));
        break;
    }
    return out;
  }

  /// Puts one index outside of its bounds.
  void spoil(const DrawnInput& input, Tensor& tensor) {
    const int64_t e = rng_.below(tensor.elements());
    store(tensor, e, outside(input, e));
  }

 private:
  DataMode random_mode() {
    static const std::vector<DataMode> modes{DataMode::ordinary, DataMode::ordinary, DataMode::nasty, DataMode::small,
                                             DataMode::bits};
    return rng_.pick(modes);
  }
  static void store(Tensor& tensor, int64_t e, int64_t number) {
    store_element(tensor.data.data(), Scalar{tensor.dtype, {encode_i64(tensor.dtype, number), 0}}, e);
  }
  int64_t bound(const DrawnInput& input, int64_t e) const {
    return drawn_.extents.value(input.bounds[static_cast<size_t>(e) % input.bounds.size()], variables_);
  }
  int64_t outside(const DrawnInput& input, int64_t e) {
    const int64_t most = bound(input, e);
    const int64_t far = rng_.chance(10) ? 30'000 : 0;  // it fits every dtype but the narrowest, where it becomes another number
    return rng_.chance(50) && is_signed_integer(input.dtype) ? -1 - (input.counts_from_end ? most : 0) - rng_.below(3) - far
                                                             : most + rng_.below(3) + far;
  }
  int64_t index(const DrawnInput& input, int64_t e) {
    if (input.bounds.empty()) return 0;
    const int64_t most = bound(input, e);
    if (input.outside == DrawnInput::Outside::allowed && rng_.chance(25)) return outside(input, e);
    if (most <= 0) return 0;
    const int64_t in = rng_.chance(20) ? 0 : rng_.below(most);
    return input.counts_from_end && rng_.chance(40) ? in - most : in;
  }

  const RandomProgram& drawn_;
  const std::vector<int64_t>& variables_;
  Rng& rng_;
  DataMode mode_;
};

}  // namespace

std::vector<int64_t> random_variables(const RandomProgram& drawn, bool first, Rng& rng) {
  std::vector<int64_t> out = drawn.extents.variables();
  for (int64_t& each : out)
    if (!first) each = rng.chance(10) ? 0 : rng.between(1, each);
  return out;
}

std::vector<Tensor> random_inputs(const RandomProgram& drawn, const std::vector<int64_t>& variables, Rng& rng) {
  InputMaker maker(drawn, variables, rng);
  std::vector<Tensor> out;
  for (const DrawnInput& input : drawn.inputs) out.push_back(maker.make(input));
  return out;
}

bool spoil_index(const RandomProgram& drawn, const std::vector<int64_t>& variables, std::vector<Tensor>& inputs, Rng& rng) {
  std::vector<size_t> strict;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DrawnInput& input = drawn.inputs[i];
    if (input.outside == DrawnInput::Outside::fails && !input.bounds.empty() && inputs[i].elements() > 0) strict.push_back(i);
  }
  if (strict.empty()) return false;
  const size_t bad = rng.pick(strict);
  InputMaker(drawn, variables, rng).spoil(drawn.inputs[bad], inputs[bad]);
  return true;
}

}  // namespace strew::test
