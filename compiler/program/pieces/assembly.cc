// See assembly.h. A concatenation is a write for each argument, into the rows that the argument becomes; an update is a write of what it changes and one of
// the part, which covers some of the elements. Where an argument is put together, too, its writes go to their places in the whole.
#include "compiler/program/pieces/assembly.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/strides.h"
#include "compiler/program/interpret/interpret.h"
#include "compiler/program/pieces/view.h"

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

class Assembler {
 public:
  Assembler(const Program& program, const std::function<const Tensor&(int)>& tensor) : program_(program), tensor_(tensor) {}

  PieceChoice assemble(const Region& region) {
    std::optional<Dims> dims = dims_of(region);
    if (!dims || !write(region, View::of(*dims), {})) return NoPiece{apart_};
    return Assembly{*std::move(dims), std::move(writes_)};
  }

 private:
  const Compute& last_of(const Region& region) const { return program_.compute(region.last()); }

  std::optional<Dims> dims_of(const Region& region) const {
    if (region.parts.empty()) return dims_of_piece(program_, region, tensor_);
    std::optional<Dims> dims = dims_of(region.parts[0]);
    if (!dims) return std::nullopt;
    if (const auto* const concatenation = last_of(region).as<ConcatenateOp>()) {
      const auto along = static_cast<size_t>(concatenation->dim);
      for (size_t p = 1; p < region.parts.size(); ++p) {
        const std::optional<Dims> other = dims_of(region.parts[p]);
        if (!other) return std::nullopt;
        for (size_t d = 0; d < dims->size(); ++d)
          if (d != along && (*other)[d] != (*dims)[d]) return std::nullopt;
        const std::optional<int64_t> sum = checked::add((*dims)[along], (*other)[along]);
        if (!sum) return std::nullopt;
        (*dims)[along] = *sum;
      }
    }
    if (!check_extents(*dims, last_of(region).results[0], "").ok()) return std::nullopt;
    return dims;
  }

  /// Adds the writes of what the region gives. `starts`: values that say where it begins in the tensor that has the view; else the view is the region's.
  bool write(const Region& region, View to, const std::vector<int>& starts) {
    if (!region.parts.empty()) {
      const auto* const concatenation = last_of(region).as<ConcatenateOp>();
      return concatenation != nullptr ? concatenate(region, static_cast<size_t>(concatenation->dim), std::move(to))
                                      : update(region, to);
    }
    if (to.elements() == 0) return true;
    PiecePlace placement;
    if (!to.is_contiguous()) placement.strides = to.strides;
    if (!starts.empty()) {
      placement.starts = starts;
      placement.whole = to.dims;
    }
    std::variant<NoPiece, Alias, Piece> made = make_piece(program_, region, tensor_, placement);
    if (const auto* const none = std::get_if<NoPiece>(&made)) {
      apart_ = none->apart;
      return false;
    }
    if (auto* const alias = std::get_if<Alias>(&made))
      writes_.push_back({std::move(*alias), to.first});
    else
      writes_.push_back({std::get<Piece>(std::move(made)), to.first});
    return true;
  }

  bool concatenate(const Region& region, size_t along, View to) {
    for (const Region& part : region.parts) {
      const std::optional<Dims> dims = dims_of(part);
      if (!dims) return false;
      to.dims[along] = (*dims)[along];
      if (!write(part, to, {})) return false;
      to.first += to.dims[along] * to.strides[along];
    }
    return true;
  }

  bool update(const Region& region, const View& to) {
    const Compute& compute = last_of(region);
    const auto& op = *compute.as<UpdateOp>();
    const std::optional<Dims> dims = dims_of(region.parts[1]);
    if (!dims || !write(region.parts[0], to, {})) return false;
    if (compute.arguments.size() > 2) {
      // Where nothing is written, the interpreter looks whether the starts are in bounds.
      const bool is_known = std::ranges::any_of(op.starts, [](int64_t start) { return start != 0; });
      if (is_known || to.elements() == 0 || View::of(*dims).elements() == 0) return false;
      return write(region.parts[1], to, {compute.arguments.begin() + 2, compute.arguments.end()});
    }
    View part = to;
    part.dims = *dims;
    for (size_t d = 0; d < part.dims.size(); ++d) {
      if (op.starts[d] > to.dims[d] || part.dims[d] > to.dims[d] - op.starts[d]) return false;
      part.first += op.starts[d] * to.strides[d];
    }
    return write(region.parts[1], part, {});
  }

  const Program& program_;
  const std::function<const Tensor&(int)>& tensor_;
  std::vector<Assembly::Write> writes_;
  int apart_ = -1;
};

/// The dims of what the region gives, if it gives one tensor and that has no elements.
std::optional<Dims> dims_without_elements(const Program& program, const Region& region,
                                          const std::function<const Tensor&(int value)>& tensor) {
  if (program.compute(region.last()).results.size() != 1) return std::nullopt;
  std::optional<Dims> dims = dims_of_piece(program, region, tensor);
  return dims && View::of(*dims).elements() == 0 ? dims : std::nullopt;
}

}  // namespace

PieceChoice choose_pieces(const Program& program, const Region& region, const std::function<const Tensor&(int value)>& tensor) {
  if (!region.parts.empty()) return Assembler(program, tensor).assemble(region);
  const Compute& last = program.compute(region.last());
  if (last.as<SliceOp>() != nullptr && last.arguments.size() > 1)
    return std::visit([](auto&& made) -> PieceChoice { return std::forward<decltype(made)>(made); },
                      make_slice(program, region.last(), tensor));
  if (std::optional<Dims> dims = dims_without_elements(program, region, tensor)) return Assembly{*std::move(dims), {}};
  return std::visit([](auto&& made) -> PieceChoice { return std::forward<decltype(made)>(made); },
                    make_piece(program, region, tensor, {}));
}

}  // namespace strew::inline v0
