// See foreign.h. Archives of PyTorch and Keras are zip files, whose directory of names lies at the end. Tested by tests/error/foreign_test.cc.
#include "compiler/import/foreign.h"

#include <algorithm>
#include <span>

#include "base/file.h"

namespace strew::inline v0 {
namespace {

constexpr std::string_view kSavedModel = "saved_model.pb", kBytecode = "ML\xefR";

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Status refuse(const std::string& path, const std::string& what, const std::string& command) {
  return invalid_argument(path + ": " + what + ", expected a model that strew reads: '" + command + "' makes one");
}

/// Does a StableHLO artifact lie in the bytes, but not at their beginning? It starts with the magic number of MLIR's bytecode, a version of one
/// byte, and the version of StableHLO.
bool holds_artifact(std::string_view bytes) {
  for (size_t at = bytes.find(kBytecode, 1); at != std::string_view::npos; at = bytes.find(kBytecode, at + 1))
    if (bytes.substr(std::min(at + kBytecode.size() + 1, bytes.size())).starts_with("StableHLO_v")) return true;
  return false;
}

std::string python(const std::string& code) { return "python3 -c \"" + code + "\""; }

/// What makes a file of a program of PyTorch that `load` reads.
std::string torch_export(const std::string& load, const std::string& path, const std::string& rest) {
  return python("import torch; torch.onnx.export(" + load + "('" + path + "'), " + rest);
}

std::string keras_export(const std::string& path) {
  return python("import keras; keras.models.load_model('" + path + "').export('FILE.onnx', format='onnx')");
}

Status refuse_archive(std::string_view bytes, const std::string& path) {
  if (holds(bytes, "constants.pkl"))
    return refuse(path, "a TorchScript archive", torch_export("torch.jit.load", path, "INPUTS, 'FILE.onnx', dynamo=False)"));
  if (holds(bytes, "exported_program.json") || holds(bytes, "archive_format"))
    return refuse(path, "a program of torch.export", torch_export("torch.export.load", path, "dynamo=True).save('FILE.onnx')"));
  if (holds(bytes, "data.pkl"))
    return invalid_argument(path + ": the weights of a PyTorch model without the model, expected a model that strew reads: " +
                            "torch.onnx.export makes one of the module that loads them");
  if (holds(bytes, "model.weights.h5")) return refuse(path, "a Keras model", keras_export(path));
  return {};
}

}  // namespace

Status refuse_foreign(std::string_view bytes, const std::string& path) {
  const size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && bytes.substr(begin).starts_with("HloModule "))
    return invalid_argument(path +
                            ": HLO text, expected StableHLO: 'xla-translate --hlo-text-to-stablehlo FILE -o FILE.mlir' makes it");
  if (bytes.starts_with("PK\3\4")) return refuse_archive(bytes, path);
  // A FlatBuffer that has a StableHLO artifact in it.
  if (holds_artifact(bytes))
    return invalid_argument(
        path + ": a function that jax.export serialized, expected its text: '" +
        python("from jax import export; print(export.deserialize(open('" + path + "', 'rb').read()).mlir_module())") +
        " > FILE.mlir' makes it");
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) return refuse(path, "an HDF5 file, as Keras wrote models", keras_export(path));
  return {};
}

Status refuse_foreign_path(const std::string& path) {
  std::string folder = path;
  if (folder.ends_with(kSavedModel)) folder.resize(folder.size() - kSavedModel.size());
  if (folder.empty()) folder = ".";
  if (InputFile::open(folder + "/" + std::string(kSavedModel)).ok())
    return refuse(path, "a TensorFlow SavedModel", "python3 -m tf2onnx.convert --saved-model " + folder + " --output FILE.onnx");
  const Expected<InputFile> file = InputFile::open(path);
  if (!file.ok()) return {};
  // What tells the format of an archive is in the directory at its end; of other files, at their beginning.
  constexpr int64_t kMostRead = int64_t{1} << 16;
  const int64_t read = std::min(kMostRead, file->size());
  std::string head(static_cast<size_t>(read), '\0'), tail = head;
  STREW_TRY(file->read(0, std::as_writable_bytes(std::span(head))));
  STREW_TRY(file->read(file->size() - read, std::as_writable_bytes(std::span(tail))));
  return refuse_foreign(head + tail, path);
}

}  // namespace strew::inline v0
