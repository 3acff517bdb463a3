// Writes seeds of the binary formats into FOLDER/onnx, FOLDER/tflite and FOLDER/npy: the models that unit tests are made from, and a small
// .npy file of each dtype.
//
//   fuzz_write_seeds FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/support/onnx_writer.h"
#include "tests/support/tflite_writer.h"
#include "tools/npy.h"

namespace strew::testing {
namespace {

namespace fs = std::filesystem;

bool write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  return out.good();
}

/// data and indices of a Gather come from nodes that strew evaluates: a Constant and an initializer.
OnnxModel constants_model() {
  OnnxModel m = onnx_gather_model("Gather", {2, 3}, {2});
  m.inputs.pop_back();
  m.initializers.push_back({"indices", kInt64, {2}, bytes_of<int64_t>({1, 0})});
  m.nodes[0].attributes = {onnx_int("axis", 1)};
  return m;
}

OnnxModel circular_model() {
  OnnxModel m = tensor_scatter_model();
  m.nodes[0].attributes = {onnx_string("mode", "circular"), onnx_int("axis", 1)};
  return m;
}

OnnxModel open_model() {
  OnnxModel m = onnx_scatter_model("ScatterND", {kSymbolic, 4}, {kSymbolic, 1}, {kSymbolic, 4});
  m.nodes[0].attributes = {onnx_string("reduction", "add")};
  return m;
}

OnnxModel elements_model() {
  OnnxModel m = onnx_scatter_model("ScatterElements", {3, 4}, {2, 4}, {2, 4});
  m.nodes[0].attributes = {onnx_int("axis", 0), onnx_string("reduction", "max")};
  return m;
}

bool write_onnx(const fs::path& folder) {
  return write(folder / "tensor_scatter.onnx", tensor_scatter_model().bytes()) &&
         write(folder / "tensor_scatter_circular.onnx", circular_model().bytes()) &&
         write(folder / "scatter_elements.onnx", elements_model().bytes()) &&
         write(folder / "scatter_nd_open.onnx", open_model().bytes()) &&
         write(folder / "gather.onnx", onnx_gather_model("Gather", {5, 3}, {2, 2}).bytes()) &&
         write(folder / "gather_elements.onnx", onnx_gather_model("GatherElements", {5, 3}, {2, 3}).bytes()) &&
         write(folder / "gather_nd.onnx", onnx_gather_model("GatherND", {5, 3}, {4, 2}).bytes()) &&
         write(folder / "gather_constants.onnx", constants_model().bytes());
}

bool write_tflite(const fs::path& folder) {
  return write(folder / "update_slice.tflite", update_slice_model().bytes()) &&
         write(folder / "gather.tflite", gather_model().bytes()) &&
         write(folder / "gather_nd.tflite", gather_nd_model().bytes()) &&
         write(folder / "scatter_nd.tflite", scatter_nd_model().bytes()) &&
         write(folder / "stablehlo_scatter.tflite", stablehlo_scatter_model({}).bytes()) &&
         write(folder / "stablehlo_scatter_add.tflite", stablehlo_scatter_model(TfliteCode::STABLEHLO_ADD).bytes()) &&
         write(folder / "stablehlo_gather.tflite", stablehlo_gather_model().bytes());
}

/// The target's input: the dtype in the first byte, then the file.
bool write_npy(const fs::path& folder) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    Expected<Tensor> tensor = make_tensor(dtype, {2, 3});
    if (!tensor.ok()) return false;
    if (dtype == DType::string) set_strings(*tensor, {"a", "", "\xc3\xa4", "bc", "d", "e"});
    const Expected<std::string> text = format_npy(*tensor);
    const std::string file = "dtype_" + std::to_string(i) + ".npy";
    if (!text.ok() || !write(folder / file, static_cast<char>(i) + *text)) return false;
  }
  return true;
}

}  // namespace
}  // namespace strew::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_write_seeds FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  using namespace strew::testing;
  const bool written = write_onnx(folder / "onnx") && write_tflite(folder / "tflite") && write_npy(folder / "npy");
  if (!written) std::cerr << argv[1] << ": a seed could not be written\n";
  return written ? 0 : 1;
}
