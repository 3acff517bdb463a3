#include "bindings/onnxruntime/groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bindings/onnxruntime/claims.h"
#include "bindings/onnxruntime/compute.h"
#include "bindings/onnxruntime/model.h"
#include "bindings/onnxruntime/static_call.h"

namespace strew::ort {
namespace {

template <class T, auto kFree>
struct Frees {
  void operator()(T* pointer) const { kFree(pointer); }
};
using OwnedParts = std::unique_ptr<strew_parts, Frees<strew_parts, strew_parts_free>>;
using OwnedOp = std::unique_ptr<strew_op, Frees<strew_op, strew_op_free>>;

OwnedProgram owned(strew_program* program) { return {program, strew_program_free}; }

/// Is it no failure? A failure's text is kept.
bool went_well(strew_status status, std::string* why) {
  if (status == nullptr) return true;
  *why = strew_status_message(status);
  strew_status_free(status);
  return false;
}

/// The bytes of a tensor; -1: an extent is open.
int64_t slot_bytes(const strew_slot& slot) {
  int64_t count = 1;
  for (int32_t d = 0; d < slot.rank; ++d) {
    if (slot.dims[d] == STREW_OPEN) return -1;
    count *= slot.dims[d];
  }
  return count * strew_dtype_bits(static_cast<strew_dtype>(slot.dtype)) / 8;
}

/// Does a kernel of a group have to copy a tensor that, as a node of its own, it would update in place, and which is larger than what the group saves?
bool copies_much(const strew_op* op) {
  const std::string_view text = strew_op_text(op);
  if (text.find(".scatter(") == std::string_view::npos || text.find(" init=fill") != std::string_view::npos) return false;
  int64_t operand = 0, updates = 0;
  for (size_t i = 0; i < strew_op_slot_count(op); ++i) {
    strew_slot slot = STREW_SLOT_INIT;
    if (!succeeded(strew_op_slot(op, i, &slot))) return true;
    if (slot.role != STREW_RESULT && slot.role != STREW_UPDATES) continue;
    const int64_t bytes = slot_bytes(slot);
    if (bytes < 0) return true;
    (slot.role == STREW_RESULT ? operand : updates) += bytes;
  }
  return operand > updates;
}

/// Is it a gather of so few elements that ONNX Runtime takes no longer?
bool is_small(const strew_op* op) {
  strew_slot result = STREW_SLOT_INIT;
  if (std::string_view(strew_op_text(op)).find(".scatter(") != std::string_view::npos ||
      !succeeded(strew_op_slot(op, 0, &result)))
    return false;
  const int64_t bytes = slot_bytes(result);
  return bytes >= 0 && bytes < kLeastGatheredBytes;
}

bool is_worth_it(const strew_program* program) {
  bool all_small = true;
  for (size_t k = 0; k < strew_program_kernel_count(program); ++k) {
    strew_op* made = nullptr;
    if (!succeeded(strew_program_kernel_op(program, k, &made))) return false;
    const OwnedOp op(made);
    if (copies_much(made)) return false;
    all_small = all_small && is_small(made);
  }
  return !all_small;
}

/// A group as a node of a session.
class GroupNode final : public FusedNode {
 public:
  GroupNode(Session* session, OwnedProgram program, std::string name, const GroupContext& group)
      : session_(session),
        program_(std::move(program)),
        name_(std::move(name)),
        inputs_(group.inputs),
        outputs_(group.outputs),
        static_call_(program_.get(), inputs_, outputs_, name_) {}

 private:
  /// What inputs are bound to in a call, beside the values themselves.
  struct Bound {
    strew_tensor tensor;
    Dims dims;
    std::vector<std::byte> nothing;  ///< what is handed over of a tensor without elements
  };
  /// Where outputs are asked for while a program runs.
  struct Outputs {
    const GroupNode* node;
    abi::KernelContext* context;
    abi::Status* failed;
    std::vector<std::unique_ptr<std::byte[]>> unread;
  };

