// Random programs and their text. Tile rows are 32 bytes or a multiple, as the chips want them.
#include <algorithm>

#include "tests/support/pto_program.h"

namespace strew::test {
namespace {

struct Kind {
  const char* name;
  DType dtype;
  bool a3, add_a3, add_a5, extremes_a5;
};
constexpr Kind kKinds[] = {
    {"i8", DType::i8, true, true, false, false},
    {"ui8", DType::u8, true, false, false, false},
    {"i16", DType::i16, true, true, false, false},
    {"ui16", DType::u16, true, false, false, false},
    {"i32", DType::i32, true, true, true, true},
    {"ui32", DType::u32, true, false, true, true},
    {"si32", DType::i32, true, true, true, true},
    {"f16", DType::f16, true, true, true, false},
    {"bf16", DType::bf16, true, true, true, false},
    {"f32", DType::f32, true, true, true, true},
    {"!pto.hif8", DType::hif8, false, false, false, false},
    {"f8E4M3FN", DType::f8e4m3fn, false, false, false, false},
    {"f8E5M2", DType::f8e5m2, false, false, false, false},
};

std::string n(int64_t value) { return std::to_string(value); }

/// Writes one program.
class Writer {
 public:
  explicit Writer(const PtoProgram& program) : p_(program) {}

  std::string ir() {
    const std::string rows = p_.static_count ? "" : ", %n: i32";
    out_ = "module attributes {pto.target_arch = \"" + p_.chip + "\"} {\n  func.func @k(%table: !pto.ptr<" + p_.element +
           ">, %data: !pto.ptr<" + p_.element + ">, %idx: !pto.ptr<" + p_.index + ">" + rows +
           ")\n      attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n";
    for (const int64_t value : {int64_t{0}, int64_t{1}, p_.rows, p_.cols, p_.width(), p_.table_rows}) constant(value);
    if (p_.static_count) {
      constant(p_.count);
      line("%total = arith.addi %c" + n(p_.count) + ", %c0 : index");
    } else {
      line("%total = arith.index_cast %n : i32 to index");
    }
    views();
    open_loop();
    if (p_.split_columns) line("scf.for %c = %c0 to %c" + n(p_.width()) + " step %c" + n(p_.cols) + " {");
    tile();
    if (p_.split_columns) line("}");
    if (p_.loop != PtoLoop::none && p_.loop != PtoLoop::tile_each) line("}");
    return out_ + "    return\n  }\n}\n";
  }

  std::string as() {
    const std::string table = "!pto.memref<" + n(p_.table_rows) + "x" + n(p_.cols) + "x" + p_.element + ">";
    const std::string data = "!pto.memref<" + n(p_.count) + "x" + n(p_.cols) + "x" + p_.element + ">";
    const std::string list = p_.by_row ? "1x" + n(p_.count) : n(p_.count) + "x" + n(p_.cols);
    const std::string indices = "!pto.memref<" + list + "x" + p_.index + ">",
                      index_tile = "!pto.tile<" + list + "x" + p_.index + ">";
    const std::string tile = "!pto.tile<" + n(p_.rows) + "x" + n(p_.cols) + "x" + p_.element + ">";
    out_ = ".arg %table : " + table + "\n.arg %data : " + data + "\n.arg %idx : " + indices +
           "\n.const %c0 = 0 : index\n%i = tload %idx[%c0, 0] : (" + indices + ", index, index) -> " + index_tile + ";\n";
    const std::string mode = std::string(p_.by_row ? ".row" : ".elem") + (p_.oob == "undefined" ? "" : "." + p_.oob) +
                             (p_.atomic == "none" ? "" : ".atomic_" + p_.atomic);
    if (p_.scatters)
      return out_ + "%t = tload %data[0, 0] : (" + data + ", index, index) -> " + tile + "\nmscatter" + mode +
             " %table, %t, %i : (" + table + ", " + tile + ", " + index_tile + ")\n";
    return out_ + "%t = mgather" + mode + " %table, %i : (" + table + ", " + index_tile + ") -> " + tile +
           "\ntstore %t, %data[0, 0]\n";
  }

