// ScalarCode: what an expression graph computes for one element, as statements of the scalar unit. It has integers only; floats are
// computed in these (backends/lower/soft_floats.h). Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "backends/lower/graph.h"
#include "backends/pto/builder.h"

namespace strew::inline v0::pto {

/// The graph in operations of the scalar unit. Fails with the reason if it has no such form.
Expected<lowered::Graph> scalar_graph(const Expr& expr);

/// The integers as which the scalar unit reads and writes an element: `count` words of a signed type, with the bits in memory.
struct ScalarWords {
  DType word;
  int64_t count;
};
/// An element of fewer than 8 bits is a byte whose other bits are 0.
ScalarWords scalar_words(DType dtype);

/// An element of `width` bits of a byte, `shift` bits above the lowest, as an i64 with zeros above it.
Named packed_element(ProgramBuilder& builder, const Named& byte, const Number& shift, int width);
/// The byte of a tile of one, with an element, which is a byte, in that place.
std::string packed_byte(ProgramBuilder& builder, const Named& tile, const Named& element, const Number& shift, int width);

class ScalarCode {
 public:
  /// Reads a word of an input, as a scalar of its type, or as an i64 with zeros above it.
  using Read = std::function<Named(const lowered::Graph::Input& input, int64_t word)>;
  ScalarCode(ProgramBuilder& builder, const lowered::Graph& graph, Read read)
      : b_(builder), graph_(graph), read_(std::move(read)), values_(graph.nodes.size()) {}

  /// Writes the statements that compute a result, and returns its words, as scalars of their type.
  std::vector<Named> result(size_t number);

 private:
  /// An i64 whose bits above the width of the node's type are 0: its value, if it is known, or else its name.
  struct Word {
    std::optional<uint64_t> known;
    std::string name;
  };
  const Word& value(int32_t node) const { return values_[static_cast<size_t>(node)]; }
  Word known(uint64_t bits) const { return {bits, {}}; }
  std::string use(const Word& word);
  /// Appends a statement on two numbers of 64 bits, unless its result is known or was computed before.
  Word operator()(Opcode opcode, const Word& a, const Word& b);
  Word cut(lowered::Machine type, const Word& a);
  /// The number with its sign, of `width` bits, as one of 64 bits.
  Word extended(int width, const Word& a);
  Word make(const lowered::Node& node);
  Word arithmetic(const lowered::Node& node, const Word& a, const Word& b);
  Word read_input(const lowered::Node& node);
  Word is_zero(int width, const Word& a);
  Word is_less(int width, bool is_signed, Word a, Word b);

  ProgramBuilder& b_;
  const lowered::Graph& graph_;
  const Read read_;
  std::vector<Word> values_;
  std::vector<bool> done_ = std::vector<bool>(values_.size());
  std::map<std::tuple<Opcode, std::string, std::string>, Word> computed_;
};

}  // namespace strew::inline v0::pto
