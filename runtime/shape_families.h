// ShapeFamilies: finds out which extents keep changing from request to request, so that one kernel serves them all.
//
// A growing sequence or a varying batch asks for the same op with another extent each time. The first few such requests get kernels for
// exactly their extents, which are the fastest. After that the extents that differed become symbols (`?` in the op's text): the request gets
// a kernel that reads them from each call, and later requests of the family share its code.
//
// A request belongs to three families, which are the ways in which requests may differ: in counts only (positions, batches, the extents of
// tables), in the extents of windows only, or in both. Windows are looked at apart because code for open windows is slower, up to a quarter,
// while open counts cost next to nothing: requests that differ in both must be more before windows become symbols. Strides that an op writes
// out may differ with the extents in each family. Requests that choose a backend or a schedule have kernels of their own, and so do scatters of order `relaxed`, whose
// schedule may decide the last bits.
//
// A process that may not compile (mode must_hit) meets requests whose kernel with open extents another process built, and need not meet them in
// the other's order. possible_generals() lists the ops that such a kernel may have been built of.
//
// Thread-safe. Cost of a look-up: three hashes of the op, about a microsecond; only requests without a kernel pay it. Tested by
// tests/unit/runtime/shape_families_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strew/kernel_options.h"
#include "strew/op.h"
#include "strew/prepared_op.h"
#include "strew/status.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// The ways in which the requests of a family may differ.
enum class FamilyKind : uint8_t { counts, windows, both };
inline constexpr std::array kFamilyKinds = {FamilyKind::counts, FamilyKind::windows, FamilyKind::both};
constexpr std::string_view name(FamilyKind kind) { return name_among({"counts", "windows", "counts and windows"}, kind); }

/// Of maps whose keys are hashes already.
struct HashOfKey {
  size_t operator()(Hash128 key) const { return key.low; }
};

class ShapeFamilies {
 public:
  /// An op with open extents. The kernel that is built of it has the op's key as its name (KernelCache::find_built).
  struct General {
    explicit General(PreparedOp given) : op(std::move(given)) {}
    const PreparedOp op;
    /// From now on the family's requests get kernels of their own, because this one cannot be built.
    std::atomic<bool> is_refused{false};
  };

  /// `exact`: how many requests that differ get kernels of their own; 0: all.
  explicit ShapeFamilies(int exact) : exact_(exact) {}

  int exact() const { return exact_; }
  /// Notes a request without a kernel. Returns the op whose kernel serves it; null: its own. The same request may be noted again.
  std::shared_ptr<General> note(const PreparedOp& op);
  void clear();

 private:
  struct Family {
    std::vector<std::vector<int64_t>> exact;  ///< the extents of requests that got kernels of their own
    std::vector<int64_t> fixed;               ///< of the general kernel: the extents, of which those of `varies` do not count
    std::vector<bool> varies;
    std::shared_ptr<General> general;
  };
  /// Beyond that, all are forgotten: a family is found anew by its next requests.
  static constexpr size_t kMostFamilies = 10'000;

  std::shared_ptr<General> join(FamilyKind kind, Family& family, const PreparedOp& op, std::vector<int64_t> extents) const;

  const int exact_;
  std::mutex mutex_;  // guards the families
  std::array<std::unordered_map<Hash128, Family, HashOfKey>, kFamilyKinds.size()> families_;
};

/// The op with every static extent, stride and slice size of the kind's classes open: what the requests of a family have in common. The
/// number of entries of the index vectors stays. `extents`, if given, gets what they were, in a fixed order.
Op open_extents(const Op& op, FamilyKind kind, std::vector<int64_t>* extents = nullptr);

/// The ops with open extents whose kernels would serve the request. In each, some quantities of the op are open: extents that are the same number count as
/// one quantity, because a batch, for example, is an extent of several tensors. At most 4 quantities are combined in all ways; of more, each is
/// opened alone, and all together. Empty if requests like this one share no kernels.
std::vector<PreparedOp> possible_generals(const PreparedOp& op, int exact);

/// What would become of requests like this one, for `strew explain`.
struct Sharing {
  FamilyKind kind;
  int exact;       ///< how many requests get kernels of their own
  std::string op;  ///< of the kernel that the next ones share, if all extents of the kind differ; the others stay as they are
};
/// One for each kind in which requests can differ. Fails with the reason if they do not share kernels.
Expected<std::vector<Sharing>> explain_sharing(const Op& op, const KernelOptions& options, int exact);

}  // namespace strew::inline v0
