// See tile.h. On x86 the shuffles within 16 bytes are unpack instructions, and those across are moves of 16 bytes. Of a long expression the rows are a
// loop, which has the transposed tiles in memory: LLVM's instruction selection takes time that grows faster than the block.
#include "backends/llvm/compute/tile.h"

#include <algorithm>
#include <iterator>

#include "backends/llvm/compute/body.h"
#include "backends/lower/lower_numeric.h"
#include "backends/lower/tiles.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

constexpr int64_t kStraightTileNodes = 128;  // in all rows together
constexpr unsigned kShuffledBytes = 16;      // within which machines shuffle at once

size_t at(int n) { return static_cast<size_t>(n); }

using Rows = llvm::SmallVector<Value*, 16>;
using Indices = llvm::SmallVector<int, 64>;

/// The elements of the two vectors' lower (upper) halves in turns, in each part of `part` elements.
Indices zipped(int lanes, int part, bool upper) {
  Indices order;
  for (int first = 0; first < lanes; first += part)
    for (int i = 0; i < part / 2; ++i) {
      const int at = first + (upper ? part / 2 : 0) + i;
      order.push_back(at);
      order.push_back(lanes + at);
    }
  return order;
}

/// The parts with an even (odd) number of the first vector, then those of the second.
Indices unzipped(int lanes, int part, bool odd) {
  Indices order;
  for (int first = odd ? part : 0; first < 2 * lanes; first += 2 * part)
    for (int i = 0; i < part; ++i) order.push_back(first + i);
  return order;
}

/// The columns of a square of elements, whose rows are given: as many rows as each has lanes, a power of two.
///
/// Rows r and r + part/2 of each group of `part` rows, zipped, are rows 2r and 2r + 1 of the next step; after log2(part) steps every part of a row holds a column of
/// its group. Then the parts of a column, one in each group, are brought into one vector in the same way: with every step, half as many groups hold columns of
/// twice the length.
Rows transposed(Emitter& e, const Rows& rows) {
  const auto lanes = static_cast<int>(rows.size());
  const int part = std::min<int>(lanes, static_cast<int>(8 * kShuffledBytes / rows[0]->getType()->getScalarSizeInBits()));
  Rows from = rows, to = rows;
  for (int step = 1; step < part; step *= 2) {
    for (int group = 0; group < lanes; group += part)
      for (int r = 0; r < part / 2; ++r) {
        Value *const a = from[at(group + r)], *const b = from[at(group + r + part / 2)];
        to[at(group + 2 * r)] = e.b.CreateShuffleVector(a, b, zipped(lanes, part, false));
        to[at(group + 2 * r + 1)] = e.b.CreateShuffleVector(a, b, zipped(lanes, part, true));
      }
    std::swap(from, to);
  }
  // Vector number group + r holds column r of every part of its group. What two groups hold of even parts comes to the first, of odd parts to the second.
  for (int distance = part; distance < lanes; distance *= 2) {
    for (int group = 0; group < lanes; group += 2 * distance)
      for (int r = 0; r < distance; ++r) {
        Value *const a = from[at(group + r)], *const b = from[at(group + distance + r)];
        to[at(group + r)] = e.b.CreateShuffleVector(a, b, unzipped(lanes, part, false));
        to[at(group + distance + r)] = e.b.CreateShuffleVector(a, b, unzipped(lanes, part, true));
      }
    std::swap(from, to);
  }
  return from;
}

/// Memory for the rows of a tile, on the call's stack.
llvm::AllocaInst* stack(Frame& f, int tensor, int size) {
  llvm::BasicBlock& entry = f.e.function.getEntryBlock();
  llvm::Type* const row = f.numeric.storage_type(f.plan.tensors[at(tensor)].dtype, size);
  return llvm::IRBuilder<>(&entry, entry.getFirstInsertionPt())
      .CreateAlloca(llvm::ArrayType::get(row, static_cast<uint64_t>(size)));
}

}  // namespace

TileEmitter::TileEmitter(Frame& frame, const lowered::Body& body, const Loop& rows, const Loop& columns, int size)
    : f_(frame),
      body_(body),
      rows_(rows),
      columns_(columns),
      size_(size),
      graph_(lower_numeric(*body.graph, frame.numeric.natives())) {
  const auto are_transposed = [&](int tensor) { return lowered::is_transposed(tensor, rows, columns); };
  std::ranges::copy_if(body.results, std::back_inserter(writes_), are_transposed);
  lowered::for_inputs(body, [&](const ExprNode&, const lowered::Operand& operand) {
    if (!operand.in_memory()) return;
    const int tensor = lowered::pointer_of(f_.plan, operand);
    if (are_transposed(tensor) && std::ranges::find(reads_, tensor) == reads_.end()) reads_.push_back(tensor);
  });
}