  static void* make_output(void* context, size_t output, const int64_t* dims, int32_t rank) {
    auto& outputs = *static_cast<Outputs*>(context);
    abi::Value* value = nullptr;
    void* data = nullptr;
    if (outputs.failed != nullptr) return nullptr;
    if (outputs.node->outputs_[output] == kUnread) return outputs.node->make_unread(output, dims, rank, &outputs);
    outputs.failed =
        api().KernelContext_GetOutput(outputs.context, outputs.node->outputs_[output], dims, static_cast<size_t>(rank), &value);
    if (outputs.failed == nullptr) outputs.failed = api().GetTensorMutableData(value, &data);
    return data;
  }

  /// Room for an output that the node does not have.
  void* make_unread(size_t output, const int64_t* dims, int32_t rank, Outputs* outputs) const {
    strew_port port = STREW_PORT_INIT;
    std::string why;
    if (!went_well(strew_program_output(program_.get(), output, &port), &why)) {
      outputs->failed = failure("strew: " + name_ + ": " + why);
      return nullptr;
    }
    const strew_tensor tensor{nullptr, dims, nullptr, rank, port.dtype, 0, {0, 0}};
    return outputs->unread.emplace_back(std::make_unique<std::byte[]>(static_cast<size_t>(bytes_of(tensor)))).get();
  }

  abi::Status* bind(const abi::KernelContext* context, const Binding& binding, Bound* out) const {
    STREW_ORT_TRY(input(context, binding.number, &out->tensor));
    const strew_tensor whole = out->tensor;
    switch (binding.kind) {
      case Binding::Kind::value:
        return nullptr;
      case Binding::Kind::narrow: {
        if (static_cast<size_t>(whole.rank) != binding.repeats.size())
          return make_status(abi::ErrorCode::invalid_argument, "strew: " + name_ + ": input " + std::to_string(binding.number) +
                                                                   " has rank " + std::to_string(whole.rank) + ", expected " +
                                                                   std::to_string(binding.repeats.size()));
        narrow_dims(binding.repeats, whole.dims, &out->dims);
        out->tensor.dims = out->dims.data();
        const bool is_empty = std::find(whole.dims, whole.dims + whole.rank, 0) != whole.dims + whole.rank;
        if (is_empty) out->nothing.resize(static_cast<size_t>(bytes_of(out->tensor)));
        if (is_empty) out->tensor.data = out->nothing.data();
        return nullptr;
      }
      case Binding::Kind::shape: {
        const int64_t rank = whole.rank;
        out->dims.assign(&rank, &rank + 1);
        out->tensor = {const_cast<int64_t*>(whole.dims), out->dims.data(), nullptr, 1, STREW_I64, 1, {0, 0}};
        return nullptr;
      }
    }
    return nullptr;
  }

  abi::Status* run(abi::KernelContext* context) override {
    const Calling calling(context, session_->pool);
    bool is_done = false;
    STREW_ORT_TRY(static_call_.run(*session_->runtime, context, &is_done));
    if (is_done) return nullptr;
    std::vector<Bound> bound(inputs_.size());
    std::vector<const strew_tensor*> inputs;
    for (size_t i = 0; i < bound.size(); ++i) {
      STREW_ORT_TRY(bind(context, inputs_[i], &bound[i]));
      inputs.push_back(&bound[i].tensor);
    }
    strew_request request = session_->runtime->request();
    request.threads = session_->runtime->threads();
    Outputs outputs{this, context, nullptr, {}};
    const strew_status status = strew_program_run_with(program_.get(), session_->runtime->get(), &request, inputs.data(), nullptr,
                                                       inputs.size(), make_output, &outputs);
    if (status == nullptr) return outputs.failed;
    if (outputs.failed != nullptr) {
      strew_status_free(status);
      return outputs.failed;
    }
    return from_strew(status, abi::ErrorCode::invalid_argument, name_);
  }

