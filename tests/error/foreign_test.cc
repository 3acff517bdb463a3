// Files of formats that strew does not read are recognised by what is in them, and answered with the command that converts them.
#include <filesystem>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

class ForeignTest : public Cli {
 protected:
  /// The beginning of an archive, and the names in the directory at its end.
  static std::string archive(const std::string& names) { return "PK\3\4" + std::string(100'000, 'x') + "PK\1\2" + names; }
  std::string message(const std::string& name, const std::string& bytes) {
    write(name, bytes);
    return failure(1, "check " + name);
  }
};

TEST_F(ForeignTest, ArchivesOfPyTorch) {
  EXPECT_THAT(message("m.pt", archive("m/data.pkl m/code/__torch__.py m/constants.pkl")),
              HasSubstr("m.pt: a TorchScript archive, expected a model that strew reads: 'python3 -c \"import torch; "
                        "torch.onnx.export(torch.jit.load('m.pt'), INPUTS, 'FILE.onnx', dynamo=False)\"' makes one"));
  EXPECT_THAT(message("m.onnx", archive("m/constants.pkl")), HasSubstr("m.onnx: a TorchScript archive"))
      << "with another ending, too";
  EXPECT_THAT(message("m.pt2", archive("m/archive_format m/models/model.json")),
              HasSubstr("torch.onnx.export(torch.export.load('m.pt2'), dynamo=True).save('FILE.onnx')"));
  EXPECT_THAT(message("w.pth", archive("w/data.pkl w/data/0")), HasSubstr("the weights of a PyTorch model without the model"));
  EXPECT_THAT(message("other.zip", archive("readme")), HasSubstr("the ending names no known format"));
}

TEST_F(ForeignTest, ModelsOfTensorFlowAndKeras) {
  std::filesystem::create_directory(path("saved"));
  write("saved/saved_model.pb", "\x08\x01");
  const std::string said =
      "a TensorFlow SavedModel, expected a model that strew reads: 'python3 -m tf2onnx.convert --saved-model saved";
  EXPECT_THAT(failure(1, "check saved"), HasSubstr(said));
  EXPECT_THAT(failure(1, "explain saved/saved_model.pb"), HasSubstr(said));
  EXPECT_THAT(message("m.keras", archive("config.json model.weights.h5")), HasSubstr("m.keras: a Keras model"));
  EXPECT_THAT(message("m.h5", std::string("\x89HDF\r\n\x1a\n\0", 9)), HasSubstr("keras.models.load_model('m.h5').export"));
}

TEST_F(ForeignTest, FunctionsThatJaxSerialized) {
  const std::string flatbuffer("\x20\0\0\0\0\0\x1e\0", 8), artifact("ML\xefR\x0dStableHLO_v1.9.3\0vhlo\0", 27);
  for (const char* name : {"f.jax", "f.bin", "f.mlir"})
    EXPECT_THAT(message(name, flatbuffer + artifact),
                HasSubstr(std::string(name) +
                          ": a function that jax.export serialized, expected its text: 'python3 -c \"from jax import "
                          "export; print(export.deserialize(open('" +
                          name + "', 'rb').read()).mlir_module())\" > FILE.mlir' makes it"));
  EXPECT_THAT(message("f.mlirbc", artifact), HasSubstr("in JAX, jax.jit(f).lower(*args).as_text() and jax.export.export("));
}

TEST_F(ForeignTest, AFolderIsSaidToBeOne) {
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(failure(1, "check folder"),
              HasSubstr("folder: it is a folder, expected a file whose name ends in one of: .onnx, "));
}

TEST_F(ForeignTest, HloText) {
  for (const char* name : {"f.mlir", "f.hlo", "f.txt"})
    EXPECT_THAT(message(name, "HloModule jit_f, entry_computation_layout={(f32[4])->f32[4]}\n"),
                HasSubstr("HLO text, expected StableHLO: 'xla-translate --hlo-text-to-stablehlo FILE -o FILE.mlir' makes it"));
  EXPECT_THAT(failure(1, "check absent.hlo"), HasSubstr("the ending names no known format"));
}

}  // namespace
}  // namespace strew::testing