 private:
  void line(const std::string& text) { out_ += "    " + text + "\n"; }
  void constant(int64_t value) {
    if (std::find(constants_.begin(), constants_.end(), value) != constants_.end()) return;
    constants_.push_back(value);
    line("%c" + n(value) + " = arith.constant " + n(value) + " : index");
  }

  void view(const std::string& name, const std::string& of, const std::string& element, const std::string& rows,
            const std::string& cols) {
    line("%" + name + " = pto.make_tensor_view %" + of + ", shape = [" + rows + ", " + cols + "], strides = [" + cols +
         ", %c1] : !pto.tensor_view<?x?x" + element + ">");
  }

  std::string width() const { return "%c" + n(p_.width()); }

  void views() {
    view("tv", "table", p_.element, "%c" + n(p_.table_rows), width());
    view("dv", "data", p_.element, "%total", width());
    if (p_.by_row && p_.column_indices)
      view("iv", "idx", p_.index, "%total", "%c1");
    else if (p_.by_row)
      view("iv", "idx", p_.index, "%c1", "%total");
    else
      view("iv", "idx", p_.index, "%total", width());
  }

  void open_loop() {
    const std::string rows = "%c" + n(p_.rows);
    if (p_.loop == PtoLoop::none || p_.loop == PtoLoop::one_core) {
      if (p_.loop == PtoLoop::none) return line("%r = arith.addi %c0, %c0 : index");
      return line("scf.for %r = %c0 to %total step " + rows + " {");
    }
    for (const char* what : {"idx", "num"}) {
      const std::string name = std::string("%b") + what;
      line(name + "64 = pto.get_block_" + what);
      line(name + " = arith.index_cast " + name + "64 : i64 to index");
    }
    switch (p_.loop) {
      case PtoLoop::in_turn:
        line("%first = arith.muli %bidx, " + rows + " : index");
        line("%step = arith.muli " + rows + ", %bnum : index");
        return line("scf.for %r = %first to %total step %step {");
      case PtoLoop::counted:
        line("%tiles = arith.ceildivsi %total, " + rows + " : index");
        line("scf.for %t = %bidx to %tiles step %bnum {");
        return line("%r = arith.muli %t, " + rows + " : index");
      case PtoLoop::pieces:
        line("%tiles = arith.ceildivsi %total, " + rows + " : index");
        line("%each = arith.ceildivui %tiles, %bnum : index");
        line("%piece = arith.muli %each, " + rows + " : index");
        line("%first = arith.muli %bidx, %piece : index");
        line("%end = arith.addi %first, %piece : index");
        line("%last = arith.minsi %end, %total : index");
        return line("scf.for %r = %first to %last step " + rows + " {");
      default:
        return line("%r = arith.muli %bidx, " + rows + " : index");
    }
  }

  std::string tile_type(const std::string& element, int64_t rows, int64_t cols, bool open_rows, bool open_cols,
                        bool column) const {
    return "!pto.tile_buf<loc=vec, dtype=" + element + ", rows=" + n(rows) + ", cols=" + n(cols) +
           ", v_row=" + (open_rows ? "?" : n(rows)) + ", v_col=" + (open_cols ? "?" : n(cols)) +
           ", blayout=" + (column ? "col_major" : "row_major") + ", slayout=none_box, fractal=512, pad=0>";
  }

  static std::string part_type(const std::string& element, const std::string& rows, const std::string& cols) {
    return "!pto.partition_tensor_view<" + rows + "x" + cols + "x" + element + ">";
  }

