// Where the parts of a module's text stand, for those who change the text (compiler/splice): functions, blocks, statements, and each place where a
// name of a value stands. MLIR's parser says where (compiler/import/mlir/text_index.cc). Offsets are bytes from the start of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strew::inline v0 {

inline constexpr size_t kNowhere = static_cast<size_t>(-1);

/// A value of the text: a result of a statement or an argument of a block.
struct TextValue {
  int statement = -1;  ///< the statement that it is a result of; -1: it is an argument of a block
  int block = -1;      ///< the block in which it is defined
  int number = 0;      ///< of the result, or of the argument
  size_t definition =
      kNowhere;  ///< where its name is defined. Results of one group (%4:2) have one name, and so have arguments of both regions of a while
  int within = -1;   ///< "%4#1": 1; -1: the name alone stands for the value
  std::string type;  ///< as MLIR prints it
  int rank =
      -1;  ///< of a tensor whose extents are known and whose elements take whole bytes (i1 does in XLA); -1: it is something else
};

/// A place where the name of a value stands.
struct TextToken {
  size_t begin = 0, name_end = 0, end = 0;  ///< "%4#1": the name ends before "#1"; ":2" of a definition does not count
  int value = -1;                           ///< of a definition of several results: the first
  bool defines = false;
};

/// A statement: one operation with its regions.
struct TextStatement {
  std::string operation;  ///< "stablehlo.add"
  bool indexed = false;   ///< it is a scatter or gather, or an operation that is one
  size_t begin = 0, end = 0;
  int line = 0;
  int block = -1;                      ///< the block in which it stands
  std::vector<int> results, operands;  ///< values
  std::vector<int> captures;           ///< what its regions read of what is defined outside of it: values, each once
  std::vector<int> blocks;             ///< those of its regions, in the text's order
  std::string callee;                  ///< func.call: the function's name without "@"
};

/// Among how many of the mesh's axes XLA's partitioner may divide an operation.
enum class Partitioned : uint8_t {
  no,  ///< none: the module is for one partition, or sdy.manual_computation (JAX's shard_map) around it names all axes. Each device runs it as it stands
  part,  ///< those that the sdy.manual_computation around it does not name
  all,
};

struct TextBlock {
  int statement = -1;                      ///< the statement in whose region it is; -1: it is a function's
  std::vector<int> arguments, statements;  ///< in the text's order
  Partitioned partitioned = Partitioned::no;
};

struct TextFunction {
  std::string name;
  bool is_private = false;
  size_t begin = 0, end = 0;
  std::vector<int> blocks;  ///< none: it is a declaration
};

/// A name for an attribute or a type: #map = affine_map<...>, !t = tensor<4xf32>.
struct TextAlias {
  std::string name;  ///< with "#" or "!"
  size_t begin = 0, end = 0;
};

struct TextIndex {
  std::vector<TextFunction> functions;
  std::vector<TextBlock> blocks;
  std::vector<TextStatement> statements;  ///< in the order in which they end, those in regions before the statement around them
  std::vector<TextValue> values;
  std::vector<TextToken> tokens;  ///< in the text's order
  std::vector<TextAlias> aliases;
  long long partitions = 1;  ///< mhlo.num_partitions of the module
  std::string unreadable;    ///< why the text can't be changed: a place whose meaning is not known; empty: it can
};

}  // namespace strew::inline v0
