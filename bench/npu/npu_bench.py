#!/usr/bin/env python3
"""How busy the cores of NPU programs are: what the cost model says of a program, beside what its C++ does when it runs, core by core.

    npu_bench.py [--chip a3|a5] [--only REGEX] [--plan]

Every case is compiled for both chips as C++ by build/bin/strew, whose .json has the cost. The C++ is compiled by the host's compiler against
tests/pto_cpu and runs on all cores of the chip, on indices drawn within the table; the machine counts what each core moves and executes. A line
has the cores that work, bytes loaded on average and by the core that loads most, and what all cores would load if each input byte were loaded
once (share); bytes by index, instructions and scalars of the longest core, from the model and counted; tiles and buffers. --plan: the C++ does
not run, as is a program that moves more than 64 MB. Needs c++ (or $CXX). Model and counters may differ by a third in the bytes that a core moves on
average; a program for which they differ more ends it with status 1.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = os.path.join(ROOT, "build", "lib")
WIDTHS = {"i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8}
ELEMENTS = "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1"
ROWS = "update_window_dims=[1] " + ELEMENTS


def scatter(operand, indices, updates, more):
    return f"strew1.scatter(operand={operand} indices={indices} updates={updates} {more})"


def histogram(dtype, more=""):
    return scatter(f"{dtype}[4096]", "i32[1048576,1]", f"{dtype}[1048576]", f"{ELEMENTS} combiner=add init=fill fill=0:{dtype} oob=skip_window{more}")


def gradient(updates, more=""):
    return scatter("f32[8192,1024]", "i32[4096,1]", f"{updates}[4096,1024]", f"{ROWS} combiner=add init=fill fill=0:f32 oob=skip_window{more}")


DECODE = ("update_window_dims=[1,2,3] input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] "
          "index_vector_dim=1 init=in_place oob=undefined")
# Name, op, and how many places the indices choose from.
CASES = [
    ("KV decode, 32 positions of 8 heads", scatter("bf16[32,8,4096,128]", "i32[32]", "bf16[32,8,1,128]", DECODE), 4096),
    ("paged KV, 256 rows", scatter("bf16[65536,1024]", "i32[256,1]", "bf16[256,1024]", ROWS + " init=in_place oob=skip_window unique_indices=true"), 65536),
    ("histogram i32", histogram("i32"), 4096),
    ("histogram f32, any order", histogram("f32", " order=relaxed"), 4096),
    ("histogram f32, in order", histogram("f32"), 4096),
    ("gradient f32, any order", gradient("f32", " order=relaxed"), 8192),
    ("gradient f32, in order", gradient("f32"), 8192),
    ("gradient bf16 into f32, any order", gradient("bf16", " order=relaxed"), 8192),
    ("gradient bf16 into f32, in order", gradient("bf16"), 8192),
    ("scatter into a copy", scatter("f32[262144,64]", "i32[4096,1]", "f32[4096,64]", ROWS + " init=copy oob=skip_window"), 262144),
    ("scatter into a smaller copy", scatter("f32[65536,64]", "i32[4096,1]", "f32[4096,64]", ROWS + " init=copy oob=skip_window"), 65536),
    ("window into a copy", scatter("f32[32,1024,128]", "i32[1]", "f32[1,1024,128]",
                                   "update_window_dims=[0,1,2] scatter_dims_to_operand_dims=[0] index_vector_dim=0 init=copy oob=clamp"), 32),
]
FIELDS = ("loaded_bytes", "stored_bytes", "indexed_bytes", "instructions", "scalars")

# Calls the launcher on memory of the shapes that the JSON says, and prints what each block did.
MAIN = """
#include <cstdio>
#include <cstdlib>
#include <random>
#include "tests/pto_cpu/machine/launch.h"
#define STREW_KERNEL
#define STREW_LAUNCH(kernel, blocks, stream, ...) \\
  pto_cpu::run(*static_cast<pto_cpu::Launch*>(stream), pto_cpu::Chip::CHIP, blocks, [=] { kernel(__VA_ARGS__); })
#include "kernel.h"
int main() {
  pto_cpu::Launch launch;
  const auto memory = [&](const char* name, int64_t bytes, bool writable, bool filled) {
    auto* const data = static_cast<std::byte*>(std::calloc(static_cast<size_t>(bytes) + (1 << 20), 1));
    launch.buffers.push_back({.name = name, .data = data, .bytes = bytes, .writable = writable, .filled = filled});
    return static_cast<void*>(data);
  };
  std::minstd_rand random(1);
MEMORIES  launch_KERNEL(ARGUMENTS&launch, BLOCKS);
  if (!launch.error.empty()) return std::fprintf(stderr, "%s\\n", launch.error.c_str()), 1;
  for (const pto_cpu::Counts& c : launch.counts)
    std::printf("%lld %lld %lld %lld %lld\\n", (long long)c.loaded_bytes, (long long)c.stored_bytes, (long long)c.indexed_bytes,
                (long long)c.instructions, (long long)c.scalars);
}
"""


def bytes_of(argument):
    size = WIDTHS[argument["dtype"]]
    for extent in argument["shape"]:
        size *= extent
    return size


def compiled(op, chip, folder):
    """The program's JSON, whose C++ and launcher are then in the folder."""
    source = os.path.join(folder, "op.strew")
    with open(source, "w") as file:
        file.write(op + "\n")
    for kind, name in (("pto-host", "kernel.h"), ("pto-cpp", "kernel.cc")):
        subprocess.run([os.path.join(ROOT, "build/bin/strew"), "compile", source, "--target", f"npu-{chip}", "--emit", kind, "-o",
                        os.path.join(folder, name)], check=True)
    with open(os.path.join(folder, "kernel.cc.json")) as file:
        return json.load(file)


