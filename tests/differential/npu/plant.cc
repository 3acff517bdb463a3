// See plant.h. Tested by strew_npu_differential --plant, which fails if too few of the bugs are noticed.
#include "tests/differential/npu/plant.h"

#include <functional>

#include "compiler/pto/instructions.h"

namespace strew::test {
namespace {

using pto::Opcode;
using pto::Statement;

/// Every list of statements in the program, with each position in it for which `wanted` holds.
struct Place {
  std::vector<Statement>* body;
  size_t at;
};
void find(std::vector<Statement>& body, const std::function<bool(const Statement&)>& wanted, std::vector<Place>& out) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (wanted(body[i])) out.push_back({&body, i});
    find(body[i].body, wanted, out);
    find(body[i].otherwise, wanted, out);
  }
}

class Planter {
 public:
  Planter(const pto::TileProgram& program, Rng& rng) : program_(program), rng_(rng) {}

  std::vector<Planted> run() {
    drop("a flag that is not set", [](const Statement& s) { return s.opcode == Opcode::set_flag; });
    drop("a flag nobody waits for", [](const Statement& s) { return s.opcode == Opcode::wait_flag; });
    drop("a fault that is not kept",
         [](const Statement& s) { return s.opcode == Opcode::tsetval && s.operands[0][0].starts_with("faults"); });
    change(
        "another out of bounds mode", [](const Statement& s) { return s.opcode == Opcode::mscatter; },
        [](Statement& s) { set(s, "scatterOob", s.attribute("scatterOob") == "skip" ? "clamp" : "skip"); });
    change(
        "another combiner", [](const Statement& s) { return !s.attribute("scatterAtomicOp").empty(); },
        [](Statement& s) { set(s, "scatterAtomicOp", s.attribute("scatterAtomicOp") == "none" ? "add" : "none"); });
    change(
        "rows for elements", [](const Statement& s) { return s.opcode == Opcode::mscatter || s.opcode == Opcode::mgather; },
        [](Statement& s) { set(s, "coalesce", s.attribute("coalesce") == "row" ? "elem" : "row"); });
    change(
        "a look-up by the destination",
        [&](const Statement& s) { return s.opcode == Opcode::mgather && has_twin(s.operands[1][0]); },
        [](Statement& s) { s.operands[1][0] = twin(s.operands[1][0]); });
    // If one core does all the work anyway, or there is one tile only, this change is no bug.
    if (program_.tiles.split != pto::CoreSplit::single)
      change(
          "every core the first", [](const Statement& s) { return s.opcode == Opcode::get_block_idx; },
          [](Statement& s) {
            s.opcode = Opcode::constant;
            s.value = 0;
          });
    if (program_.ub_bytes > 32) out_.push_back({"too small a buffer", program_.module, program_.ub_bytes - 32});
    return std::move(out_);
  }

 private:
  /// Index tiles of look-ups and of the op's own indices are named alike (backends/pto/indices.cc).
  static std::string twin(const std::string& tile) { return "index" + tile.substr(std::string_view("lookup").size()); }
  bool has_twin(const std::string& tile) {
    if (!tile.starts_with("lookup")) return false;
    std::vector<Place> places;
    pto::Module module = program_.module;
    find(
        module.functions[0].body, [&](const Statement& s) { return s.opcode == Opcode::alloc_tile && s.result == twin(tile); },
        places);
    return !places.empty();
  }

  static void set(Statement& s, std::string_view attribute, const char* value) {
    for (pto::Attribute& a : s.attributes)
      if (a.name == attribute) a.value = value;
  }
  void drop(const char* what, const std::function<bool(const Statement&)>& wanted) {
    plant(what, wanted, [](const Place& p) { p.body->erase(p.body->begin() + static_cast<std::ptrdiff_t>(p.at)); });
  }
  void change(const char* what, const std::function<bool(const Statement&)>& wanted, const std::function<void(Statement&)>& how) {
    plant(what, wanted, [&](const Place& p) { how((*p.body)[p.at]); });
  }
  void plant(const char* what, const std::function<bool(const Statement&)>& wanted,
             const std::function<void(const Place&)>& how) {
    Planted planted{what, program_.module, 0};
    std::vector<Place> places;
    find(planted.module.functions[0].body, wanted, places);
    if (places.empty()) return;
    how(places[static_cast<size_t>(rng_.below(static_cast<int64_t>(places.size())))]);
    out_.push_back(std::move(planted));
  }

  const pto::TileProgram& program_;
  Rng& rng_;
  std::vector<Planted> out_;
};

}  // namespace

int least_caught(std::string_view what) {
  if (what == "too small a buffer") return 95;
  if (what == "a fault that is not kept") return 4;  // most calls have no bad index
  if (what.starts_with("a flag")) return 80;         // the other flags are in loops that do not run
  return what == "every core the first" ? 60 : 30;   // to move the same bits twice is no bug
}

std::vector<Planted> plant_bugs(const pto::TileProgram& program, Rng& rng) { return Planter(program, rng).run(); }

}  // namespace strew::test