  Session* const session_;
  const OwnedProgram program_;
  const std::string name_;
  const std::vector<Binding> inputs_;
  const std::vector<size_t> outputs_;  ///< per output of the program: its number at the node
  StaticCall static_call_;
};

/// The names of a program's inputs or outputs.
template <class Count, class Get>
std::vector<std::string> port_names(const strew_program* program, const Count& count, const Get& get) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count(program); ++i) {
    strew_port port = STREW_PORT_INIT;
    out.emplace_back(succeeded(get(program, i, &port)) ? port.name : "");
  }
  return out;
}

std::vector<std::string> input_names(const strew_program* program) {
  return port_names(program, strew_program_input_count, strew_program_input);
}
std::vector<std::string> output_names(const strew_program* program) {
  return port_names(program, strew_program_output_count, strew_program_output);
}

/// The program of some nodes alone, and the bytes of its model; null, and why, if there is none.
abi::Status* read_program(const abi::Graph* graph, const std::vector<const abi::Node*>& nodes,
                          const std::vector<std::string>& outputs, const std::vector<Expansion>& expansions,
                          const std::string& ops, OwnedProgram* out, std::string* bytes, std::string* why) {
  Model model;
  STREW_ORT_TRY(write_part(graph, nodes, outputs, expansions, ops, &model));
  strew_program* read = nullptr;
  out->reset();
  if (model.has_operators &&
      went_well(strew_program_read(model.bytes.data(), model.bytes.size(), "group.onnx", nullptr, &read), why))
    *out = owned(read);
  *bytes = std::move(model.bytes);
  return nullptr;
}

}  // namespace

abi::Status* results_of(const std::vector<const abi::Node*>& nodes, std::set<std::string>* out) {
  for (const abi::Node* const node : nodes) {
    std::vector<const abi::ValueInfo*> results;
    STREW_ORT_TRY(outputs_of(node, &results));
    for (const abi::ValueInfo* const info : results) {
      std::string name;
      STREW_ORT_TRY(name_of(info, &name));
      if (!name.empty()) out->insert(name);
    }
  }
  return nullptr;
}

