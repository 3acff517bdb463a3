// The functions of the mock host's tables that register kernels, make them and call them, and that take what a provider supports. Used by main.cc.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "tests/onnxruntime/mock_host/mock.h"

namespace strew::ort::abi {

const KernelRegistry::Entry* KernelRegistry::find(const Node& node) const {
  for (const Entry& entry : entries) {
    const KernelDef& definition = *entry.definition;
    const auto types = definition.types.find("T");
    const ElementType type = node.inputs[0]->type.tensor.element;
    if (definition.type == node.type && definition.domain == node.domain && definition.first <= node.version &&
        node.version <= definition.last && types != definition.types.end() &&
        std::find(types->second.begin(), types->second.end(), type) != types->second.end())
      return &entry;
  }
  return nullptr;
}

}  // namespace strew::ort::abi

namespace strew::mock {
namespace {

const abi::Attribute* find_attribute(const abi::KernelInfo* info, const char* name, abi::AttributeType type) {
  for (const abi::Attribute& each : info->node->attributes)
    if (each.name == name && each.type == type) return &each;
  return nullptr;
}

abi::Status* copy_text(const std::string& text, char* out, size_t* size) {
  const size_t room = *size;
  *size = text.size() + 1;
  if (out == nullptr) return nullptr;
  if (room < *size) return base().GetApi(1)->CreateStatus(abi::ErrorCode::invalid_argument, "no room");
  std::memcpy(out, text.c_str(), *size);
  return nullptr;
}

abi::Status* get_output(abi::KernelContext* context, size_t number, const int64_t* dims, size_t rank, abi::Value** out) {
  abi::Value& made = context->outputs.at(number);
  *out = &made;
  if (made.data != nullptr) return nullptr;
  made.element = context->output_types[number];
  made.dims.assign(dims, dims + rank);
  const abi::Value* const shared = context->in_place[number];
  if (shared != nullptr && shared->dims == made.dims)
    made.data = shared->data;
  else
    made.data = std::make_shared<std::vector<std::byte>>(elements_of(made.dims) * bytes_of(made.element), std::byte{0xAB});
  return nullptr;
}

/// Runs the tasks on the caller, or on threads that live as long as the loop.
abi::Status* parallel_for(const abi::KernelContext* context, void (*task)(void*, size_t), size_t count, size_t, void* data) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t number = next++; number < count; number = next++) task(data, number);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(context->threads, count); ++i) threads.emplace_back(work);
  work();
  for (std::thread& each : threads) each.join();
  return nullptr;
}

void add_calls(abi::Api& api) {
  api.KernelContext_GetInputCount = [](const abi::KernelContext* context, size_t* out) -> abi::Status* {
    *out = context->inputs.size();
    return nullptr;
  };
  api.KernelContext_GetInput = [](const abi::KernelContext* context, size_t number, const abi::Value** out) -> abi::Status* {
    *out = context->inputs.at(number);
    return nullptr;
  };
  api.KernelContext_GetOutput = get_output;
  api.KernelContext_ParallelFor = parallel_for;
  api.KernelInfoGetAttribute_int64 = [](const abi::KernelInfo* info, const char* name, int64_t* out) -> abi::Status* {
    const abi::Attribute* const found = find_attribute(info, name, abi::AttributeType::number);
    if (found == nullptr) return base().GetApi(1)->CreateStatus(abi::ErrorCode::fail, "there is no such attribute");
    *out = found->number;
    return nullptr;
  };
  api.KernelInfoGetAttribute_string = [](const abi::KernelInfo* info, const char* name, char* out, size_t* size) {
    const abi::Attribute* const found = find_attribute(info, name, abi::AttributeType::text);
    if (found == nullptr) return base().GetApi(1)->CreateStatus(abi::ErrorCode::fail, "there is no such attribute");
    return copy_text(found->text, out, size);
  };
  api.KernelInfo_GetNodeName = [](const abi::KernelInfo* info, char* out, size_t* size) {
    return copy_text(info->node->name, out, size);
  };
}

