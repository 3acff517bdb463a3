// The check of all indices before a call (policy error) at the ends of what is in bounds, for every index type, for dims within and beyond its range,
// and for windows of one element and more. The first pass looks at vectors of indices, so the index in question stands in the first vector, in one in the
// middle, and in the tail.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

using Wide = __int128;

struct IndexType {
  DType dtype;
  int bytes;
  bool is_signed;
};
constexpr IndexType kTypes[] = {{DType::i8, 1, true},  {DType::i16, 2, true},  {DType::i32, 4, true},  {DType::i64, 8, true},
                                {DType::u8, 1, false}, {DType::u16, 2, false}, {DType::u32, 4, false}, {DType::u64, 8, false}};
constexpr int64_t kPositions = 70;  // more than one vector of each type, and a tail

class Gathers {
 public:
  Gathers(const IndexType& type, int64_t window, bool normalizes, Runtime& runtime)
      : type_(type), window_(window), normalizes_(normalizes) {
    const std::string text = "strew1.gather(operand=u8[?] indices=" + std::string(name(type.dtype)) + "[?] result=u8[?," +
                             std::to_string(window) + "] offset_dims=[1] start_index_map=[0] index_vector_dim=1 slice_sizes=[" +
                             std::to_string(window) + "] oob=error normalize_negative=" + (normalizes ? "true)" : "false)");
    Expected<Op> op = parse_op(text);
    EXPECT_TRUE(op.ok()) << text << op.status().message();
    KernelOptions options;
    options.backend = BackendChoice::llvm;
    options.threads = 1;
    Expected<Kernel> made = runtime.get(*op, options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (made.ok()) kernel_ = std::move(*made);
  }

  Wide lowest() const { return type_.is_signed ? -(Wide{1} << (8 * type_.bytes - 1)) : 0; }
  Wide highest() const { return (Wide{1} << (8 * type_.bytes - (type_.is_signed ? 1 : 0))) - 1; }

  bool is_bad(Wide index, int64_t dim) const {
    if (normalizes_ && type_.is_signed && index < 0) index += dim;
    return index < 0 || index > dim - window_;
  }

  /// Calls the kernel with indices of 0, where that is in bounds, and this one.
  void expect(Wide index, int64_t dim, int64_t at) {
    std::vector<uint8_t> indices(static_cast<size_t>(kPositions * type_.bytes), 0);
    std::memcpy(indices.data() + at * type_.bytes, &index, static_cast<size_t>(type_.bytes));  // the low bytes
    if (table_.size() < static_cast<size_t>(dim)) table_.resize(static_cast<size_t>(dim));
    std::vector<uint8_t> result(static_cast<size_t>(kPositions * window_));
    const int64_t positions = kPositions, dims[] = {kPositions, window_};
    const std::vector<TensorView> views = {
        {result.data(), DType::u8, 2, dims}, {table_.data(), DType::u8, 1, &dim}, {indices.data(), type_.dtype, 1, &positions}};
    const Status status = kernel_.run(views);
    const bool bad = is_bad(index, dim) || is_bad(0, dim);
    EXPECT_EQ(status.code() == Code::out_of_bounds, bad)
        << name(type_.dtype) << " index " << static_cast<int64_t>(index) << " at " << at << ", dim " << dim << ", window "
        << window_ << ", normalizes " << normalizes_ << ": " << status.message();
    EXPECT_TRUE(status.ok() || status.code() == Code::out_of_bounds) << status.message();
  }

 private:
  IndexType type_;
  int64_t window_;
  bool normalizes_;
  Kernel kernel_;
  std::vector<uint8_t> table_;
};

TEST(CheckEntry, FindsWhatIsOutOfBoundsAtEveryEnd) {
  Runtime runtime;
  for (const IndexType& type : kTypes)
    for (const int64_t window : {1, 3})
      for (const bool normalizes : {false, true}) {
        Gathers gathers(type, window, normalizes, runtime);
        for (const int64_t dim : {1, 2, 3, 5, 127, 128, 129, 255, 256, 257, 32767, 32768, 65536, 100000}) {
          if (dim < window) continue;  // refused before
          for (const Wide near :
               {Wide{0}, Wide{dim}, Wide{-dim}, Wide{dim - window}, Wide{-window}, gathers.lowest(), gathers.highest()})
            for (const int step : {-1, 0, 1}) {
              const Wide index = near + step;
              if (index < gathers.lowest() || index > gathers.highest()) continue;
              for (const int64_t at : {0, 33, 69}) gathers.expect(index, dim, at);
            }
        }
      }
}

}  // namespace
}  // namespace strew
