// A host of strew's execution provider that is not ONNX Runtime: what ONNX Runtime hands out, as structs of our own, and its tables with the functions that the
// provider calls. A function that it does not call ends the test. main.cc makes graphs and runs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/onnxruntime/abi.h"

namespace strew::ort::abi {

struct Status {
  ErrorCode code;
  std::string message;
};

/// A type of a graph's value; -1: the extent is open.
struct TensorInfo {
  ElementType element = ElementType::undefined;
  std::vector<int64_t> dims;
  std::vector<std::string> symbols;
};
struct TypeInfo {
  TensorInfo tensor;
};

/// A tensor. Values that share memory are one in place of the other.
struct Value {
  ElementType element = ElementType::undefined;
  std::vector<int64_t> dims;
  std::shared_ptr<std::vector<std::byte>> data;
};

struct ValueInfo {
  std::string name;
  TypeInfo type;
  std::optional<Value> initializer;
  size_t readers = 0;
  bool is_output = false;
};

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::undefined;
  int64_t number = 0;
  std::string text;
};

struct Node {
  std::string name, type, domain;
  int version = 0;
  std::vector<const ValueInfo*> inputs, outputs;
  std::vector<Attribute> attributes;
  /// Of a node that the provider makes, whose values are still to be looked up.
  std::vector<std::string> input_names, output_names;
};

struct Graph {
  std::vector<const ValueInfo*> inputs, outputs, initializers;
  std::vector<const Node*> nodes;
};

struct DataType {
  ElementType element = ElementType::undefined;
};
struct KernelDef {
  std::string type, domain;
  int first = 0, last = 0;
  std::map<std::string, std::vector<ElementType>> types;
  bool may_alias = false;
};
struct KernelDefBuilder {
  KernelDef made;
};
struct KernelRegistry {
  struct Entry {
    std::unique_ptr<KernelDef> definition;
    KernelCreateFunc create;
    void* state;
  };
  std::vector<Entry> entries;
  const Entry* find(const Node& node) const;
};
struct KernelInfo {
  const Node* node;
};

/// A call of a kernel.
struct KernelContext {
  std::vector<const Value*> inputs;
  std::vector<Value> outputs;
  std::vector<ElementType> output_types;
  std::vector<const Value*> in_place;  ///< per output: in whose memory it may lie, or null
  size_t threads = 1;                  ///< of a parallel loop; 1: all tasks run on the caller
};

struct SupportInfo {
  const KernelRegistry* registry;
  std::vector<std::vector<const Node*>> fused;
  std::vector<const Node*> single;
};
struct SessionOptions {
  std::map<std::string, std::string> entries;
};
struct HardwareDevice {
  DeviceKind kind;
};
struct EpDevice {
  EpFactory* factory;
  const HardwareDevice* device;
};

}  // namespace strew::ort::abi

namespace strew::mock {

namespace abi = ort::abi;

/// The tables, whose version is "1.24.0".
const abi::ApiBase& base();
/// Those of an older release, which has no such interface.
const abi::ApiBase& old_base();

/// How many statuses, nodes and attributes are there that nobody has freed.
int64_t alive();
void count_alive(int64_t change);

/// Prints the message and ends the test.
[[noreturn]] void fail(const std::string& message);
/// Ends the test unless it is a success.
void check(abi::Status* status);
/// The message of a failure, which is freed; a success ends the test.
std::string message_of(abi::Status* status);

size_t bytes_of(abi::ElementType element);
size_t elements_of(const std::vector<int64_t>& dims);

// The parts of the tables.
void add_values(abi::Api& api);
void add_graphs(abi::Api& api);
void add_kernels(abi::Api& api, abi::EpApi& ep);

}  // namespace strew::mock
