// Runs a package that export.py made, without Python:
//
//   export.py FOLDER
//   cmake -S . -B build -DTORCH=SITE_PACKAGES/torch && cmake --build build
//   build/run FOLDER SITE_PACKAGES/strew/torch_kernels/libstrew_torch-2.15.so
//
// The library has strew's operators, which the package calls by their names. Tested by tests/torch/aoti_test.py.
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

/// What torch.save wrote: a tuple of tensors.
std::vector<at::Tensor> tensors_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const c10::IValue tuple = torch::jit::pickle_load(bytes);
  std::vector<at::Tensor> result;
  for (const c10::IValue& each : tuple.toTupleRef().elements()) result.push_back(each.toTensor());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER LIBRARY\n", argv[0]);
    return 2;
  }
  if (dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const std::string folder = argv[1];
  const c10::InferenceMode no_gradients;
  torch::inductor::AOTIModelPackageLoader package(folder + "/layer.pt2");
  std::vector<at::Tensor> inputs = tensors_of(folder + "/inputs.pt");
  const at::Tensor expected = tensors_of(folder + "/expected.pt")[0];
  const at::Tensor result = package.run(inputs)[0];
  const double difference = (result - expected).abs().max().item<double>();
  std::printf("%lld rows, largest difference from eager PyTorch %g\n", static_cast<long long>(result.size(0)), difference);
  if (!(difference < 1e-4)) return 1;
  // A bad index is an exception, as in Python.
  inputs[1][0][7] = 1000;
  try {
    package.run(inputs);
  } catch (const std::exception& error) {
    std::puts("a bad index is an error");
    return 0;
  }
  std::puts("a bad index was not noticed");
  return 1;
}
