// Graphs and sessions of the mock host. Used by main.cc.
#include "tests/onnxruntime/mock_host/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace strew::mock {

abi::Value make_value(abi::ElementType element, std::vector<int64_t> dims, const void* data) {
  abi::Value out{element, std::move(dims), nullptr};
  const auto* const bytes = static_cast<const std::byte*>(data);
  out.data = std::make_shared<std::vector<std::byte>>(bytes, bytes + elements_of(out.dims) * bytes_of(element));
  return out;
}

void Model::add_value(const std::string& name, abi::ElementType element, std::vector<int64_t> dims) {
  auto info = std::make_unique<abi::ValueInfo>();
  info->name = name;
  for (const int64_t extent : dims) info->type.tensor.symbols.emplace_back(extent < 0 ? "e" : "");
  info->type.tensor.element = element;
  info->type.tensor.dims = std::move(dims);
  values_[name] = std::move(info);
}

void Model::add_initializer(const std::string& name, abi::Value value) {
  add_value(name, value.element, value.dims);
  values_.at(name)->initializer = std::move(value);
  graph_.initializers.push_back(values_.at(name).get());
}

void Model::add_node(abi::Node node, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (const std::string& name : inputs) {
    node.inputs.push_back(values_.at(name).get());
    ++values_.at(name)->readers;
  }
  for (const std::string& name : outputs) node.outputs.push_back(values_.at(name).get());
  graph_.nodes.push_back(nodes_.emplace_back(std::make_unique<abi::Node>(std::move(node))).get());
}

void Model::finish(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  input_names = inputs;
  output_names = outputs;
  for (const std::string& name : inputs) graph_.inputs.push_back(values_.at(name).get());
  for (const std::string& name : outputs) {
    graph_.outputs.push_back(values_.at(name).get());
    values_.at(name)->is_output = true;
  }
}

Session::Session(abi::EpFactory* factory, const Model& model, const abi::SessionOptions& options)
    : factory_(factory), model_(model) {
  check(factory->CreateEp(factory, nullptr, nullptr, 0, &options, nullptr, &ep_));
  check(ep_->GetKernelRegistry(ep_, &registry_));
  bool is_concurrent = false;
  check(ep_->IsConcurrentRunSupported(ep_, &is_concurrent));
  if (!is_concurrent) fail("the provider does not run on several threads");
  abi::SupportInfo support{registry_, {}, {}};
  check(ep_->GetCapability(ep_, &model.graph(), &support));
  fuse(support);
  place(support);
}

Session::~Session() {
  for (Step& step : steps_) {
    if (step.kernel != nullptr) step.kernel->Release(step.kernel);
    if (step.fused != nullptr) step.fused->ReleaseState(step.fused, step.state);
  }
  ep_->ReleaseNodeComputeInfos(ep_, infos_.data(), infos_.size());
  factory_->ReleaseEp(factory_, ep_);
  for (abi::Node* const each : contexts_) delete each;
}

/// Makes one node of each group. It reads what the group's nodes read of others, in another order than they do, and makes what others read.
void Session::fuse(const abi::SupportInfo& support) {
  std::vector<std::unique_ptr<abi::Graph>> graphs;
  std::vector<const abi::Graph*> given;
  std::vector<const abi::Node*> nodes;
  for (const std::vector<const abi::Node*>& group : support.fused) {
    auto node = std::make_unique<abi::Node>();
    auto graph = std::make_unique<abi::Graph>();
    node->name = "fused" + std::to_string(fused_.size());
    node->type = node->name;
    node->version = 1;
    std::set<const abi::ValueInfo*> read, made;
    std::map<const abi::ValueInfo*, size_t> inside;
    for (const abi::Node* const each : group) {
      made.insert(each->outputs.begin(), each->outputs.end());
      for (const abi::ValueInfo* const info : each->inputs) ++inside[info];
    }
    for (const abi::Node* const each : group)
      for (const abi::ValueInfo* const info : each->inputs)
        if (!made.contains(info) && read.insert(info).second) node->inputs.insert(node->inputs.begin(), info);
    for (const abi::ValueInfo* const info : made)
      if (info->is_output || info->readers > inside[info]) node->outputs.push_back(info);
    *graph = {node->inputs, node->outputs, {}, group};
    given.push_back(graphs.emplace_back(std::move(graph)).get());
    nodes.push_back(fused_.emplace_back(std::move(node)).get());
  }
  infos_.resize(nodes.size());
  contexts_.resize(nodes.size());
  if (!nodes.empty()) check(ep_->Compile(ep_, given.data(), nodes.data(), nodes.size(), infos_.data(), contexts_.data()));
}