void TileEmitter::emit(const Pointers& p, Value* row, Value* column) {
  const Pointers first = f_.step(f_.step(p, rows_.strides, row), columns_.strides, column);
  const bool is_short = size_ * std::ssize(body_.graph->nodes) <= kStraightTileNodes;
  is_short ? straight(first) : in_loop(first);
}

/// The rows of the tile, of a tensor that lies in columns.
TileEmitter::Rows TileEmitter::load(int tensor, Value* first) {
  Rows columns;
  const Term& step = columns_.strides[at(tensor)];
  for (int i = 0; i < size_; ++i) columns.push_back(f_.load_element(tensor, f_.advance(tensor, first, f_.e.i64(i), step), size_));
  return transposed(f_.e, columns);
}

void TileEmitter::store(int tensor, Value* first, const Rows& rows) {
  const Rows columns = transposed(f_.e, rows);
  const Term& step = columns_.strides[at(tensor)];
  for (int i = 0; i < size_; ++i) f_.store_element(tensor, f_.advance(tensor, first, f_.e.i64(i), step), columns[at(i)]);
}

/// Emits row `i` of the tile at `first`, whose elements in columns are `loaded`, and stores the results but those in columns, which it returns.
TileEmitter::Rows TileEmitter::row(const Pointers& first, Value* i, llvm::ArrayRef<Value*> loaded) {
  const Pointers p = f_.step(first, rows_.strides, i);
  const std::vector<Value*> values = emit_lanes(f_, body_, graph_, p, columns_, size_, loaded);
  Rows in_columns;
  for (size_t k = 0; k < values.size(); ++k) {
    const int tensor = body_.results[k];
    if (std::ranges::find(writes_, tensor) != writes_.end())
      in_columns.push_back(values[k]);
    else
      f_.store_element(tensor, p[at(tensor)], values[k]);
  }
  return in_columns;
}

void TileEmitter::straight(const Pointers& first) {
  std::vector<Rows> tiles(first.size()), results(writes_.size());
  for (const int tensor : reads_) tiles[at(tensor)] = load(tensor, first[at(tensor)]);
  for (int i = 0; i < size_; ++i) {
    std::vector<Value*> loaded(first.size());
    for (const int tensor : reads_) loaded[at(tensor)] = tiles[at(tensor)][at(i)];
    const Rows values = row(first, f_.e.i64(i), loaded);
    for (size_t k = 0; k < values.size(); ++k) results[k].push_back(values[k]);
  }
  for (size_t k = 0; k < writes_.size(); ++k) store(writes_[k], first[at(writes_[k])], results[k]);
}

void TileEmitter::in_loop(const Pointers& first) {
  const auto type_of = [](llvm::AllocaInst* tile) { return tile->getAllocatedType()->getArrayElementType(); };
  const auto place = [&](llvm::AllocaInst* tile, Value* i) { return f_.e.b.CreateGEP(type_of(tile), tile, i); };
  std::vector<llvm::AllocaInst*> tiles, results;
  for (const int tensor : reads_) {
    const Rows rows = load(tensor, first[at(tensor)]);
    tiles.push_back(stack(f_, tensor, size_));
    for (int i = 0; i < size_; ++i) f_.e.b.CreateStore(rows[at(i)], place(tiles.back(), f_.e.i64(i)));
  }
  for (const int tensor : writes_) results.push_back(stack(f_, tensor, size_));
  f_.e.loop(f_.e.i64(0), f_.e.i64(size_), {1, 1}, [&](Value* i) {
    std::vector<Value*> loaded(first.size());
    for (size_t k = 0; k < reads_.size(); ++k) loaded[at(reads_[k])] = f_.e.b.CreateLoad(type_of(tiles[k]), place(tiles[k], i));
    const Rows values = row(first, i, loaded);
    for (size_t k = 0; k < values.size(); ++k) f_.e.b.CreateStore(values[k], place(results[k], i));
  });
  for (size_t k = 0; k < writes_.size(); ++k) {
    Rows rows;
    for (int i = 0; i < size_; ++i) rows.push_back(f_.e.b.CreateLoad(type_of(results[k]), place(results[k], f_.e.i64(i))));
    store(writes_[k], first[at(writes_[k])], rows);
  }
}

}  // namespace strew::inline v0