namespace {

/// The program of a graph that has the group's nodes and nothing else. Its outputs need not be what find_groups() found.
abi::Status* program_of(const abi::Graph* graph, const Group& found, OwnedProgram* out, std::string* model) {
  std::vector<const abi::ValueInfo*> outputs;
  STREW_ORT_TRY(read_list(api().Graph_GetNumOutputs, api().Graph_GetOutputs, graph, &outputs));
  const std::vector<std::string> made = output_names(found.program.get());
  std::vector<std::string> wanted(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) STREW_ORT_TRY(name_of(outputs[o], &wanted[o]));
  const auto is_made = [&](const std::string& name) { return std::find(made.begin(), made.end(), name) != made.end(); };
  if (made.size() == wanted.size() && std::all_of(wanted.begin(), wanted.end(), is_made)) {
    *out = found.program;
    *model = found.model;
    return nullptr;
  }
  std::vector<const abi::Node*> nodes;
  STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
  std::string why;
  STREW_ORT_TRY(read_program(graph, nodes, wanted, found.expansions, "", out, model, &why));
  return *out != nullptr ? nullptr : failure("strew: " + why);
}

/// The nodes of a part and what others read of them. False: not all that the part stands for is there.
bool read_part(const strew_program* program, const Model& model, const strew_part& part, std::vector<const abi::Node*>* nodes,
               std::vector<std::string>* outputs) {
  if (part.region >= 0) return false;
  for (size_t n = 0; n < part.node_count; ++n) {
    strew_node node = STREW_NODE_INIT;
    if (!succeeded(strew_program_node(program, static_cast<size_t>(part.nodes[n]), &node))) return false;
    if (const abi::Node* const each = model.nodes[static_cast<size_t>(node.number)]) nodes->push_back(each);
  }
  for (size_t o = 0; o < part.output_count; ++o) outputs->emplace_back(strew_program_value_name(program, part.outputs[o]));
  return true;
}

/// The expansions whose results the group reads.
abi::Status* expansions_of(const Group& group, const std::vector<Expansion>& all, std::vector<Expansion>* out) {
  std::set<std::string> read;
  for (const abi::Node* const node : group.nodes) {
    std::vector<const abi::ValueInfo*> inputs;
    STREW_ORT_TRY(inputs_of(node, &inputs));
    for (const abi::ValueInfo* const info : inputs) {
      std::string name;
      STREW_ORT_TRY(name_of(info, &name));
      read.insert(name);
    }
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(*out), [&](const Expansion& each) { return read.contains(each.to); });
  return nullptr;
}

/// The groups' programs, and what the groups that read what is expanded get in its place.
abi::Status* make_programs(const abi::Graph* graph, const std::string& ops, std::vector<Group>* groups,
                           std::vector<Expansion>* expansions, std::string* why) {
  for (Group& group : *groups)
    STREW_ORT_TRY(read_program(graph, group.nodes, group.outputs, {}, ops, &group.program, &group.model, why));
  std::erase_if(*groups, [](const Group& group) { return group.program == nullptr || !is_worth_it(group.program.get()); });
  std::set<const abi::Node*> inside;
  for (const Group& group : *groups) inside.insert(group.nodes.begin(), group.nodes.end());
  STREW_ORT_TRY(find_expansions(graph, inside, expansions));
  std::vector<Group> expanding = *groups;
  for (Group& group : expanding) {
    STREW_ORT_TRY(expansions_of(group, *expansions, &group.expansions));
    if (!group.expansions.empty())
      STREW_ORT_TRY(read_program(graph, group.nodes, group.outputs, group.expansions, ops, &group.program, &group.model, why));
    if (group.program == nullptr) {  // all groups that read one must know what is handed over
      expansions->clear();
      return nullptr;
    }
  }
  *groups = std::move(expanding);
  return nullptr;
}

}  // namespace

abi::Status* find_groups(const abi::Graph* graph, const std::string& ops, std::vector<Group>* out,
                         std::vector<Expansion>* expansions, std::string* why) {
  Model model;
  STREW_ORT_TRY(write_model(graph, ops, &model));
  if (!model.has_operators) return nullptr;
  strew_program* read = nullptr;
  if (!went_well(strew_program_read(model.bytes.data(), model.bytes.size(), "graph.onnx", nullptr, &read), why)) return nullptr;
  const OwnedProgram program = owned(read);
  strew_partition_options options = STREW_PARTITION_OPTIONS_INIT;
  options.kernels_only = 1;
  strew_parts* found = nullptr;
  if (!went_well(strew_program_parts(read, &options, &found), why)) return nullptr;
  const OwnedParts parts(found);
  for (size_t p = 0; p < strew_parts_count(found); ++p) {
    strew_part part = STREW_PART_INIT;
    Group group;
    // The part's program may do again what nodes outside of the group do, too. The group's own, which is made of its nodes, reads what these make.
    if (went_well(strew_parts_get(found, p, &part), why) && read_part(read, model, part, &group.nodes, &group.outputs) &&
        (group.nodes.size() > 1 || part.node_count > 1))  // one node, and a constant whose elements are all the same
      out->push_back(std::move(group));
  }
  return make_programs(graph, ops, out, expansions, why);
}