/// Says which steps there are, each in the place of the last node that it stands for.
void Session::place(const abi::SupportInfo& support) {
  for (const abi::Node* const node : model_.graph().nodes) {
    const auto has = [&](const std::vector<const abi::Node*>& group) {
      return std::find(group.begin(), group.end(), node) != group.end();
    };
    const auto group = std::find_if(support.fused.begin(), support.fused.end(), has);
    Step step;
    if (group != support.fused.end()) {
      if (group->back() != node) continue;
      const auto number = static_cast<size_t>(group - support.fused.begin());
      step.node = fused_[number].get();
      step.fused = infos_[number];
      check(step.fused->CreateState(step.fused, nullptr, &step.state));
    } else {
      step.node = node;
      if (has(support.single)) {
        const abi::KernelRegistry::Entry* const entry = registry_->find(*node);
        const abi::KernelInfo info{node};
        check(entry->create(entry->state, &info, &step.kernel));
        step.may_alias = entry->definition->may_alias;
      } else if (node->type != "Twice") {
        fail("nobody runs node " + node->name);
      }
    }
    steps_.push_back(step);
  }
}

bool Session::is_last_reader(const Step& step, const std::string& name) const {
  const abi::ValueInfo& info = model_.value(name);
  const auto inputs = model_.input_names;
  return info.readers == 1 && !info.is_output && !info.initializer &&
         std::find(inputs.begin(), inputs.end(), name) == inputs.end() && step.node->inputs[0] == &info;
}

abi::Status* Session::run_step(Step& step, size_t threads, Values* values) {
  abi::KernelContext context;
  context.threads = threads;
  for (const abi::ValueInfo* const info : step.node->inputs)
    context.inputs.push_back(info->initializer ? &*info->initializer : &values->at(info->name));
  for (const abi::ValueInfo* const info : step.node->outputs) {
    context.output_types.push_back(info->type.tensor.element);
    context.in_place.push_back(step.may_alias && is_last_reader(step, step.node->inputs[0]->name) ? context.inputs[0] : nullptr);
  }
  context.outputs.resize(step.node->outputs.size());
  abi::Status* status = nullptr;
  if (step.kernel != nullptr) {
    status = step.kernel->Compute(step.kernel, &context);
  } else if (step.fused != nullptr) {
    status = step.fused->Compute(step.fused, step.state, &context);
  } else {
    context.outputs[0] = make_value(context.inputs[0]->element, context.inputs[0]->dims, context.inputs[0]->data->data());
    auto* const elements = reinterpret_cast<float*>(context.outputs[0].data->data());
    for (size_t i = 0; i < elements_of(context.outputs[0].dims); ++i) elements[i] *= 2;
  }
  for (size_t o = 0; o < context.outputs.size() && status == nullptr; ++o) {
    if (context.outputs[o].data == nullptr) fail("an output was not made: " + step.node->outputs[o]->name);
    (*values)[step.node->outputs[o]->name] = context.outputs[o];
  }
  return status;
}

abi::Status* Session::run(const Values& inputs, size_t threads, Values* outputs) {
  Values values = inputs;
  for (Step& step : steps_)
    if (abi::Status* const status = run_step(step, threads, &values); status != nullptr) return status;
  for (const std::string& name : model_.output_names) (*outputs)[name] = values.at(name);
  return nullptr;
}

Model Session::compiled() const {
  Model out;
  std::set<std::string> known;
  for (const abi::ValueInfo* const info : model_.graph().initializers) {
    out.add_initializer(info->name, *info->initializer);
    known.insert(info->name);
  }
  const auto add = [&](const std::string& name) {
    const abi::TensorInfo& type = model_.value(name).type.tensor;
    if (known.insert(name).second) out.add_value(name, type.element, type.dims);
  };
  for (const std::string& name : model_.input_names) add(name);
  for (const Step& step : steps_) {
    const auto number = std::find(infos_.begin(), infos_.end(), step.fused) - infos_.begin();
    abi::Node node = step.fused == nullptr ? *step.node : *contexts_.at(static_cast<size_t>(number));
    std::vector<std::string> inputs = node.input_names, outputs = node.output_names;
    for (const abi::ValueInfo* const info : node.inputs) inputs.push_back(info->name);
    for (const abi::ValueInfo* const info : node.outputs) outputs.push_back(info->name);
    for (const std::string& name : inputs) add(name);
    for (const std::string& name : outputs) add(name);
    node = {node.name, node.type, node.domain, node.version, {}, {}, node.attributes, {}, {}};
    out.add_node(std::move(node), inputs, outputs);
  }
  out.finish(model_.input_names, model_.output_names);
  return out;
}

}  // namespace strew::mock
