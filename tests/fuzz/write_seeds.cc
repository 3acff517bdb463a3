// Writes seeds that are no files of the source tree. FOLDER/onnx, FOLDER/tflite: the models that unit tests are made from. FOLDER/npy: a
// small .npy file of each dtype. FOLDER/object, FOLDER/cache_entry: objects, and a file of the disk cache. FOLDER/pto_ir, FOLDER/pto_as: the programs of some ops of PROGRAMS (tests/golden/programs).
//
//   fuzz_write_seeds FOLDER PROGRAMS
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "backends/pipeline.h"
#include "backends/pto/program.h"
#include "compiler/pto/instructions.h"
#include "runtime/disk_cache/entry.h"
#include "strew/text.h"
#include "tests/support/elf_object.h"
#include "tests/support/golden_programs.h"
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

OnnxModel scatter_model() {
  OnnxModel m = onnx_scatter_model("Scatter", {3, 4}, {2, 4}, {2, 4});
  m.opset = 9;
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
         write(folder / "scatter.onnx", scatter_model().bytes()) &&
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

bool write_program(const fs::path& file, const fs::path& programs, const std::string& name, pto::Chip chip, pto::Output output) {
  const Expected<pto::TileProgram> program = test::golden_program(programs, name, chip, test::golden_options(name, chip, output));
  if (!program.ok()) {
    std::cerr << name << ": " << program.status().message() << "\n";
    return false;
  }
  const Expected<std::string> text = pto::program_text({*program}, pto::name(output));
  return text.ok() && write(file, *text);
}

/// The instruction's own examples and index tiles as columns, for both chips; other combiners, for a3, whose programs are the longer ones.
bool write_pto_ir(const fs::path& folder, const fs::path& programs) {
  bool written = true;
  for (const std::string& name : test::stems(programs, ".op")) {
    const bool both = name.starts_with("seed_") || name.starts_with("column_"), a3 = both || name.starts_with("row_mul");
    if (a3) written &= write_program(folder / (name + ".a3.pto"), programs, name, pto::Chip::a3, pto::Output::pto_ir);
    if (both) written &= write_program(folder / (name + ".a5.pto"), programs, name, pto::Chip::a5, pto::Output::pto_ir);
  }
  return written;
}

/// The instruction's own examples, and programs with index code, partial tiles and tile arithmetic.
bool write_pto_as(const fs::path& folder, const fs::path& programs) {
  bool written = true;
  for (const char* name : {"seed_weight_update", "seed_atomic_gradient", "seed_sparse_update", "seed_manual", "row_clamp",
                           "row_partial", "row_i64", "row_mul", "gather_elem_clamp", "column_f32", "row_neg"})
    written &= write_program(folder / (std::string(name) + ".as"), programs, name, pto::Chip::a5, pto::Output::pto_as);
  return written;
}

/// A kernel with math functions and constants, where there is a code generator; and what is written by hand.
bool write_objects(const fs::path& folder, const fs::path& entries) {
  bool written = write(folder / "calling.o", test::ElfObject::calling("mine", "trunc")) &&
                 write(folder / "returning.o", test::ElfObject::returning("one", 1));
  const Expected<Op> op = parse_op(
      "strew1.gather(operand=f32[20,8] indices=i32[3] result=f32[3,8] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,8] oob=clamp)");
  if (!op.ok()) return false;
  CacheEntry entry;
  entry.symbol = "strew_1";
  entry.build_id = "1234";
  entry.op = print(*op);
  entry.object = test::ElfObject::returning("strew_1", 1);
  written &= write(entries / "small.kernel", entry.encode());
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  options.threads = 1;
  if (const Expected<Compiled> kernel = compile(*op, options); kernel.ok())
    written &= write(folder / "kernel.o", kernel->artifact.object);
  return written;
}

}  // namespace
}  // namespace strew::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: fuzz_write_seeds FOLDER PROGRAMS\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1], programs = argv[2];
  using namespace strew::testing;
  const bool written = write_onnx(folder / "onnx") && write_tflite(folder / "tflite") && write_npy(folder / "npy") &&
                       write_pto_ir(folder / "pto_ir", programs) && write_pto_as(folder / "pto_as", programs) &&
                       write_objects(folder / "object", folder / "cache_entry");
  if (!written) std::cerr << argv[1] << ": a seed could not be written\n";
  return written ? 0 : 1;
}