namespace {

/// Is it the type that the node says? What a call is given has the types of the node, and a program that writes another one would write elsewhere.
abi::Status* has_type(const abi::ValueInfo* info, const strew_port& port, bool* out) {
  ValueType type;
  STREW_ORT_TRY(type_of(info, &type));
  *out = dtype_of(type.element) == static_cast<strew_dtype>(port.dtype);
  return nullptr;
}

/// Does the context fit the program and the node? `why`: what does not.
abi::Status* fits(const GroupContext& group, const strew_program* program, const std::vector<const abi::ValueInfo*>& inputs,
                  const std::vector<const abi::ValueInfo*>& outputs, std::string* why) {
  const size_t read = strew_program_input_count(program), made = strew_program_output_count(program);
  std::set<size_t> numbers(group.outputs.begin(), group.outputs.end());
  numbers.erase(kUnread);
  const auto unread = static_cast<size_t>(std::count(group.outputs.begin(), group.outputs.end(), kUnread));
  if (group.inputs.size() != read || group.outputs.size() != made || numbers.size() != outputs.size() ||
      made != outputs.size() + unread) {
    *why = "its context has another number of inputs or outputs";
    return nullptr;
  }
  for (size_t i = 0; i < read && why->empty(); ++i) {
    strew_port port = STREW_PORT_INIT;
    const Binding& binding = group.inputs[i];
    bool is_same = false;
    if (!went_well(strew_program_input(program, i, &port), why)) break;
    if (binding.kind == Binding::Kind::narrow && binding.repeats.size() != static_cast<size_t>(port.rank))
      *why = "its context reads input " + std::to_string(binding.number) + " with another rank";
    else if (binding.kind != Binding::Kind::shape)
      STREW_ORT_TRY(has_type(inputs[binding.number], port, &is_same));
    if (why->empty() && binding.kind != Binding::Kind::shape && !is_same)
      *why = "input " + std::to_string(binding.number) + " has another element type than in its context";
  }
  for (size_t o = 0; o < made && why->empty(); ++o) {
    if (group.outputs[o] == kUnread) continue;
    strew_port port = STREW_PORT_INIT;
    bool is_same = false;
    if (!went_well(strew_program_output(program, o, &port), why)) break;
    if (group.outputs[o] < outputs.size()) STREW_ORT_TRY(has_type(outputs[group.outputs[o]], port, &is_same));
    if (!is_same) *why = "output " + std::to_string(group.outputs[o]) + " is not the one of its context";
  }
  return nullptr;
}

}  // namespace

abi::Status* describe(const abi::Graph* graph, const Group& group, const abi::Node* fused, GroupContext* out,
                      OwnedProgram* program) {
  STREW_ORT_TRY(program_of(graph, group, program, &out->model));
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  STREW_ORT_TRY(outputs_of(fused, &outputs));
  for (std::string name : input_names(program->get())) {
    Binding binding;
    for (const Expansion& expansion : group.expansions) {
      if (name != expansion.narrow_name() && name != expansion.shape_name()) continue;
      const bool is_narrow = name == expansion.narrow_name();
      binding = {is_narrow ? Binding::Kind::narrow : Binding::Kind::shape, 0,
                 is_narrow ? expansion.repeats : std::vector<bool>()};
      name = expansion.to;
      break;
    }
    std::vector<size_t> place;
    STREW_ORT_TRY(places_of({name}, inputs, &place));
    binding.number = place[0];
    out->inputs.push_back(std::move(binding));
  }
  return places_of(output_names(program->get()), outputs, &out->outputs);
}

abi::Status* make_compute(Session* session, const GroupContext& group, OwnedProgram program, const abi::Node* fused,
                          abi::NodeComputeInfo** out) {
  NodeText text;
  std::string why;
  STREW_ORT_TRY(read_node(fused, &text));
  if (program == nullptr) {
    strew_program* read = nullptr;
    if (!went_well(strew_program_read(group.model.data(), group.model.size(), "group.onnx", nullptr, &read), &why))
      return bad_context(text.name, why);
    program = owned(read);
  }
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  STREW_ORT_TRY(outputs_of(fused, &outputs));
  STREW_ORT_TRY(fits(group, program.get(), inputs, outputs, &why));
  if (!why.empty()) return bad_context(text.name, why);
  *out = new GroupNode(session, std::move(program), "group '" + text.name + "'", group);
  return nullptr;
}

}  // namespace strew::ort
