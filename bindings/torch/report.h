// What became of the calls of each operator: how many strew ran, and how many it handed to PyTorch's own kernel, by reason. Tested by tests/torch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace strew::aten {

/// Why a call went to PyTorch's kernel. The texts are what strew.torch.report() says.
#define STREW_TORCH_REASONS(X)                                                                                           \
  X(disabled, "strew.torch is disabled")                                                                                 \
  X(tensor, "a tensor is not a plain one in the CPU's memory (subclass, sparse, quantised, conjugated, negated, named)") \
  X(dtype, "the dtypes are not those that strew has the same bits for, or they differ")                                  \
  X(index_dtype, "the index is of another dtype than the operator documents")                                            \
  X(shape, "the shapes do not fit, or an error is to be found")                                                          \
  X(empty, "a tensor has no elements or no dims")                                                                        \
  X(overlap, "elements of the result share memory with each other or with an argument")                                  \
  X(layout, "the result would have another layout, or PyTorch goes over the elements in another order")                  \
  X(argument, "an argument has a value that strew leaves to PyTorch (a mode, a dim, an index that is not a tensor)")     \
  X(slower, "PyTorch's kernel is faster")                                                                                \
  X(refused, "strew has no kernel for it")

enum class Reason : uint8_t {
  none,  ///< strew ran it
#define STREW_TORCH_REASON(name, text) name,
  STREW_TORCH_REASONS(STREW_TORCH_REASON)
#undef STREW_TORCH_REASON
      count
};

/// The counts of one overload of an operator.
class Counts {
 public:
  void add(Reason reason) { counts_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed); }
  uint64_t of(Reason reason) const { return counts_[static_cast<size_t>(reason)].load(std::memory_order_relaxed); }
  void clear();

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Reason::count)> counts_{};
};

/// One more overload that strew replaces, "aten::index_add_" and "" or "out". Not thread-safe.
void list_overload(const char* name, const char* overload, Counts* counts);
/// JSON: {"aten::index_add_": {"replaced": 3, "handed over": {"a tensor has no elements or no dims": 1}}, ...}
std::string report_text();
void clear_report();

}  // namespace strew::aten
