// The execution provider: what ONNX Runtime finds in libstrew_ep.so. ort.register_execution_provider_library() opens it, and sessions to which its device is
// added get a provider of their own. Tested by tests/onnxruntime.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "bindings/onnxruntime/claims.h"
#include "bindings/onnxruntime/compute.h"
#include "bindings/onnxruntime/context.h"
#include "bindings/onnxruntime/groups.h"

namespace strew::ort {
namespace {

/// ONNX Runtime keeps the options of a provider as entries of the session's configuration, with this before their names.
constexpr const char* kOptionPrefix = "ep.strewexecutionprovider.";

struct Options {
  RuntimeOptions runtime;
  std::string ops;      ///< names of operators, with commas: only these; "": all
  std::string session;  ///< a name by which strew.ort.report() finds the session
  uint64_t verify_every = 0;
  bool makes_contexts = false;  ///< of every fused node: the session writes a compiled model
};

abi::Status* read_entry(const abi::SessionOptions* options, const std::string& key, std::string* out) {
  int has_entry = 0;
  out->clear();
  if (options == nullptr) return nullptr;
  STREW_ORT_TRY(api().HasSessionConfigEntry(options, key.c_str(), &has_entry));
  if (has_entry == 0) return nullptr;
  size_t size = 0;
  succeeded(api().GetSessionConfigEntry(options, key.c_str(), nullptr, &size));
  out->assign(size, '\0');
  if (size > 0) STREW_ORT_TRY(api().GetSessionConfigEntry(options, key.c_str(), out->data(), &size));
  *out = out->c_str();
  return nullptr;
}

abi::Status* read_option(const abi::SessionOptions* options, const char* name, std::string* out) {
  return read_entry(options, std::string(kOptionPrefix) + name, out);
}

template <class T>
abi::Status* read_number(const abi::SessionOptions* options, const char* name, T most, T* out) {
  std::string text;
  STREW_ORT_TRY(read_option(options, name, &text));
  if (text.empty()) return nullptr;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out >= 0 && *out <= most) return nullptr;
  return make_status(abi::ErrorCode::invalid_argument, std::string("strew: provider option ") + name + " is '" + text +
                                                           "', expected a number from 0 to " + std::to_string(most));
}

abi::Status* check_ops(const std::string& ops) {
  for (size_t at = 0; at < ops.size();) {
    const size_t end = std::min(ops.find(',', at), ops.size());
    const std::string name = ops.substr(at, end - at);
    const auto known = strew::ort::operators();
    if (std::none_of(known.begin(), known.end(), [&](const Operator& op) { return name == op.name; })) {
      std::string names;
      for (const Operator& op : known)
        if (names.find(op.name) == std::string::npos || names.empty())
          names += (names.empty() ? "" : ", ") + std::string(op.name);
      return make_status(abi::ErrorCode::invalid_argument, "strew: provider option ops names '" + name +
                                                               "', expected operators with commas between them, of: " + names);
    }
    at = end + 1;
  }
  return nullptr;
}

abi::Status* read_options(const abi::SessionOptions* session, Options* out) {
  constexpr int32_t kMostThreads = 1024;
  STREW_ORT_TRY(read_number(session, "threads", kMostThreads, &out->runtime.threads));
  STREW_ORT_TRY(read_number<uint64_t>(session, "verify", INT64_MAX, &out->verify_every));
  STREW_ORT_TRY(read_option(session, "cache_dir", &out->runtime.cache_dir));
  STREW_ORT_TRY(read_option(session, "wisdom", &out->runtime.wisdom));
  STREW_ORT_TRY(read_option(session, "ops", &out->ops));
  STREW_ORT_TRY(read_option(session, "session", &out->session));
  std::string makes_contexts;
  STREW_ORT_TRY(read_entry(session, "ep.context_enable", &makes_contexts));
  out->makes_contexts = makes_contexts == "1";
  return check_ops(out->ops);
}

struct Provider : abi::Ep {
  Options options;
  Session session;
  Registry registry;
  /// What was found in the graphs, by what its nodes make.
  std::map<std::set<std::string>, Group> groups;
  std::map<std::set<std::string>, Expansion> expansions;
};

abi::Status* claim_node(Provider& provider, const abi::Node* node, abi::SupportInfo* support) {
  Claim claim;
  STREW_ORT_TRY(read_node(node, &claim.node));
  const Operator* const op = find_operator(claim.node.domain, claim.node.type);
  if (op == nullptr) return nullptr;
  const abi::KernelDef* definition = nullptr;
  STREW_ORT_TRY(ep_api().EpGraphSupportInfo_LookUpKernel(support, node, &definition));
  if (!claim.node.provider.empty())
    claim.reason = "the provider " + claim.node.provider + " has it";
  else if (!names(provider.options.ops, op->name))
    claim.reason = "the provider option ops does not name the operator";
  else if (definition == nullptr)
    claim.reason = "strew has no kernel for its version " + std::to_string(claim.node.version) + " and these element types";
  else
    STREW_ORT_TRY(why_not(node, *op, &claim.reason));
  claim.is_taken = claim.reason.empty();
  if (claim.is_taken) {
    STREW_ORT_TRY(ep_api().EpGraphSupportInfo_AddSingleNode(support, node));
    claim.reason = "a kernel of its own";
  }
  provider.session.report->add(std::move(claim));
  return nullptr;
}

abi::Status* claim_group(Provider& provider, const Group& group, abi::SupportInfo* support) {
  abi::NodeFusionOptions options{abi::kVersion, false};
  STREW_ORT_TRY(ep_api().EpGraphSupportInfo_AddNodesToFuse(support, group.nodes.data(), group.nodes.size(), &options));
  for (const abi::Node* const node : group.nodes) {
    Claim claim;
    STREW_ORT_TRY(read_node(node, &claim.node));
    claim.is_taken = true;
    claim.reason = group.nodes.size() == 1
                       ? "a kernel that fills its result, because all elements of the constant that it updates are the same"
                       : "one of " + std::to_string(group.nodes.size()) + " nodes that run as one";
    provider.session.report->add(std::move(claim));
  }
  std::set<std::string> results;
  STREW_ORT_TRY(results_of(group.nodes, &results));
  provider.groups[results] = group;
  return nullptr;
}

abi::Status* claim_expansion(Provider& provider, const Expansion& expansion, abi::SupportInfo* support) {
  abi::NodeFusionOptions options{abi::kVersion, false};
  STREW_ORT_TRY(ep_api().EpGraphSupportInfo_AddNodesToFuse(support, &expansion.node, 1, &options));
  Claim claim;
  STREW_ORT_TRY(read_node(expansion.node, &claim.node));
  claim.is_taken = true;
  claim.reason = "nothing is repeated in memory, because only nodes that strew runs read it";
  provider.session.report->add(std::move(claim));
  provider.expansions[{expansion.to}] = expansion;
  return nullptr;
}

abi::Status* claim_context(Provider& provider, const abi::Node* node, abi::SupportInfo* support) {
  abi::NodeFusionOptions options{abi::kVersion, false};
  STREW_ORT_TRY(ep_api().EpGraphSupportInfo_AddNodesToFuse(support, &node, 1, &options));
  Claim claim;
  STREW_ORT_TRY(read_node(node, &claim.node));
  claim.is_taken = true;
  claim.reason = "the model was compiled, and it stands for: " + notes_of(node);
  provider.session.report->add(std::move(claim));
  return nullptr;
}

abi::Status* get_capability(Provider& provider, const abi::Graph* graph, abi::SupportInfo* support) {
  std::vector<const abi::Node*> nodes;
  STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
  std::vector<Group> groups;
  std::vector<Expansion> expansions;
  std::string why;
  std::set<const abi::Node*> taken;
  bool has_operators = false;
  for (const abi::Node* const node : nodes) {
    NodeText text;
    bool is_context = false;
    STREW_ORT_TRY(read_node(node, &text));
    has_operators = has_operators || find_operator(text.domain, text.type) != nullptr;
    STREW_ORT_TRY(is_context_node(node, &is_context));
    if (is_context) STREW_ORT_TRY(claim_context(provider, node, support));
  }
  if (!has_operators) return nullptr;
  // ONNX Runtime puts EPContext nodes into the graph of a model, not into the bodies of its loops and branches: there, nodes stay as they are.
  const abi::Node* parent = nullptr;
  if (provider.options.makes_contexts) STREW_ORT_TRY(api().Graph_GetParentNode(graph, &parent));
  abi::Status* const refused = parent == nullptr ? find_groups(graph, provider.options.ops, &groups, &expansions, &why) : nullptr;
  if (refused != nullptr) {  // kernels of single nodes need none of this
    why = api().GetErrorMessage(refused);
    api().ReleaseStatus(refused);
    groups.clear();
    expansions.clear();
  }
  if (!why.empty()) provider.session.report->add({{"", "(the graph)", "", 0}, false, "no groups: " + why});
  for (const Group& group : groups) {
    STREW_ORT_TRY(claim_group(provider, group, support));
    taken.insert(group.nodes.begin(), group.nodes.end());
  }
  for (const Expansion& expansion : expansions) STREW_ORT_TRY(claim_expansion(provider, expansion, support));
  for (const abi::Node* const node : nodes)
    if (!taken.contains(node)) STREW_ORT_TRY(claim_node(provider, node, support));
  return nullptr;
}

/// What the session runs as one node: what its graph has. `program`: null if the context has it. `notes`: which operators it stands for.
abi::Status* find_context(const Provider& provider, const abi::Graph* graph, const abi::Node* fused, Context* out,
                          OwnedProgram* program, std::string* notes) {
  std::vector<const abi::Node*> nodes;
  std::set<std::string> results;
  STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
  bool is_context = false;
  if (nodes.size() == 1) STREW_ORT_TRY(is_context_node(nodes[0], &is_context));
  if (is_context) {
    *notes = notes_of(nodes[0]);
    return read_context(nodes[0], fused, out);
  }
  for (const abi::Node* const node : nodes) {
    NodeText text;
    STREW_ORT_TRY(read_node(node, &text));
    *notes += (notes->empty() ? "" : ", ") + text.type;
  }
  STREW_ORT_TRY(results_of(nodes, &results));
  if (const auto found = provider.expansions.find(results); found != provider.expansions.end())
    return describe(found->second, fused, &out->emplace<ExpansionContext>());
  if (const auto found = provider.groups.find(results); found != provider.groups.end())
    return describe(graph, found->second, fused, &out->emplace<GroupContext>(), program);
  return failure("strew: nodes that were not found in the graph are to be compiled");
}

abi::Status* compile_one(Provider& provider, const abi::Graph* graph, const abi::Node* fused, abi::NodeComputeInfo** info,
                         abi::Node** context_node) {
  Context context;
  OwnedProgram program;
  std::string notes;
  STREW_ORT_TRY(find_context(provider, graph, fused, &context, &program, &notes));
  if (const auto* const group = std::get_if<GroupContext>(&context)) {
    STREW_ORT_TRY(make_compute(&provider.session, *group, std::move(program), fused, info));
  } else {
    STREW_ORT_TRY(make_compute(std::get<ExpansionContext>(context), fused, info));
  }
  return provider.options.makes_contexts ? make_context_node(fused, context, notes, context_node) : nullptr;
}

abi::Status* compile(Provider& provider, const abi::Graph** graphs, const abi::Node** fused, size_t count,
                     abi::NodeComputeInfo** infos, abi::Node** contexts) {
  for (size_t i = 0; i < count; ++i) STREW_ORT_TRY(compile_one(provider, graphs[i], fused[i], &infos[i], &contexts[i]));
  return nullptr;
}

abi::Status* create_provider(const abi::SessionOptions* options, abi::Ep** out) {
  auto made = std::make_unique<Provider>();
  static_cast<abi::Ep&>(*made) = {};
  made->ort_version_supported = abi::kVersion;
  made->GetName = [](const abi::Ep*) { return kProviderName; };
  made->GetCapability = [](abi::Ep* ep, const abi::Graph* graph, abi::SupportInfo* support) {
    return guarded([&] { return get_capability(*static_cast<Provider*>(ep), graph, support); });
  };
  made->Compile = [](abi::Ep* ep, const abi::Graph** graphs, const abi::Node** fused, size_t count, abi::NodeComputeInfo** infos,
                     abi::Node** contexts) {
    return guarded([&] { return compile(*static_cast<Provider*>(ep), graphs, fused, count, infos, contexts); });
  };
  made->ReleaseNodeComputeInfos = [](abi::Ep*, abi::NodeComputeInfo** infos, size_t count) {
    std::for_each(infos, infos + count, FusedNode::release);
  };
  made->GetKernelRegistry = [](abi::Ep* ep, const abi::KernelRegistry** registry) -> abi::Status* {
    *registry = static_cast<Provider*>(ep)->registry.get();
    return nullptr;
  };
  made->IsConcurrentRunSupported = [](abi::Ep*, bool* is_supported) -> abi::Status* {
    *is_supported = true;
    return nullptr;
  };
  STREW_ORT_TRY(read_options(options, &made->options));
  STREW_ORT_TRY(Runtime::find(made->options.runtime, &made->session.runtime));
  made->session.verify_every = made->options.verify_every;
  STREW_ORT_TRY(made->registry.open(&made->session));
  if (!made->options.session.empty()) list_report(made->options.session, made->session.report);
  *out = made.release();
  return nullptr;
}

struct Factory : abi::EpFactory {};

abi::Status* supported_devices(abi::EpFactory* factory, const abi::HardwareDevice* const* devices, size_t count,
                               abi::EpDevice** out, size_t most, size_t* out_count) {
  *out_count = 0;
  for (size_t i = 0; i < count && *out_count < most; ++i) {
    if (api().HardwareDevice_Type(devices[i]) != abi::DeviceKind::cpu) continue;
    STREW_ORT_TRY(ep_api().CreateEpDevice(factory, devices[i], nullptr, nullptr, &out[*out_count]));
    ++*out_count;
  }
  return nullptr;
}

std::unique_ptr<Factory> make_factory() {
  auto made = std::make_unique<Factory>();
  static_cast<abi::EpFactory&>(*made) = {};
  made->ort_version_supported = abi::kVersion;
  made->GetName = [](const abi::EpFactory*) { return kProviderName; };
  made->GetVendor = [](const abi::EpFactory*) { return "strew"; };
  made->GetVendorId = [](const abi::EpFactory*) { return uint32_t{0}; };
  made->GetVersion = [](const abi::EpFactory*) { return strew_version(); };
  made->GetSupportedDevices = supported_devices;
  made->CreateEp = [](abi::EpFactory*, const abi::HardwareDevice* const*, const abi::KeyValuePairs* const*, size_t,
                      const abi::SessionOptions* options, const abi::Logger*,
                      abi::Ep** out) { return guarded([&] { return create_provider(options, out); }); };
  made->ReleaseEp = [](abi::EpFactory*, abi::Ep* ep) {
    auto* const provider = static_cast<Provider*>(ep);
    if (!provider->options.session.empty()) unlist_report(provider->options.session, provider->session.report);
    delete provider;
  };
  // Tensors lie in the CPU's memory, from ONNX Runtime's own allocator.
  made->CreateAllocator = [](abi::EpFactory*, const abi::MemoryInfo*, const abi::KeyValuePairs*,
                             abi::Allocator** out) -> abi::Status* {
    *out = nullptr;
    return nullptr;
  };
  made->ReleaseAllocator = [](abi::EpFactory*, abi::Allocator*) {};
  made->CreateDataTransfer = [](abi::EpFactory*, abi::DataTransfer** out) -> abi::Status* {
    *out = nullptr;
    return nullptr;
  };
  made->IsStreamAware = [](const abi::EpFactory*) { return false; };
  return made;
}

}  // namespace
}  // namespace strew::ort

