// See buffer.h. Accesses are recorded per block of 32 bytes, the unit in which the chips move data.
// Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#include "backends/pto/simulate/buffer.h"

#include <algorithm>
#include <cstring>

#include "compiler/pto/parser.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kBlock = 32;

}  // namespace

Buffer::Buffer(int64_t bytes)
    : data_(static_cast<size_t>(bytes)), written_(static_cast<size_t>(bytes)), blocks_(static_cast<size_t>(bytes / kBlock)) {}

Expected<Tile> Buffer::place(const Statement& s, std::optional<int64_t> address, int64_t valid_rows, int64_t valid_cols) {
  Tile out;
  out.rows = s.type.dims[0];
  out.cols = s.type.dims[1];
  out.dtype = s.type.element.dtype;
  out.fractal = s.type.tile.blayout == "col_major" && s.type.tile.slayout == "row_major";
  out.l1 = s.type.tile.location == "mat";
  out.column_major = s.type.tile.blayout == "col_major" && !out.fractal;
  const int64_t valid[] = {valid_rows, valid_cols}, extents[] = {out.rows, out.cols};
  constexpr const char* kNames[] = {"valid_row", "valid_col"};
  for (size_t d = 0; d < 2; ++d)
    if (valid[d] < 0 || valid[d] > extents[d])
      return statement_error(s, std::string(kNames[d]) + " of %" + s.result + " is " + std::to_string(valid[d]) +
                                    ", expected 0 to " + std::to_string(extents[d]));
  out.valid_rows = valid_rows;
  out.valid_cols = valid_cols;
  const int64_t room = static_cast<int64_t>(data_.size()), bytes = (out.bytes() + kBlock - 1) / kBlock * kBlock;
  if (address) {
    out.address = *address;
    if (out.address < 0 || out.address % kBlock != 0)
      return statement_error(s, "addr of %" + s.result + " is " + std::to_string(out.address) + ", expected a multiple of " +
                                    std::to_string(kBlock));
  } else {
    const auto [place, fresh] = places_.try_emplace(&s, next_);
    out.address = place->second;
    if (fresh) next_ += bytes;
  }
  if (out.address > room - bytes)
    return statement_error(s, "%" + s.result + " ends at byte " + std::to_string(out.address + bytes) +
                                  " of the buffer, expected at most " + std::to_string(room));
  if (!address) std::fill_n(written_.begin() + out.address, bytes, false);
  used_ = std::max(used_, out.address + bytes);
  const int layout = out.fractal ? 2 : out.column_major ? 1 : 0;
  out.identity =
      identities_.try_emplace({out.address, out.rows, out.cols, out.dtype, layout}, static_cast<int>(identities_.size()))
          .first->second;
  return out;
}

Status Buffer::touch(const Pipes* pipes, const Event& now, const Tile& tile, const std::string& name, Access access) {
  const int64_t each = kBlock / tile.width();  // elements of a fractal's row
  const int64_t lines = tile.fractal        ? (tile.valid_cols + each - 1) / each
                        : tile.column_major ? tile.valid_cols
                                            : tile.valid_rows;
  const int64_t along = tile.fractal ? tile.valid_rows * each : tile.column_major ? tile.valid_rows : tile.valid_cols;
  const int64_t pitch = (tile.fractal ? tile.rows * each : tile.column_major ? tile.rows : tile.cols) * tile.width();
  for (int64_t line = 0; line < lines && along > 0; ++line) {
    const int64_t begin = tile.address + line * pitch, end = begin + along * tile.width();
    for (int64_t b = begin / kBlock; b <= (end - 1) / kBlock; ++b) {
      Block& block = blocks_[static_cast<size_t>(b)];
      const Touched what{name};
      if (access == Access::read) {
        if (pipes != nullptr) STREW_TRY(pipes->read(block.history, now, what));
        continue;
      }
      if (pipes != nullptr) STREW_TRY(pipes->write(block.history, now, what));
      if (block.owner != tile.identity) {
        std::fill_n(written_.begin() + b * kBlock, kBlock, false);
        block.owner = tile.identity;
      }
      if (block.name != name) block.name = name;
    }
  }
  return {};
}

Expected<uint64_t> Buffer::read(const Statement& s, const Tile& tile, int64_t row, int64_t col, const std::string& name) const {
  const int64_t at = tile.byte_of(row, col);
  const Block& block = blocks_[static_cast<size_t>(at / kBlock)];
  const auto wrong = [&](const std::string& why) {
    return statement_error(s, "it reads element [" + std::to_string(row) + ", " + std::to_string(col) + "] of %" + name + why);
  };
  if (block.owner >= 0 && block.owner != tile.identity)
    return wrong(", where %" + block.name + " was put since, expected tiles that do not overlap");
  if (block.owner < 0 || !written_[static_cast<size_t>(at)])
    return wrong(", which nothing has written, expected a tload or another write before");
  uint64_t code = 0;
  std::memcpy(&code, data_.data() + at, static_cast<size_t>(tile.width()));
  return code;
}

void Buffer::write(const Tile& tile, int64_t row, int64_t col, uint64_t code) {
  const int64_t at = tile.byte_of(row, col);
  std::memcpy(data_.data() + at, &code, static_cast<size_t>(tile.width()));
  std::fill_n(written_.begin() + at, tile.width(), true);
}

}  // namespace strew::inline v0::pto
