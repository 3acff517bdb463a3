#include "bindings/onnxruntime/kernels.h"

#include <array>
#include <cstring>

namespace strew::ort {
namespace {

constexpr size_t kMostInputs = 3;

/// A kernel of one node.
struct NodeKernel : abi::KernelImpl {
  const Operator* op;
  Session* session;
  Attributes attributes;
  std::string name;
  std::atomic<uint64_t> calls{0};
};

class InfoReader final : public AttributeReader {
 public:
  explicit InfoReader(const abi::KernelInfo* info) : info_(info) {}
  std::optional<int64_t> number(const char* name) const override {
    int64_t out = 0;
    return succeeded(api().KernelInfoGetAttribute_int64(info_, name, &out)) ? std::optional(out) : std::nullopt;
  }
  std::optional<std::string> text(const char* name) const override {
    size_t size = 0;
    succeeded(api().KernelInfoGetAttribute_string(info_, name, nullptr, &size));  // fails, and says how long it is
    std::string out(size, '\0');
    if (size == 0 || !succeeded(api().KernelInfoGetAttribute_string(info_, name, out.data(), &size))) return std::nullopt;
    return std::string(out.c_str());
  }

 private:
  const abi::KernelInfo* info_;
};

/// What a call runs on: the result, the operand unless the result lies in its memory, the indices, the updates.
struct Tensors {
  std::array<strew_tensor, kMostInputs + 1> all;
  size_t count = 0;
  void add(const strew_tensor& tensor) { all[count++] = tensor; }
};

struct Request {
  const NodeKernel* kernel;
  std::span<const strew_tensor> inputs;
  bool in_place;
};
strew_status make_requested(void* context, strew_op** out) {
  const Request& request = *static_cast<const Request*>(context);
  return make_op(request.kernel->op->form, request.kernel->attributes, request.inputs, request.in_place, out);
}

/// All that makes an op but its tensors, and the number of threads that the schedule is for.
uint64_t variant_of(const NodeKernel& kernel, bool in_place, int32_t threads) {
  uint64_t number = static_cast<uint64_t>(threads);
  number = number << 8 | static_cast<uint8_t>(kernel.attributes.axis);
  number = number << 8 | static_cast<uint8_t>(kernel.attributes.batch_dims);
  number = number << 4 | static_cast<uint64_t>(kernel.op->form);
  number = number << 4 | static_cast<uint64_t>(kernel.attributes.combiner);
  number = number << 1 | static_cast<uint64_t>(kernel.attributes.is_circular);
  return number << 1 | static_cast<uint64_t>(in_place);
}

abi::Status* check(const NodeKernel& kernel, strew_status status) {
  if (status == nullptr) return nullptr;
  const bool is_bounds = strew_status_code(status) == STREW_CODE_OUT_OF_BOUNDS;
  return from_strew(status, is_bounds ? kernel.op->bad_index : abi::ErrorCode::invalid_argument,
                    std::string("node '") + kernel.name + "' (" + kernel.op->name + ")");
}

abi::Status* run(const NodeKernel& kernel, std::span<const strew_tensor> inputs, const strew_tensor& result, bool in_place) {
  Tensors tensors;
  tensors.add(result);
  for (const strew_tensor& input : inputs.subspan(in_place ? 1 : 0)) tensors.add(input);
  Request made_from{&kernel, inputs, in_place};
  strew_request request = kernel.session->runtime->request();
  request.threads = kernel.session->runtime->threads();
  return check(kernel, strew_site_run_tensors(kernel.session->runtime->site(), tensors.all.data(), tensors.count, make_requested,
                                              &made_from, variant_of(kernel, in_place, request.threads), &request, nullptr));
}

/// The same on the reference, into memory of its own, and the first byte that differs is a failure. `operand`: what it held before the call.
abi::Status* verify(const NodeKernel& kernel, std::span<const strew_tensor> inputs, const std::vector<std::byte>& operand,
                    const strew_tensor& result) {
  std::vector<std::byte> expected(static_cast<size_t>(bytes_of(result)));
  std::array<strew_tensor, kMostInputs> given{};
  std::copy(inputs.begin(), inputs.end(), given.begin());
  given[0].data = const_cast<std::byte*>(operand.data());
  Request made_from{&kernel, std::span(given).first(inputs.size()), false};
  strew_op* op = nullptr;
  STREW_ORT_TRY(check(kernel, make_requested(&made_from, &op)));
  const std::unique_ptr<strew_op, void (*)(strew_op*)> owned_op(op, strew_op_free);
  strew_request request = STREW_REQUEST_INIT;
  request.backend = "reference";
  strew_prepared* prepared = nullptr;
  STREW_ORT_TRY(check(kernel, strew_prepare(op, &request, &prepared)));
  const std::unique_ptr<strew_prepared, void (*)(strew_prepared*)> owned(prepared, strew_prepared_free);
  strew_kernel_ref* reference = nullptr;
  STREW_ORT_TRY(check(kernel, strew_get(kernel.session->runtime->get(), prepared, STREW_NO_TIMEOUT, &reference)));
  const std::unique_ptr<strew_kernel_ref, void (*)(strew_kernel_ref*)> owned_kernel(reference, strew_kernel_release);
  Tensors tensors;
  tensors.add(result);
  tensors.all[0].data = expected.data();
  for (const strew_tensor& input : made_from.inputs) tensors.add(input);
  STREW_ORT_TRY(check(kernel, strew_kernel_run(reference, tensors.all.data(), tensors.count, nullptr)));
  const auto* const got = static_cast<const std::byte*>(result.data);
  const auto differs = std::mismatch(expected.begin(), expected.end(), got).first;
  if (differs == expected.end()) return nullptr;
  return failure("strew: node '" + kernel.name + "' (" + kernel.op->name + "): the result differs from the reference at byte " +
                 std::to_string(differs - expected.begin()) + ", which is an error in strew: please report it with the model");
}

/// The inputs as make_op() takes them. TensorScatter has its indices last, and they may be left out: `zeros` has room for them.
abi::Status* read_inputs(const NodeKernel& kernel, const abi::KernelContext* context, std::array<strew_tensor, kMostInputs>* out,
                         size_t* count, std::vector<int64_t>* zeros) {
  *count = writes(kernel.op->form) ? 3 : 2;
  STREW_ORT_TRY(input(context, 0, &(*out)[0]));
  if (kernel.op->form != Form::tensor_scatter) {
    for (size_t i = 1; i < *count; ++i) STREW_ORT_TRY(input(context, i, &(*out)[i]));
    return nullptr;
  }
  STREW_ORT_TRY(input(context, 1, &(*out)[2]));
  size_t given = 0;
  STREW_ORT_TRY(api().KernelContext_GetInputCount(context, &given));
  const abi::Value* starts = nullptr;
  if (given > 2) STREW_ORT_TRY(api().KernelContext_GetInput(context, 2, &starts));
  if (starts != nullptr) return view_of(starts, true, &(*out)[1]);
  const strew_tensor& cache = (*out)[0];
  zeros->assign(cache.rank > 0 ? static_cast<size_t>(cache.dims[0]) : 0, 0);
  (*out)[1] = {zeros->data(), cache.dims, nullptr, 1, STREW_I64, 1, {0, 0}};
  return nullptr;
}

abi::Status* compute(NodeKernel& kernel, abi::KernelContext* context) {
  std::array<strew_tensor, kMostInputs> inputs;
  size_t count = 0;
  std::vector<int64_t> zeros;
  Dims dims;
  STREW_ORT_TRY(read_inputs(kernel, context, &inputs, &count, &zeros));
  const std::span<const strew_tensor> given(inputs.data(), count);
  STREW_ORT_TRY(result_dims(kernel.op->form, kernel.attributes, given, &dims));
  abi::Value* output = nullptr;
  STREW_ORT_TRY(api().KernelContext_GetOutput(context, 0, dims.data(), dims.size(), &output));
  strew_tensor result;
  STREW_ORT_TRY(view_of(output, false, &result));
  const Calling calling(context, kernel.session->pool);
  const bool in_place = writes(kernel.op->form) && result.data == inputs[0].data;
  if (writes(kernel.op->form)) kernel.session->report->count_scatter(in_place);
  if (in_place) inputs[0].read_only = 0;
  const uint64_t every = kernel.session->verify_every;
  if (every == 0 || kernel.calls.fetch_add(1, std::memory_order_relaxed) % every != 0)
    return run(kernel, given, result, in_place);
  const auto* const bytes = static_cast<const std::byte*>(inputs[0].data);
  const std::vector<std::byte> before(bytes, bytes + bytes_of(inputs[0]));
  STREW_ORT_TRY(run(kernel, given, result, in_place));
  return verify(kernel, given, before, result);
}

abi::Status* create(Session* session, const Operator* op, const abi::KernelInfo* info, abi::KernelImpl** out) {
  auto made = std::make_unique<NodeKernel>();
  made->ort_version_supported = abi::kVersion;
  made->op = op;
  made->session = session;
  STREW_ORT_TRY(read_attributes(op->form, InfoReader(info), &made->attributes));
  size_t size = 0;
  succeeded(api().KernelInfo_GetNodeName(info, nullptr, &size));
  std::string name(size, '\0');
  if (size > 0 && succeeded(api().KernelInfo_GetNodeName(info, name.data(), &size))) made->name = name.c_str();
  made->Compute = [](abi::KernelImpl* kernel, abi::KernelContext* context) {
    return guarded([&] { return compute(*static_cast<NodeKernel*>(kernel), context); });
  };
  made->Release = [](abi::KernelImpl* kernel) { delete static_cast<NodeKernel*>(kernel); };
  *out = made.release();
  return nullptr;
}

abi::Status* data_types(std::span<const abi::ElementType> elements, std::vector<const abi::DataType*>* out) {
  for (const abi::ElementType element : elements) STREW_ORT_TRY(ep_api().GetTensorDataType(element, &out->emplace_back()));
  return nullptr;
}

abi::Status* add_kernel(abi::KernelRegistry* registry, Registry::Entry* entry, int version) {
  const abi::EpApi& ep = ep_api();
  const Operator& op = *entry->op;
  abi::KernelDefBuilder* made = nullptr;
  STREW_ORT_TRY(ep.CreateKernelDefBuilder(&made));
  const Owned<abi::KernelDefBuilder> builder(made);
  STREW_ORT_TRY(ep.KernelDefBuilder_SetOperatorType(made, op.name));
  STREW_ORT_TRY(ep.KernelDefBuilder_SetDomain(made, op.domain));
  // Without an end, the entry would be for this version alone, too.
  STREW_ORT_TRY(ep.KernelDefBuilder_SetSinceVersion(made, version, version));
  STREW_ORT_TRY(ep.KernelDefBuilder_SetExecutionProvider(made, kProviderName));
  std::vector<const abi::DataType*> types, index_types;
  STREW_ORT_TRY(data_types(element_types(), &types));
  STREW_ORT_TRY(ep.KernelDefBuilder_AddTypeConstraint(made, "T", types.data(), types.size()));
  if (op.index_types != nullptr) {
    constexpr std::array kIndices = {abi::ElementType::i32, abi::ElementType::i64};
    STREW_ORT_TRY(data_types(kIndices, &index_types));
    STREW_ORT_TRY(ep.KernelDefBuilder_AddTypeConstraint(made, op.index_types, index_types.data(), index_types.size()));
  }
  constexpr int kFirst = 0;
  if (writes(op.form)) STREW_ORT_TRY(ep.KernelDefBuilder_AddInputOutputMutableAliases(made, &kFirst, &kFirst, 1));
  abi::KernelDef* definition = nullptr;
  STREW_ORT_TRY(ep.KernelDefBuilder_Build(made, &definition));
  const Owned<abi::KernelDef> owned(definition);
  const abi::KernelCreateFunc make = [](void* state, const abi::KernelInfo* info, abi::KernelImpl** out) {
    const auto* const from = static_cast<const Registry::Entry*>(state);
    return guarded([&] { return create(from->session, from->op, info, out); });
  };
  return ep.KernelRegistry_AddKernel(registry, definition, make, entry);
}

}  // namespace

abi::Status* Registry::open(Session* session) {
  abi::KernelRegistry* made = nullptr;
  STREW_ORT_TRY(ep_api().CreateKernelRegistry(&made));
  registry_.reset(made);
  for (const Operator& op : operators()) entries_.push_back({session, &op});
  for (Entry& entry : entries_)
    for (const int version : entry.op->versions) STREW_ORT_TRY(add_kernel(made, &entry, version));
  return nullptr;
}

}  // namespace strew::ort
