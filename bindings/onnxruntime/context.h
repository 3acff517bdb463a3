// EPContext nodes: what stands in a compiled model for nodes that strew runs as one. The attribute ep_cache_context holds what is needed to run them: the bytes of
// their program, and what its inputs and outputs are bound to, or what an expansion repeats. A reader trusts none of it. Tested by tests/onnxruntime/context_test.py.
#pragma once

#include <cstdint>
#include <variant>

#include "bindings/onnxruntime/graph.h"

namespace strew::ort {

/// What an input of a group's program is bound to: an input of the node, or what an expansion hands over of it, or its dims.
struct Binding {
  enum class Kind : uint8_t { value, narrow, shape } kind = Kind::value;
  size_t number = 0;          ///< of the node's input
  std::vector<bool> repeats;  ///< of kind narrow
};

/// Of an output: nobody reads it, and the node that the session runs does not have it.
inline constexpr size_t kUnread = SIZE_MAX;

struct GroupContext {
  std::string model;            ///< the program, as the bytes of an ONNX model
  std::vector<Binding> inputs;  ///< per input of the program
  std::vector<size_t> outputs;  ///< per output of the program: its number at the node, or kUnread
};

struct ExpansionContext {
  std::vector<bool> repeats;   ///< as in Expansion
  size_t from = 0, shape = 0;  ///< the numbers of the node's inputs
};

using Context = std::variant<GroupContext, ExpansionContext>;

/// Is the node an EPContext node that strew has written?
abi::Status* is_context_node(const abi::Node* node, bool* out);

/// The context of such a node, which the session runs as the node `fused`, with inputs and outputs in another order: numbers are those of `fused`. Fails with
/// INVALID_GRAPH and a sentence if it is damaged, of another format, does not lie in the node, or reads inputs that the node does not have.
abi::Status* read_context(const abi::Node* node, const abi::Node* fused, Context* out);

/// The attribute `notes` of such a node: the operators that it stands for, "Gather, ScatterElements".
std::string notes_of(const abi::Node* node);

/// A node that stands for the node `fused`, with its name, inputs and outputs. ONNX Runtime frees it.
abi::Status* make_context_node(const abi::Node* fused, const Context& context, const std::string& notes, abi::Node** out);

/// An error of a context: which node has it, and what it is.
abi::Status* bad_context(const std::string& node, const std::string& what);

}  // namespace strew::ort