// NOLINTBEGIN(readability-identifier-naming): ONNX Runtime looks for these names
extern "C" {

/// What ONNX Runtime calls of a library that is registered.
STREW_API strew::ort::abi::Status* CreateEpFactories(const char*, const strew::ort::abi::ApiBase* base,
                                                     const strew::ort::abi::Logger*, strew::ort::abi::EpFactory** out,
                                                     size_t most, size_t* count) {
  using namespace strew::ort;  // NOLINT(google-build-using-namespace)
  *count = 0;
  bool is_open = false;
  if (abi::Status* const status = open_api(*base, &is_open); status != nullptr || !is_open) return status;
  if (most == 0) return failure("strew: there is no room for a provider factory, expected room for one");
  return guarded([&]() -> abi::Status* {
    out[0] = make_factory().release();
    *count = 1;
    return nullptr;
  });
}

STREW_API strew::ort::abi::Status* ReleaseEpFactory(strew::ort::abi::EpFactory* factory) {
  delete static_cast<strew::ort::Factory*>(factory);
  return nullptr;
}
// NOLINTEND(readability-identifier-naming)

/// The report of the session with that name (Report::text()), as much of it as fits, with a zero byte at the end. The result is its length; -1: there is no such
/// session.
STREW_API int64_t strew_ep_report(const char* session, char* out, size_t size) {
  const std::shared_ptr<strew::ort::Report> report = strew::ort::find_report(session);
  if (report == nullptr) return -1;
  const std::string text = report->text();
  if (size > 0) {
    const size_t kept = std::min(size - 1, text.size());
    std::memcpy(out, text.data(), kept);
    out[kept] = '\0';
  }
  return static_cast<int64_t>(text.size());
}
}