void add_builders(abi::EpApi& ep) {
  ep.CreateKernelDefBuilder = [](abi::KernelDefBuilder** out) -> abi::Status* {
    count_alive(1);
    *out = new abi::KernelDefBuilder();
    return nullptr;
  };
  ep.ReleaseKernelDefBuilder = [](abi::KernelDefBuilder* builder) {
    count_alive(-1);
    delete builder;
  };
  ep.KernelDefBuilder_SetOperatorType = [](abi::KernelDefBuilder* builder, const char* type) -> abi::Status* {
    builder->made.type = type;
    return nullptr;
  };
  ep.KernelDefBuilder_SetDomain = [](abi::KernelDefBuilder* builder, const char* domain) -> abi::Status* {
    builder->made.domain = domain;
    return nullptr;
  };
  ep.KernelDefBuilder_SetSinceVersion = [](abi::KernelDefBuilder* builder, int first, int last) -> abi::Status* {
    builder->made.first = first;
    builder->made.last = last;
    return nullptr;
  };
  ep.KernelDefBuilder_SetExecutionProvider = [](abi::KernelDefBuilder*, const char*) -> abi::Status* { return nullptr; };
  ep.KernelDefBuilder_AddTypeConstraint = [](abi::KernelDefBuilder* builder, const char* name, const abi::DataType* const* types,
                                             size_t count) -> abi::Status* {
    for (size_t i = 0; i < count; ++i) builder->made.types[name].push_back(types[i]->element);
    return nullptr;
  };
  ep.KernelDefBuilder_AddInputOutputMutableAliases = [](abi::KernelDefBuilder* builder, const int* inputs, const int* outputs,
                                                        size_t count) -> abi::Status* {
    if (count != 1 || inputs[0] != 0 || outputs[0] != 0) fail("an alias other than of the first input and output is asked for");
    builder->made.may_alias = true;
    return nullptr;
  };
  ep.KernelDefBuilder_Build = [](abi::KernelDefBuilder* builder, abi::KernelDef** out) -> abi::Status* {
    count_alive(1);
    *out = new abi::KernelDef(builder->made);
    return nullptr;
  };
  ep.ReleaseKernelDef = [](abi::KernelDef* definition) {
    count_alive(-1);
    delete definition;
  };
  ep.KernelDef_GetOperatorType = [](const abi::KernelDef* definition) { return definition->type.c_str(); };
  ep.KernelDef_GetDomain = [](const abi::KernelDef* definition) { return definition->domain.c_str(); };
  ep.KernelDef_GetSinceVersion = [](const abi::KernelDef* definition, int* first, int* last) -> abi::Status* {
    *first = definition->first;
    *last = definition->last;
    return nullptr;
  };
}

void add_registry(abi::EpApi& ep) {
  ep.CreateKernelRegistry = [](abi::KernelRegistry** out) -> abi::Status* {
    count_alive(1);
    *out = new abi::KernelRegistry();
    return nullptr;
  };
  ep.ReleaseKernelRegistry = [](abi::KernelRegistry* registry) {
    count_alive(-1);
    delete registry;
  };
  ep.KernelRegistry_AddKernel = [](abi::KernelRegistry* registry, const abi::KernelDef* definition, abi::KernelCreateFunc create,
                                   void* state) -> abi::Status* {
    registry->entries.push_back({std::make_unique<abi::KernelDef>(*definition), create, state});
    return nullptr;
  };
  ep.GetTensorDataType = [](abi::ElementType type, const abi::DataType** out) -> abi::Status* {
    static const std::vector<abi::DataType> all = [] {
      std::vector<abi::DataType> made;
      for (int number = 0; number <= static_cast<int>(abi::ElementType::i2); ++number)
        made.push_back({static_cast<abi::ElementType>(number)});
      return made;
    }();
    *out = &all.at(static_cast<size_t>(type));
    return nullptr;
  };
  ep.EpGraphSupportInfo_AddNodesToFuse = [](abi::SupportInfo* support, const abi::Node* const* nodes, size_t count,
                                            const abi::NodeFusionOptions*) -> abi::Status* {
    support->fused.emplace_back(nodes, nodes + count);
    return nullptr;
  };
  ep.EpGraphSupportInfo_AddSingleNode = [](abi::SupportInfo* support, const abi::Node* node) -> abi::Status* {
    support->single.push_back(node);
    return nullptr;
  };
  ep.EpGraphSupportInfo_LookUpKernel = [](abi::SupportInfo* support, const abi::Node* node,
                                          const abi::KernelDef** out) -> abi::Status* {
    const abi::KernelRegistry::Entry* const found = support->registry->find(*node);
    *out = found != nullptr ? found->definition.get() : nullptr;
    return nullptr;
  };
}

}  // namespace

void add_kernels(abi::Api& api, abi::EpApi& ep) {
  add_calls(api);
  add_builders(ep);
  add_registry(ep);
}

}  // namespace strew::mock
