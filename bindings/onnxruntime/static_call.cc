#include "bindings/onnxruntime/static_call.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace strew::ort {
namespace {

/// The bytes of the tensors up to which a program is bound, which takes as much memory for a moment. In larger calls, what it saves does not count.
constexpr int64_t kMostBytes = 1 << 20;
constexpr size_t kMostTensors = 16;

bool is_beside(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto* const first = static_cast<const std::byte*>(a);
  const auto* const second = static_cast<const std::byte*>(b);
  return std::less_equal<>()(first + a_bytes, second) || std::less_equal<>()(second + b_bytes, first);
}

}  // namespace

StaticCall::StaticCall(const strew_program* program, const std::vector<Binding>& inputs, const std::vector<size_t>& outputs,
                       const std::string& name)
    : program_(program), name_(name) {
  bool fits = inputs.size() + outputs.size() <= kMostTensors;
  strew_port port = STREW_PORT_INIT;
  for (size_t i = 0; i < inputs.size() && fits; ++i)
    fits = inputs[i].kind == Binding::Kind::value && succeeded(strew_program_input(program, i, &port)) &&
           add(port, inputs[i].number, &inputs_);
  for (size_t o = 0; o < outputs.size() && fits; ++o)
    fits = outputs[o] != kUnread && succeeded(strew_program_output(program, o, &port)) && add(port, outputs[o], &outputs_);
  int64_t bytes = 0;
  for (const std::vector<Port>* const ports : {&inputs_, &outputs_})
    for (const Port& each : *ports) bytes += each.bytes;
  is_possible_ = fits && bytes <= kMostBytes;
}

bool StaticCall::add(const strew_port& port, size_t number, std::vector<Port>* ports) {
  const std::vector<int64_t> dims(port.dims, port.dims + port.rank);
  if (std::ranges::find(dims, STREW_OPEN) != dims.end()) return false;
  const strew_tensor tensor{nullptr, dims.data(), nullptr, port.rank, port.dtype, 0, {0, 0}};
  ports->push_back({number, dims, port.dtype, bytes_of(tensor)});
  return true;
}

bool StaticCall::is_bound(const Runtime& runtime, int32_t threads) {
  if (const int32_t bound_for = threads_.load(std::memory_order_acquire); bound_for != 0) return bound_for == threads;
  // Kernels are compiled by other calls, of which the first may wait for that, or not (compile mode background).
  const uint64_t call = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (call == 1 || !std::has_single_bit(call)) return false;
  const std::lock_guard lock(mutex_);
  if (threads_ != 0 || !is_possible_) return threads_ == threads;
  strew_request request = runtime.request();
  request.threads = threads;
  request.compile = "must_hit";
  if (const strew_status status = strew_program_bind(program_, runtime.get(), &request, nullptr, outputs_.size(), &bound_)) {
    is_possible_ = strew_status_code(status) != STREW_CODE_UNSUPPORTED;
    strew_status_free(status);
    return false;
  }
  threads_.store(threads, std::memory_order_release);
  return true;
}

bool StaticCall::overlaps(std::span<void* const> data) const {
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const size_t own = inputs_.size() + o;
    for (size_t t = 0; t < own; ++t) {
      const int64_t bytes = t < inputs_.size() ? inputs_[t].bytes : outputs_[t - inputs_.size()].bytes;
      if (!is_beside(data[own], outputs_[o].bytes, data[t], bytes)) return true;
    }
  }
  return false;
}

abi::Status* StaticCall::run(const Runtime& runtime, abi::KernelContext* context, bool* done) {
  *done = false;
  if (!is_possible_.load(std::memory_order_relaxed) || !is_bound(runtime, runtime.threads())) return nullptr;
  std::array<void*, kMostTensors> data;
  size_t count = 0;
  for (const Port& port : inputs_) {
    strew_tensor tensor;
    STREW_ORT_TRY(input(context, port.number, &tensor));
    if (tensor.dtype != port.dtype || !std::equal(port.dims.begin(), port.dims.end(), tensor.dims, tensor.dims + tensor.rank))
      return nullptr;
    data[count++] = tensor.data;
  }
  for (const Port& port : outputs_) {
    abi::Value* value = nullptr;
    STREW_ORT_TRY(api().KernelContext_GetOutput(context, port.number, port.dims.data(), port.dims.size(), &value));
    STREW_ORT_TRY(api().GetTensorMutableData(value, &data[count++]));
  }
  if (overlaps(std::span(data).first(count))) return nullptr;
  *done = true;
  const strew_status status = strew_bound_program_run(bound_, data.data(), count);
  return status == nullptr ? nullptr : from_strew(status, abi::ErrorCode::invalid_argument, name_);
}

}  // namespace strew::ort