  void alloc(const std::string& name, const std::string& type, bool open_rows, bool open_cols) {
    if (p_.form == 0)
      return line("%" + name + " = pto.alloc_tile" + (open_rows ? " valid_row = %v" : "") + (open_cols ? " valid_col = %v" : "") +
                  " : " + type);
    const bool open = open_rows || open_cols;
    line("%" + name + " = \"pto.alloc_tile\"(" + (open ? "%v" : "") + ") <{operandSegmentSizes = array<i32: 0, " +
         (open_rows ? "1" : "0") + ", " + (open_cols ? "1" : "0") + ">}> : (" + (open ? "index" : "") + ") -> " + type);
  }

  void part(const std::string& name, const std::string& view, const std::string& element, const std::string& offsets,
            const std::string& sizes, const std::string& type) {
    const std::string from = "!pto.tensor_view<?x?x" + element + ">";
    if (p_.form == 0)
      return line("%" + name + " = pto.partition_view %" + view + ", offsets = [" + offsets + "], sizes = [" + sizes +
                  "] : " + from + " -> " + type);
    line("%" + name + " = \"pto.partition_view\"(%" + view + ", " + offsets + ", " + sizes +
         ") <{operandSegmentSizes = array<i32: 1, 2, 2>}> : (" + from + ", index, index, index, index) -> " + type);
  }

  void move(const std::string& what, const std::string& from, const std::string& from_type, const std::string& to,
            const std::string& to_type, const std::string& segments) {
    if (p_.form == 0) return line("pto." + what + " ins(%" + from + " : " + from_type + ") outs(%" + to + " : " + to_type + ")");
    line("\"pto." + what + "\"(%" + from + ", %" + to + ") <{operandSegmentSizes = array<i32: " + segments + ">}> : (" +
         from_type + ", " + to_type + ") -> ()");
  }

  void tile() {
    const bool open = p_.partial_tiles;
    if (open) {
      line("%left = arith.subi %total, %r : index");
      line("%v = arith.minsi %left, %c" + n(p_.rows) + " : index");
    }
    const std::string count = open ? "%v" : "%c" + n(p_.rows), shown = open ? "?" : n(p_.rows), cols = "%c" + n(p_.cols);
    const std::string column = p_.split_columns ? "%c" : "%c0";
    const std::string data_part = part_type(p_.element, shown, n(p_.cols));
    const std::string data_tile = tile_type(p_.element, p_.rows, p_.cols, open, false, false);
    part("dp", "dv", p_.element, "%r, " + column, count + ", " + cols, data_part);
    alloc("dt", data_tile, open, false);
    const bool tall = p_.by_row && p_.column_indices;
    const std::string index_part = !p_.by_row ? part_type(p_.index, shown, n(p_.cols))
                                   : tall     ? part_type(p_.index, shown, "1")
                                              : part_type(p_.index, "1", shown);
    const std::string index_tile = !p_.by_row ? tile_type(p_.index, p_.rows, p_.cols, open, false, false)
                                   : tall     ? tile_type(p_.index, p_.rows, 1, open, false, true)
                                              : tile_type(p_.index, 1, p_.rows, false, open, false);
    part("ip", "iv", p_.index, p_.by_row && !tall ? "%c0, %r" : "%r, %c0",
         !p_.by_row ? count + ", " + cols
         : tall     ? count + ", %c1"
                    : "%c1, " + count,
         index_part);
    alloc("it", index_tile, open && (!p_.by_row || tall), open && p_.by_row && !tall);
    const std::string table_part = part_type(p_.element, n(p_.table_rows), n(p_.cols));
    part("tp", "tv", p_.element, "%c0, " + column, "%c" + n(p_.table_rows) + ", " + cols, table_part);
    move("tload", "ip", index_part, "it", index_tile, "1, 1, 0, 0, 0, 0");
    std::string attributes = std::string("coalesce = #pto<coalesce ") + (p_.by_row ? "row" : "elem") + ">";
    if (p_.scatters && p_.atomic != "none") attributes += ", scatterAtomicOp = #pto<scatter_atomic_op " + p_.atomic + ">";
    if (p_.oob != "undefined")
      attributes +=
          p_.scatters ? ", scatterOob = #pto<scatter_oob " + p_.oob + ">" : ", gatherOob = #pto<gather_oob " + p_.oob + ">";
    const std::string types =
        p_.scatters ? data_tile + ", " + index_tile + ", " + table_part : table_part + ", " + index_tile + ", " + data_tile;
    if (p_.scatters) move("tload", "dp", data_part, "dt", data_tile, "1, 1, 0, 0, 0, 0");
    const std::string names = p_.scatters ? "%dt, %it, %tp" : "%tp, %it, %dt", what = p_.scatters ? "mscatter" : "mgather";
    if (p_.form == 1) {
      line("\"pto." + what + "\"(" + names + ") <{" + attributes + "}> : (" + types + ") -> ()");
    } else if (p_.scatters) {
      line("pto.mscatter ins(%dt, %it : " + data_tile + ", " + index_tile + ") outs(%tp : " + table_part + ") {" + attributes +
           "}");
    } else {
      line("pto.mgather ins(%tp, %it : " + table_part + ", " + index_tile + ") outs(%dt : " + data_tile + ") {" + attributes +
           "}");
    }
    if (!p_.scatters) move("tstore", "dt", data_tile, "dp", data_part, "1, 1, 0, 0");
  }

