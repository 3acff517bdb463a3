// PieceCache: what the runs of one program share of its pieces: regions, and the ops that were made for tensors of some dims. Threads may use it at the
// same time. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compiler/program/pieces/assembly.h"

namespace strew::inline v0 {

class PieceCache {
 public:
  using Choice = PieceChoice;

  /// What is interpreted.
  static std::shared_ptr<const Choice> none();

  /// The region that ends with computes[last].
  std::shared_ptr<const Region> region(const Program& program, int last);

  /// What gives the region's results for these tensors. NoPiece: the interpreter does, for example because less than `interpreted_elements` of the
  /// region have been computed so far. Null: the region has become another one.
  std::shared_ptr<const Choice> find(const Program& program, const Region& region,
                                     const std::function<const Tensor&(int value)>& tensor, int64_t interpreted_elements);

 private:
  /// What an op was made for.
  struct Made {
    std::vector<std::vector<int64_t>> dims;  ///< of each leaf
    std::vector<int64_t> shapes;             ///< the elements of each leaf that is the shape of a result
    std::vector<Scalar> initials;            ///< of a reduction
    std::shared_ptr<const Choice> choice;
  };
  struct Entry {
    std::shared_ptr<const Region> region;
    bool can_compile = false;
    int64_t done = 0;  ///< elements that were computed
    std::vector<Made> made;
  };
  Entry& entry(const Program& program, int last);

  std::mutex mutex_;
  std::map<int, Entry> entries_;  ///< by the number of the last Compute
  std::set<int> apart_;           ///< values that join no region
  size_t kernels_ = 0;            ///< regions that have become kernels
};

}  // namespace strew::inline v0
