// Runs PTO text on data, for tests: named memories in, results in the same place.
#pragma once

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "backends/pto/simulate/simulate.h"
#include "compiler/pto/parse.h"

namespace strew::test {

/// Memories by name, as bytes; scalars by name.
struct PtoRun {
  std::map<std::string, std::vector<std::byte>> memories;
  std::map<std::string, int64_t> numbers;
  pto::SimulateOptions options;
  pto::SimulationReport report;

  template <typename T>
  void set(const std::string& name, const std::vector<T>& values) {
    memories[name].resize(values.size() * sizeof(T));
    std::memcpy(memories[name].data(), values.data(), memories[name].size());
  }
  template <typename T>
  std::vector<T> get(const std::string& name) const {
    const std::vector<std::byte>& bytes = memories.at(name);
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

  Status run(const pto::Module& module, std::string_view function = "") {
    std::vector<pto::SimulatedArgument> arguments;
    for (const pto::Function& f : module.functions) {
      if (!function.empty() && f.name != function) continue;
      for (const pto::Argument& a : f.arguments) {
        const auto memory = memories.find(a.name);
        const auto number = numbers.find(a.name);
        arguments.push_back({memory == memories.end() ? std::span<std::byte>() : std::span<std::byte>(memory->second),
                             number == numbers.end() ? 0 : number->second});
      }
    }
    Expected<pto::SimulationReport> out = pto::simulate(module, function, arguments, options);
    if (out.ok()) report = *out;
    return out.status();
  }
  Status run(const std::string& text, std::string_view function = "") {
    const Expected<pto::Module> module = pto::parse(text);
    return module.ok() ? run(*module, function) : module.status();
  }
};

/// A kernel over %table (64x32 elements), %data (count x 32), %idx (count) with tiles of 8 rows at fixed addresses and `body` as the
/// work on one tile: %s (data), %i (indices), %g (spare) and their parts %sp, %ip are there, %tp is the table.
inline std::string tile_kernel(const std::string& body, const std::string& chip = "a5", const std::string& element = "f32") {
  const std::string tile = "!pto.tile_buf<vec, 8x32x" + element + ">", list = "!pto.tile_buf<vec, 1x8xi32>";
  const std::string part = "!pto.partition_tensor_view<8x32x" + element + ">";
  return "module attributes {pto.target_arch = \"" + chip + "\"} {\n  func.func @k(%table: !pto.ptr<" + element +
         ">, %data: !pto.ptr<" + element + ">, %idx: !pto.ptr<i32>, %n: i32) {\n" +
         "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    %c8 = arith.constant 8 : index\n"
         "    %c32 = arith.constant 32 : index\n    %c64 = arith.constant 64 : index\n"
         "    %a0 = arith.constant 0 : i64\n    %a1 = arith.constant 8192 : i64\n    %a2 = arith.constant 16384 : i64\n"
         "    %three = arith.constant 3 : i32\n"
         "    %rows = arith.index_cast %n : i32 to index\n    %b64 = pto.get_block_idx\n    %n64 = pto.get_block_num\n"
         "    %b = arith.index_cast %b64 : i64 to index\n    %cores = arith.index_cast %n64 : i64 to index\n"
         "    %first = arith.muli %b, %c8 : index\n    %step = arith.muli %cores, %c8 : index\n"
         "    %tv = pto.make_tensor_view %table, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x" +
         element +
         ">\n    %sv = pto.make_tensor_view %data, shape = [%rows, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x" +
         element +
         ">\n    %iv = pto.make_tensor_view %idx, shape = [%c1, %rows], strides = [%rows, %c1] : !pto.tensor_view<?x?xi32>\n" +
         "    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !pto.tensor_view<?x?x" + element +
         "> -> !pto.partition_tensor_view<64x32x" + element + ">\n    scf.for %r = %first to %rows step %step {\n" +
         "      %s = pto.alloc_tile addr = %a0 : " + tile + "\n      %g = pto.alloc_tile addr = %a1 : " + tile +
         "\n      %i = pto.alloc_tile addr = %a2 : " + list +
         "\n      %sp = pto.partition_view %sv, offsets = [%r, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?x" + element +
         "> -> " + part +
         "\n      %ip = pto.partition_view %iv, offsets = [%c0, %r], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32> -> "
         "!pto.partition_tensor_view<1x8xi32>\n" +
         body + "    }\n    return\n  }\n}\n";
}

/// Statements of tile_kernel bodies.
inline std::string load_both(const std::string& element = "f32") {
  return "      pto.tload ins(%sp : !pto.partition_tensor_view<8x32x" + element + ">) outs(%s : !pto.tile_buf<vec, 8x32x" +
         element + ">)\n      pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%i : !pto.tile_buf<vec, 1x8xi32>)\n";
}
inline std::string flags(const std::string& from, const std::string& to, const std::string& event = "EVENT_ID0") {
  std::string out;
  for (const char* what : {"set", "wait"})
    out += "      pto." + std::string(what) + "_flag[<" + from + ">, <" + to + ">, <" + event + ">]\n";
  return out;
}
inline std::string scatter(const std::string& modes, const std::string& source = "s", const std::string& element = "f32") {
  return "      pto.mscatter ins(%" + source + ", %i : !pto.tile_buf<vec, 8x32x" + element +
         ">, !pto.tile_buf<vec, 1x8xi32>) outs(%tp : !pto.partition_tensor_view<64x32x" + element + ">) {" + modes + "}\n";
}
inline std::string gather(const std::string& modes, const std::string& into = "g", const std::string& element = "f32") {
  return "      pto.mgather ins(%tp, %i : !pto.partition_tensor_view<64x32x" + element +
         ">, !pto.tile_buf<vec, 1x8xi32>) outs(%" + into + " : !pto.tile_buf<vec, 8x32x" + element + ">) {" + modes + "}\n";
}
inline constexpr const char* kAddRows =
    "coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>, scatterOob = #pto<scatter_oob skip>";

}  // namespace strew::test