def run(program, op, places, chip, folder):
    """What each core did, as a dict of FIELDS."""
    memories, arguments = "", ""
    for i, a in enumerate(program["args"]):
        if a["role"] == "launch":
            continue
        result, scratch = a["role"] == "result", a["role"] == "scratch"
        filled = not scratch and (not result or "init=in_place" in op)
        memories += f'  void* const a{i} = memory("{a["name"]}", {bytes_of(a)}, {str(result or scratch).lower()}, {str(filled).lower()});\n'
        if a["role"] == "indices":
            # Where indices are unique, a step that is odd visits every place once.
            at = f"i * 4099 % {places}" if "unique_indices" in op else f"random() % {places}"
            memories += f"  for (int64_t i = 0; i < {bytes_of(a) // 4}; ++i) static_cast<int32_t*>(a{i})[i] = static_cast<int32_t>({at});\n"
        arguments += f"a{i}, "
    text = MAIN.replace("CHIP", chip).replace("MEMORIES", memories).replace("KERNEL", program["kernel"], 2)
    text = text.replace("STREW_" + program["kernel"], "STREW_KERNEL").replace("launch_KERNEL", "launch_" + program["kernel"])
    text = text.replace("ARGUMENTS", arguments).replace("BLOCKS", str(program["blocks"]))
    with open(os.path.join(folder, "main.cc"), "w") as file:
        file.write(text)
    binary = os.path.join(folder, "run")
    subprocess.run([os.environ.get("CXX") or "c++", "-std=c++20", "-O2", f"-D__NPU_ARCH__={'2201' if chip == 'a3' else '3101'}", f"-I{ROOT}",
                    f"-I{ROOT}/tests/pto_cpu", os.path.join(folder, "kernel.cc"), os.path.join(folder, "main.cc"), f"{LIBRARIES}/libstrew_pto_cpu.so",
                    f"-Wl,-rpath,{LIBRARIES}", "-o", binary], check=True)
    lines = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()
    return [dict(zip(FIELDS, map(int, line.split()))) for line in lines]


def line_of(name, chip, program, share, counted):
    cost, tiles = program["cost"], program["tiles"]
    longest = cost["longest"]
    out = f"{name:36} {chip} {cost['cores']:5} {program['launches']:8} {tiles['rows']:5}x{tiles['cols']:<5} {tiles['buffers']:7}"
    out += f" {share:10} {cost['mean']['loaded_bytes']:10} {longest['loaded_bytes']:10}"
    for field in ("indexed_bytes", "instructions", "scalars"):
        out += f" {longest[field]:10}"
    if counted is None:
        return out, True
    most = {field: max(core[field] for core in counted) for field in FIELDS}
    # What a core owns depends on the indices, so only the mean is known before.
    known = sum(cost["mean"][field] for field in FIELDS[:3])
    moved = sum(core[field] for core in counted for field in FIELDS[:3]) / cost["cores"]
    agree = abs(moved - known) <= 0.35 * known
    busy = sum(1 for core in counted if core["indexed_bytes"] + core["stored_bytes"] > 0)
    out += f" | {busy:5} {most['loaded_bytes']:10} {most['indexed_bytes']:10} {most['instructions']:10} {most['scalars']:10}"
    return out + ("" if agree else "  the model differs"), agree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", choices=("a3", "a5"))
    parser.add_argument("--only", default="")
    parser.add_argument("--plan", action="store_true")
    options = parser.parse_args()
    titles = f"{'':36} {'':2} {'cores':>5} {'launches':>8} {'tiles':>11} {'buffers':>7} {'share':>10} {'loaded':>10} {'longest':>10} {'by index':>10}"
    titles += f" {'instr.':>10} {'scalars':>10}"
    print(titles if options.plan else titles + f" | {'busy':>5} {'loaded':>10} {'by index':>10} {'instr.':>10} {'scalars':>10}  (counted)")
    good = True
    for name, op, places in CASES:
        for chip in ("a3", "a5"):
            if (options.chip or chip) != chip or not re.search(options.only, name):
                continue
            with tempfile.TemporaryDirectory() as folder:
                program = compiled(op, chip, folder)
                inputs = ("indices", "updates") + (("operand",) if "init=copy" in op else ())
                share = sum(bytes_of(a) for a in program["args"] if a["role"] in inputs) // program["blocks"]
                moved = program["cost"]["cores"] * sum(program["cost"]["mean"][field] for field in FIELDS[:3])
                counted = None if options.plan or moved > 64e6 else run(program, op, places, chip, folder)
                line, agree = line_of(name, chip, program, share, counted)
            print(line, flush=True)
            good &= agree
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
