// Flags, moves and arithmetic of machine.h. Tested by tests/unit/pto_cpu/machine_test.cc.
#include <cstring>

#include "tests/pto_cpu/machine/elements.h"

namespace pto_cpu {

void set_flag(Pipe from, Pipe to, int event, int line) { Core::current().set_flag(from, to, event, line); }
void wait_flag(Pipe from, Pipe to, int event, int line) { Core::current().wait_flag(from, to, event, line); }
void pipe_barrier(Pipe pipe, int line) { Core::current().barrier(pipe, line); }
void set_signal(Pipe after, int signal, int line) { Core::current().set_signal(after, signal, line); }
void wait_signal(Pipe before, int signal, int line) { Core::current().wait_signal(before, signal, line); }
int64_t block_number() { return Core::current().block; }
int64_t block_count() { return Core::current().shared.blocks; }

// --- tiles and memory ---

void check_tile(const TileView& tile, int line) {
  const Core& core = Core::current();
  if (tile.valid_rows < 0 || tile.valid_rows > tile.rows || tile.valid_cols < 0 || tile.valid_cols > tile.cols)
    fail("Tile", line,
         "its valid part is " + std::to_string(tile.valid_rows) + "x" + std::to_string(tile.valid_cols) + ", expected at most " +
             std::to_string(tile.rows) + "x" + std::to_string(tile.cols));
  if (tile.address < 0) return;
  const int64_t end = tile.address + tile.rows * tile.cols * size_of(tile.type), most = core.room_bytes(tile.in_l1);
  if (tile.address % 32 != 0 || end > most)
    fail("TASSIGN", line,
         "the tile takes bytes " + std::to_string(tile.address) + " to " + std::to_string(end - 1) +
             ", expected a multiple of 32 as its start and an end within the " + std::to_string(most) + " bytes that are there");
}

namespace {

void require_fit(Core& core, const GlobalView& part, const TileView& tile) {
  for (const int64_t extent : part.shape)
    if (extent < 0) core.fail("an extent of the part of memory is " + std::to_string(extent) + ", expected 0 or more");
  if (part.rows() != tile.valid_rows || part.cols() != tile.valid_cols)
    core.fail("the part of memory is " + std::to_string(part.rows()) + "x" + std::to_string(part.cols()) + ", expected " +
              std::to_string(tile.valid_rows) + "x" + std::to_string(tile.valid_cols) + " as the valid part of the tile");
}

void require_same_extents(Core& core, const TileView& a, const TileView& b) {
  if (a.valid_rows != b.valid_rows || a.valid_cols != b.valid_cols)
    core.fail("the tiles have valid parts " + std::to_string(a.valid_rows) + "x" + std::to_string(a.valid_cols) + " and " +
              std::to_string(b.valid_rows) + "x" + std::to_string(b.valid_cols) + ", expected the same");
}

}  // namespace

void load(const TileView& to, const GlobalView& from, int line) {
  Core& core = Core::current();
  core.begin(Pipe::mte2, "TLOAD", line);
  require_fit(core, from, to);
  write_all(core, to, read_all(core, from));
  count(core, &Counts::loaded_bytes, to);
}

void store(const GlobalView& to, const TileView& from, int line) {
  Core& core = Core::current();
  core.begin(Pipe::mte3, "TSTORE", line);
  require_fit(core, to, from);
  write_all(core, to, read_all(core, from));
  count(core, &Counts::stored_bytes, from);
}

uint64_t get(const TileView& tile, int64_t at, int line) {
  Core& core = Core::current();
  core.begin(Pipe::s, "GetValue", line);
  ++core.counts().scalars;
  return element_at(tile.type, core.read(tile, at * size_of(tile.type), size_of(tile.type)));
}

void set(const TileView& tile, int64_t at, uint64_t bits, int line) {
  Core& core = Core::current();
  core.begin(Pipe::s, "SetValue", line);
  ++core.counts().scalars;
  core.write(tile, at * size_of(tile.type), reinterpret_cast<const std::byte*>(&bits), size_of(tile.type));
}

uint64_t get(const void* element, int64_t bytes) {
  Core& core = Core::current();
  core.begin(Pipe::s, "a scalar load", 0);
  ++core.counts().scalars;
  uint64_t out = 0;
  std::memcpy(&out, core.read(element, bytes), static_cast<size_t>(bytes));
  return out;
}

void set(void* element, int64_t bytes, uint64_t bits) {
  Core& core = Core::current();
  core.begin(Pipe::s, "a scalar store", 0);
  ++core.counts().scalars;
  core.write(element, reinterpret_cast<const std::byte*>(&bits), bytes);
}

void* tile_data(const TileView& tile) { return Core::current().room(tile.in_l1) + tile.address; }

void copy_l1_to_buffer(void* to, const void* from, int64_t bytes, int line) {
  Core& core = Core::current();
  core.begin(Pipe::mte1, "copy_cbuf_to_ubuf", line);
  ++core.counts().instructions;
  const auto whole = [&](bool in_l1, const void* address) {
    const int64_t at = static_cast<const std::byte*>(address) - core.room(in_l1);
    return TileView{in_l1, at, Type::u8, Places::rows, 1, bytes, 1, bytes};
  };
  write_all(core, whole(false, to), read_all(core, whole(true, from)));
}

// --- computation ---

void compute(Operation what, const char* name, const TileView& to, const TileView& a, const TileView& b, int line) {
  Core& core = Core::current();
  core.begin(Pipe::v, name, line);
  ++core.counts().instructions;
  require_same_extents(core, to, a);
  require_same_extents(core, to, b);
  std::vector<uint64_t> out = read_all(core, a);
  const std::vector<uint64_t> other = read_all(core, b);
  for (size_t i = 0; i < out.size(); ++i) out[i] = combined(what, a.type, out[i], other[i]);
  write_all(core, to, out);
}

void compute(Operation what, const char* name, const TileView& to, const TileView& a, uint64_t number, int line) {
  Core& core = Core::current();
  core.begin(Pipe::v, name, line);
  ++core.counts().instructions;
  require_same_extents(core, to, a);
  std::vector<uint64_t> out = read_all(core, a);
  for (uint64_t& element : out) element = combined(what, a.type, element, number);
  write_all(core, to, out);
}

void exclusive_or(const TileView& to, const TileView& a, const TileView& b, const TileView& room, int line) {
  compute(Operation::bit_xor, "TXOR", to, a, b, line);
  Core& core = Core::current();
  core.lose(room, 0, room.rows * room.cols * size_of(room.type));
}

void fill(const TileView& to, uint64_t number, int line) {
  Core& core = Core::current();
  core.begin(Pipe::v, "TEXPANDS", line);
  ++core.counts().instructions;
  write_all(core, to, std::vector<uint64_t>(static_cast<size_t>(to.valid_rows * to.valid_cols), number));
}

void ascend(const TileView& to, uint64_t first, int line) {
  Core& core = Core::current();
  core.begin(core.chip() == Chip::a3 ? Pipe::s : Pipe::v, "TCI", line);
  ++core.counts().instructions;
  std::vector<uint64_t> out(static_cast<size_t>(to.valid_rows * to.valid_cols));
  for (uint64_t& element : out) element = first++;
  write_all(core, to, out);
}

void convert(const TileView& to, const TileView& from, int line) {
  Core& core = Core::current();
  core.begin(Pipe::v, "TCVT", line);
  ++core.counts().instructions;
  require_same_extents(core, to, from);
  std::vector<uint64_t> out = read_all(core, from);
  for (uint64_t& element : out) {
    if (!is_float(from.type) && !is_float(to.type)) {
      element = static_cast<uint64_t>(to_integer(from.type, element));
      continue;
    }
    const float value = is_float(from.type) ? to_float(from.type, element) : static_cast<float>(to_integer(from.type, element));
    if (is_float(to.type)) {
      element = from_float(to.type, value);
      continue;
    }
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<float>(whole) != value || to_integer(to.type, static_cast<uint64_t>(whole)) != whole)
      core.fail("it converts " + std::to_string(value) +
                " to an integer, expected a value of its type: chips differ in the others");
    element = static_cast<uint64_t>(whole);
  }
  write_all(core, to, out);
}

}  // namespace pto_cpu
