// strew from C++ in one screen: describe an op, get a kernel, run it. Here a histogram of weights: bins[index[i]] += weight[i].
//
// include/strew/forms.h has the familiar forms, docs/semantics.md says what every field means; Runtime::get compiles an op once and finds
// the kernel again after.
// Run by ctest as example_cpp: it exits 1 when the bins are wrong.
#include <cstdio>
#include <vector>

#include "strew/strew.hpp"

int main() {
  // bins f32[4] start from zero; 8 indices, 8 weights; an index outside [0, 4) is an error, and then nothing is written.
  using namespace strew::types;
  const strew::Expected<strew::Scatter> histogram = strew::scatter_rows(f32({4}), i32({8}), f32({8}))
                                                        .combine(strew::CombinerKind::add)
                                                        .fill({strew::Scalar::of(0.0F)})
                                                        .oob(strew::OobPolicy::error)
                                                        .build();
  if (!histogram.ok()) {
    std::fprintf(stderr, "error: %s\n", histogram.status().message().c_str());
    return 1;
  }
  const strew::Expected<strew::Kernel> kernel = strew::Runtime::process().get(*histogram);
  if (!kernel.ok()) {
    std::fprintf(stderr, "error: %s\n", kernel.status().message().c_str());
    return 1;
  }
  std::printf("%s\nbuilt by %s in %.1f ms\n", kernel->op_text().c_str(), std::string(kernel->backend()).c_str(),
              static_cast<double>(kernel->compile_nanoseconds()) / 1e6);

  std::vector<float> bins(4), weights{0.5f, 1, 1, 0.25f, 2, 1, 0.125f, 4};
  std::vector<int32_t> indices{0, 3, 3, 1, 0, 2, 1, 3};
  const int64_t four[] = {4}, eight[] = {8};
  // The tensors in the order of tensor_slots(op): result, indices, updates (with init fill the operand is not read, so not bound).
  const std::vector<strew::TensorView> tensors{{bins.data(), four}, {indices.data(), eight}, {weights.data(), eight}};
  if (const strew::Status status = kernel->run(tensors); !status.ok()) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  std::printf("bins: %g %g %g %g\n", bins[0], bins[1], bins[2], bins[3]);

  indices[5] = 7;  // one bad index: the call says which, and writes nothing
  const std::vector<float> before = bins;
  const strew::Status refused = kernel->run(tensors);
  std::printf("with a bad index: %s\n", refused.message().c_str());

  const bool right =
      before == std::vector<float>{2.5f, 0.375f, 1, 6} && bins == before && refused.code() == strew::Code::out_of_bounds;
  return right ? 0 : 1;
}