  const PtoProgram& p_;
  std::string out_;
  std::vector<int64_t> constants_;
};

}  // namespace

PtoProgram PtoProgram::random(Rng& rng) {
  PtoProgram p;
  p.scatters = rng.chance(65);
  p.by_row = rng.chance(55);
  p.chip = rng.chance(70) ? "a5" : "a3";
  p.atomic = p.scatters ? rng.pick<std::string>({"none", "none", "add", "add", "max", "min"}) : "none";
  for (;;) {
    const Kind& kind = kKinds[rng.below(std::size(kKinds))];
    const bool a5 = p.chip == "a5";
    const bool fits = p.atomic == "none"  ? a5 || kind.a3
                      : p.atomic == "add" ? (a5 ? kind.add_a5 : kind.add_a3)
                                          : a5 && kind.extremes_a5;
    if (!fits && !a5 && (p.atomic == "max" || p.atomic == "min")) p.chip = "a5";
    if (!fits) continue;
    p.element = kind.name;
    p.dtype = kind.dtype;
    break;
  }
  p.oob = p.scatters ? rng.pick<std::string>({"undefined", "skip", "clamp", "wrap"})
                     : rng.pick<std::string>({"undefined", "clamp", "wrap", "zero"});
  p.index = rng.chance(75) ? "i32" : "ui32";
  p.form = static_cast<int>(rng.below(3));
  p.cols = std::max<int64_t>(32 * 8 / bits(p.dtype), p.by_row ? 1 : 8) * rng.between(1, 2);
  p.rows = 8 * rng.between(1, 2);
  p.table_rows = rng.pick<int64_t>({1, 3, 7, 8, 16, 33});
  if (p.form == 2) {
    p.loop = PtoLoop::none;
    p.partial_tiles = false;
    p.count = p.rows;
    return p;
  }
  p.loop = static_cast<PtoLoop>(rng.below(6));
  p.static_count = p.loop == PtoLoop::tile_each || rng.chance(30);
  p.partial_tiles = p.loop != PtoLoop::none && p.loop != PtoLoop::tile_each && rng.chance(60);
  const int64_t tiles = p.loop == PtoLoop::none ? 1 : rng.between(1, 4);
  p.count = p.partial_tiles ? rng.between(tiles == 1 ? 1 : (tiles - 1) * p.rows, tiles * p.rows) : tiles * p.rows;
  if (p.loop == PtoLoop::none) p.static_count = true;
  p.column_indices = p.by_row && p.chip == "a5" && rng.chance(25);
  p.split_columns = p.by_row && p.chip == "a3" && rng.chance(40);
  return p;
}

std::string PtoProgram::text() const { return form == 2 ? Writer(*this).as() : Writer(*this).ir(); }

}  // namespace strew::test
