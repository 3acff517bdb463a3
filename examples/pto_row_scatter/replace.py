#!/usr/bin/env python3
"""Replaces a scatter of rows that is written as a scatter of elements, as pypto and PyTorch on NPUs do, by a scatter of rows.

    replace.py BUILD [FOLDER]    BUILD: the build folder; FOLDER: where the C++ of the rows' program and its launcher are left

Four files say the same. flat.pto is a program as a pypto kernel becomes one: pto.mscatter by element, with an index i32 for each element, index * 64 + c.
flat.mlir is the spelling of a framework, on the flattened table. rows.strew is the row scatter: one index per row. slots.strew adds that no two rows
go to one place, as slots of a KV cache do not, so cores may share the rows. The program runs all four as programs for both chips, simulated, and prints what
the planner says of each: launches, cores, and of all cores together the tile instructions and the bytes that they load and move by index.

Run by ctest as example_pto_row_scatter: it exits 1 when a result differs in a bit, when rows do not cost less than elements, or when the
C++ or the launcher does not hold what it should. Beyond i32, the two differ: the flat index of row 2^26 of a table of 64 columns is 0, so
the flat scatter writes row 0, where the row scatter drops the row.
"""
import array
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE, ROWS, WIDTH = 1024, 256, 64
FORMS = ("flat.pto", "flat.mlir", "rows.strew", "slots.strew")


def write_npy(path, code, shape, values):
    header = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())


def read_npy(path):
    with open(path, "rb") as file:
        start = file.read(10)
        file.read(int.from_bytes(start[8:10], "little"))
        return file.read()


def strew(build, *arguments):
    return subprocess.run([os.path.join(build, "bin", "strew"), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def draw(folder, unique):
    """Tables in `folder`, and what the result should be. Some indices are out of bounds; without `unique`, some rows go to one place."""
    numbers = random.Random(1)
    places = numbers.sample(range(TABLE), ROWS) if unique else [numbers.randrange(TABLE // 4) for _ in range(ROWS)]
    for k, outside in ((3, -1), (77, TABLE), (200, 2**20)):
        places[k] = outside + k if outside == 2**20 else outside
    table = array.array("f", [numbers.random() for _ in range(TABLE * WIDTH)])
    rows = array.array("f", [numbers.random() for _ in range(ROWS * WIDTH)])
    write_npy(os.path.join(folder, "table.npy"), "f4", (TABLE, WIDTH), table)
    write_npy(os.path.join(folder, "line.npy"), "f4", (TABLE * WIDTH,), table)
    write_npy(os.path.join(folder, "rows.npy"), "f4", (ROWS, WIDTH), rows)
    write_npy(os.path.join(folder, "index.npy"), "i4", (ROWS,), array.array("i", places))
    flat = array.array("i", [place * WIDTH + c for place in places for c in range(WIDTH)])
    write_npy(os.path.join(folder, "flat.npy"), "i4", (ROWS, WIDTH), flat)
    for k, place in enumerate(places):
        if 0 <= place < TABLE:
            table[place * WIDTH:(place + 1) * WIDTH] = rows[k * WIDTH:(k + 1) * WIDTH]
    return table.tobytes()


def run(build, chip, form, folder):
    at = {name: os.path.join(folder, name + ".npy") for name in ("table", "line", "rows", "index", "flat", "out")}
    inputs = [at["line"], at["rows"], at["flat"]] if form == "flat.pto" else [at["table"], at["index"], at["rows"]]
    strew(build, "run", os.path.join(HERE, form), "--backend", f"npu-{chip}", "--input", *inputs, "--output", at["out"])
    return read_npy(at["out"])


def cost(build, chip, form, folder):
    """The fields of the plan that are compared, summed over the cores."""
    path = os.path.join(folder, "kernel.cpp")
    strew(build, "compile", os.path.join(HERE, form), "--target", f"npu-{chip}", "--emit", "pto-cpp", "-o", path)
    with open(path + ".json") as file:
        program = json.load(file)
    cores, mean = program["cost"]["cores"], program["cost"]["mean"]
    return {"launches": program["launches"], "cores": cores, "tile": f"{program['tiles']['rows']}x{program['tiles']['cols']}",
            **{field: cores * mean[field] for field in ("instructions", "loaded_bytes", "indexed_bytes", "scalars")}}


def emitted(build, chip, folder):
    """Writes the C++ of the rows' program and its launcher into `folder`. Do they hold a scatter of rows, and a function that launches it?"""
    program, launcher = os.path.join(folder, f"slots_{chip}.cpp"), os.path.join(folder, f"slots_{chip}.h")
    for kind, path in (("pto-cpp", program), ("pto-host", launcher)):
        strew(build, "compile", os.path.join(HERE, "slots.strew"), "--target", f"npu-{chip}", "--emit", kind, "-o", path)
    with open(program) as a, open(launcher) as b:
        return "MSCATTER<pto::Coalesce::Row" in a.read() and "launch_" in b.read()


def main():
    build = sys.argv[1]
    good = True
    print(f"{'':4} {'':12} {'launches':>8} {'cores':>5} {'tile':>8} {'instructions':>12} {'loaded':>10} {'by index':>10} {'scalars':>8}")
    with tempfile.TemporaryDirectory() as folder:
        out = sys.argv[2] if len(sys.argv) > 2 else folder
        os.makedirs(out, exist_ok=True)
        for chip in ("a3", "a5"):
            for unique in (False, True):
                expected = draw(folder, unique)
                for form in FORMS if unique else FORMS[:-1]:
                    if run(build, chip, form, folder) != expected:
                        print(f"{form} on {chip}: the result differs")
                        good = False
            costs = {form: cost(build, chip, form, folder) for form in FORMS}
            for form, c in costs.items():
                print(f"{chip:4} {form:12} {c['launches']:8} {c['cores']:5} {c['tile']:>8} {c['instructions']:12} {c['loaded_bytes']:10} "
                      f"{c['indexed_bytes']:10} {c['scalars']:8}")
            for form in ("rows.strew", "slots.strew"):
                for field in ("instructions", "loaded_bytes"):
                    if costs[form][field] * 2 > costs["flat.pto"][field]:
                        print(f"{form} on {chip}: {field} are not half of those of elements")
                        good = False
            if not emitted(build, chip, out):
                print(f"{chip}: the C++ holds no scatter of rows, or there is no launcher")
                good = False
    print("all four spellings gave the same bits" if good else "failed")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
