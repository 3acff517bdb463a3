// See tensor_file.h. The formats are in tools/npy.h and compiler/import/onnx/tensor_proto.h. Tested by
// tests/error/cli_test.cc and tests/oracle/*.
#include "tools/strew/tensor_file.h"

#include <cstring>
#include <new>
#include <string_view>

#include "base/file.h"
#include "base/number.h"
#include "base/pending_file.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "tools/npy.h"

namespace strew::cli {
namespace {

constexpr int64_t kMaxNpyBytes = int64_t{1} << 40;
constexpr int64_t kMaxTensorProtoBytes = (int64_t{1} << 31) - 1;  // the limit of protobuf

Expected<Tensor> from_constant(const Constant& constant, const ProgramInput& input, const std::string& path) {
  if (constant.type.dtype != input.type.dtype) {
    return invalid_argument(path + ": the tensor is " + std::string(name(constant.type.dtype)) + ", expected " +
                            std::string(name(input.type.dtype)) + " for input " + input.name);
  }
  STREW_ASSIGN(Tensor tensor, make_tensor(constant.type.dtype, constant.type.dims));
  if (tensor.dtype == DType::string) {
    set_strings(tensor, constant.strings);
  } else if (!constant.data.empty()) {
    std::memcpy(tensor.data.data(), constant.data.data(), constant.data.size());
  }
  return tensor;
}

std::string position_text(int64_t element, const std::vector<int64_t>& dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    at[d] = element % dims[d];
    element /= dims[d];
  }
  std::string out = "[";
  for (size_t d = 0; d < at.size(); ++d) out += (d ? "," : "") + std::to_string(at[d]);
  return out + "]";
}

bool same(const Tensor& a, const Tensor& b, int64_t i, bool strict) {
  if (a.dtype == DType::string) return string_at(a, i) == string_at(b, i);
  const Scalar x = load_element(a.dtype, a.data.data(), i), y = load_element(b.dtype, b.data.data(), i);
  return strict ? x == y : same_value(x, y);
}

}  // namespace

Expected<std::unique_ptr<Tensor>> read_tensor(const std::string& path, const ProgramInput& input, int64_t max_bytes) {
  if (std::string_view(path).ends_with(".pb")) {
    STREW_ASSIGN(const std::string bytes, read_file(path, max_bytes > 0 ? max_bytes : kMaxTensorProtoBytes));
    STREW_ASSIGN(const Constant constant, onnx::parse_tensor(bytes, path));
    STREW_ASSIGN(Tensor tensor, from_constant(constant, input, path));
    return std::make_unique<Tensor>(std::move(tensor));
  }
  Expected<Tensor> read = read_npy(path, input.type.dtype, max_bytes > 0 ? max_bytes : kMaxNpyBytes);
  if (!read.ok()) {
    const Status& s = read.status();
    return s.code() == Code::io ? s : Status(s.code(), s.message() + ", for input " + input.name);
  }
  Tensor tensor = *std::move(read);
  return std::make_unique<Tensor>(std::move(tensor));
}

Status write_tensors(const std::vector<Tensor>& tensors, const std::vector<std::string>& paths) {
  std::vector<PendingFile> pending;
  for (size_t i = 0; i < paths.size(); ++i) {
    STREW_ASSIGN(PendingFile file, PendingFile::create(paths[i]));
    STREW_TRY(write_npy(tensors[i], [&](std::string_view bytes) { return file.write(bytes); }));
    STREW_TRY(file.close());
    pending.push_back(std::move(file));
  }
  for (PendingFile& file : pending) STREW_TRY(file.commit());
  return {};
}

std::unique_ptr<Tensor> clone(const Tensor& tensor) {
  if (tensor.data.read_only()) {
    auto out = std::make_unique<Tensor>();
    out->dtype = tensor.dtype;
    out->dims = tensor.dims;
    out->data = tensor.data.share();
    return out;
  }
  Expected<Tensor> copy = make_tensor(tensor.dtype, tensor.dims);
  if (!copy.ok()) throw std::bad_alloc();
  if (tensor.dtype == DType::string) {
    std::vector<std::string> strings;
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i) strings.emplace_back(string_at(tensor, i));
    set_strings(*copy, std::move(strings));
  } else {
    std::memcpy(copy->data.data(), tensor.data.data(), static_cast<size_t>(tensor.data.size()));
  }
  return std::make_unique<Tensor>(std::move(*copy));
}

std::string first_difference(const Tensor& a, const Tensor& b, bool strict) {
  if (a.dims != b.dims || a.dtype != b.dtype) return "the shapes differ";
  if (a.dtype != DType::string && std::memcmp(a.data.data(), b.data.data(), static_cast<size_t>(a.data.size())) == 0) return "";
  for (int64_t i = 0, n = a.elements(); i < n; ++i) {
    if (!same(a, b, i, strict)) return "element " + position_text(i, a.dims) + " differs";
  }
  return "";
}

}  // namespace strew::cli
