// Graphs and sessions of the mock host. Used by main.cc.
#pragma once

#include <set>

#include "tests/onnxruntime/mock_host/mock.h"

namespace strew::mock {

using Values = std::map<std::string, abi::Value>;

abi::Value make_value(abi::ElementType element, std::vector<int64_t> dims, const void* data);

/// A graph with all that it consists of. Nodes are added in the order in which they run.
class Model {
 public:
  void add_value(const std::string& name, abi::ElementType element, std::vector<int64_t> dims);
  void add_initializer(const std::string& name, abi::Value value);
  void add_node(abi::Node node, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  /// Says which values are the graph's; the model is complete then.
  void finish(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

  const abi::Graph& graph() const { return graph_; }
  const abi::ValueInfo& value(const std::string& name) const { return *values_.at(name); }
  std::vector<std::string> input_names, output_names;

 private:
  std::map<std::string, std::unique_ptr<abi::ValueInfo>> values_;
  std::vector<std::unique_ptr<abi::Node>> nodes_;
  abi::Graph graph_;
};

/// A session of a model with the provider. The operator Twice of the domain "mock" is run by the host.
class Session {
 public:
  Session(abi::EpFactory* factory, const Model& model, const abi::SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Thread-safe. `threads`: of parallel loops.
  abi::Status* run(const Values& inputs, size_t threads, Values* outputs);
  /// The model with EPContext nodes in the place of what is fused, of a session with ep.context_enable.
  Model compiled() const;
  size_t fused_count() const { return fused_.size(); }

 private:
  /// A node of the session: one of the model, or several that were fused.
  struct Step {
    const abi::Node* node = nullptr;
    abi::KernelImpl* kernel = nullptr;
    abi::NodeComputeInfo* fused = nullptr;
    void* state = nullptr;
    bool may_alias = false;
  };
  void fuse(const abi::SupportInfo& support);
  void place(const abi::SupportInfo& support);
  bool is_last_reader(const Step& step, const std::string& name) const;
  abi::Status* run_step(Step& step, size_t threads, Values* values);

  abi::EpFactory* const factory_;
  const Model& model_;
  abi::Ep* ep_ = nullptr;
  const abi::KernelRegistry* registry_ = nullptr;
  std::vector<std::unique_ptr<abi::Node>> fused_;
  std::vector<abi::NodeComputeInfo*> infos_;
  std::vector<abi::Node*> contexts_;
  std::vector<Step> steps_;
};

}  // namespace strew::mock
