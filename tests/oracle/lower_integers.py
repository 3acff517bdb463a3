#!/usr/bin/env python3
"""Proves the rules that lower operators on bool and integers (backends/lower): for all arguments, a rule's graph computes what docs/semantics.md
section 4 says, and no primitive gets an argument outside its domain.

z3 decides each rule on bit vectors; meanings are stated here in terms of z3's own operations, not of the rules'. Only quotients and remainders of
numbers without sign are left open, because z3 takes minutes for those of 16 bits: the proofs hold for every function that divides by one rightly, and
signed division is SMT-LIB's definition in terms of them.
"""
import argparse
import os
import re
import subprocess
import sys

try:
    import z3
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
TIMEOUT_MS = 60_000
OPEN = (16, 32, 64)  # the widths of which quotients and remainders are left open
QUOTIENT = {w: z3.Function(f"quotient{w}", *[z3.BitVecSort(w)] * 3) for w in OPEN}
REST = {w: z3.Function(f"rest{w}", *[z3.BitVecSort(w)] * 3) for w in OPEN}


def bits(dtype):
    return 1 if dtype == "bool" else int(dtype[1:])


def signed(dtype):
    return dtype[0] == "i"


def resize(value, width, sign=False):
    have = value.size()
    if width <= have:
        return z3.Extract(width - 1, 0, value)
    return z3.SignExt(width - have, value) if sign else z3.ZeroExt(width - have, value)


def truth(condition):
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def count_ones(a):
    return sum((resize(z3.Extract(i, i, a), a.size()) for i in range(a.size())), z3.BitVecVal(0, a.size()))


def leading_zeros(a):
    width = a.size()
    found = z3.BitVecVal(width, width)
    for i in range(width):
        found = z3.If(z3.Extract(i, i, a) == 1, z3.BitVecVal(width - 1 - i, width), found)
    return found


def less(a, b, sign):
    return a < b if sign else z3.ULT(a, b)


def magnitude(a):
    return z3.If(a < 0, -a, a)


def quotient(a, b, sign):
    if not sign:
        return QUOTIENT[a.size()](a, b) if a.size() in OPEN else z3.UDiv(a, b)
    whole = quotient(magnitude(a), magnitude(b), False)
    return z3.If((a < 0) != (b < 0), -whole, whole)


def rest(a, b, sign):
    if not sign:
        return REST[a.size()](a, b) if a.size() in OPEN else z3.URem(a, b)
    left = rest(magnitude(a), magnitude(b), False)
    return z3.If(a < 0, -left, left)


def one_divides(a):
    """What the proofs rely on of quotients and remainders that are left open."""
    return z3.And(*(z3.And(quotient(v, z3.BitVecVal(1, v.size()), False) == v, rest(v, z3.BitVecVal(1, v.size()), False) == 0)
                    for v in (a, magnitude(a)) if a.size() in OPEN))


def at_most(a, b, sign):
    return a <= b if sign else z3.ULE(a, b)


def meaning(op, dtypes, a, b):
    """What the operator computes of its elements, as a bit vector of the result's dtype."""
    dtype = dtypes[0]
    width, sign = bits(dtype), signed(dtype)
    zero, ones = z3.BitVecVal(0, width), z3.BitVecVal(-1, width)
    if op == "convert":
        to = dtypes[1]
        return truth(a != 0) if to == "bool" else resize(a, bits(to), sign)
    if dtype == "bool":
        table = {"add": lambda: a | b, "multiply": lambda: a & b, "minimum": lambda: a & b, "maximum": lambda: a | b}
        if op in table:
            return table[op]()
    return {
        "add": lambda: a + b,
        "subtract": lambda: a - b,
        "multiply": lambda: a * b,
        "divide": lambda: z3.If(b == 0, ones, quotient(a, b, sign)),
        "remainder": lambda: z3.If(b == 0, a, rest(a, b, sign)),
        "minimum": lambda: z3.If(at_most(a, b, sign), a, b),
        "maximum": lambda: z3.If(at_most(a, b, sign), b, a),
        "and": lambda: a & b,
        "or": lambda: a | b,
        "xor": lambda: a ^ b,
        "not": lambda: ~a,
        "negate": lambda: -a,
        "abs": lambda: z3.If(a < 0, -a, a) if sign else a,
        "sign": lambda: z3.If(a == 0, zero, z3.If(less(a, zero, sign), ones, z3.BitVecVal(1, width))),
        "popcnt": lambda: count_ones(a),
        "count_leading_zeros": lambda: leading_zeros(a),
        # The SMT-LIB shifts are total: by the width or more they give 0, or the sign in every bit.
        "shift_left": lambda: a << b,
        "shift_right_logical": lambda: z3.LShR(a, b),
        "shift_right_arithmetic": lambda: a >> b,
        "eq": lambda: truth(a == b),
        "ne": lambda: truth(a != b),
        "lt": lambda: truth(less(a, b, sign)),
        "le": lambda: truth(at_most(a, b, sign)),
        "gt": lambda: truth(less(b, a, sign)),
        "ge": lambda: truth(at_most(b, a, sign)),
    }[op]()


def primitive(op, type_, args):
    """A node's value, and the condition for its arguments to be within the primitive's domain."""
    width = WIDTHS[type_]
    a = args[0]
    b = args[1] if len(args) > 1 else None
    least = z3.BitVecVal(1 << (a.size() - 1), a.size())
    always = z3.BoolVal(True)
    amount = z3.ULT(b, a.size()) if op in ("shl", "lshr", "ashr") else always
    divides = z3.And(b != 0, z3.Not(z3.And(a == least, b == -1))) if op in ("sdiv", "srem") else always
    divisor = b != 0 if op in ("udiv", "urem") else always
    value = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "udiv": lambda: quotient(a, b, False),
        "urem": lambda: rest(a, b, False),
        "sdiv": lambda: quotient(a, b, True),
        "srem": lambda: rest(a, b, True),
        "bit_and": lambda: a & b,
        "bit_or": lambda: a | b,
        "bit_xor": lambda: a ^ b,
        "shl": lambda: a << b,
        "lshr": lambda: z3.LShR(a, b),
        "ashr": lambda: a >> b,
        "eq": lambda: truth(a == b),
        "slt": lambda: truth(a < b),
        "ult": lambda: truth(z3.ULT(a, b)),
        "select": lambda: z3.If(a == 1, b, args[2]),
        "itrunc": lambda: resize(a, width),
        "zext": lambda: resize(a, width),
        "sext": lambda: resize(a, width, sign=True),
        "smin": lambda: z3.If(a < b, a, b),
        "smax": lambda: z3.If(a < b, b, a),
        "umin": lambda: z3.If(z3.ULT(a, b), a, b),
        "umax": lambda: z3.If(z3.ULT(a, b), b, a),
        "iabs": lambda: z3.If(a < 0, -a, a),
        "popcount": lambda: count_ones(a),
        "clz": lambda: leading_zeros(a),
    }[op]()
    return value, z3.And(amount, divides, divisor)


def read(text, dtypes, elements):
    """The graph's result as a bit vector of its dtype, and the conditions that it relies on. elements: the inputs'."""
    values, relies, result, spare = [], [], None, z3.BoolVal(True)
    for line in text.strip().split("\n"):
        if line.startswith("result "):
            _, dtype, what = line.split(" ", 2)
            if what.startswith("input "):
                result = elements[int(what.split()[1])]
                continue
            whole = values[int(what[1:])]
            result = resize(whole, bits(dtype))
            if whole.size() > result.size():
                spare = z3.Extract(whole.size() - 1, result.size(), whole) == 0  # as in memory
            continue
        found = re.fullmatch(r"%\d+ = (\w+) (\w+)((?: \S+)*)", line)
        op, type_, rest = found.group(1), found.group(2), found.group(3).split()
        if op == "input":
            values.append(resize(elements[int(rest[0].split(".")[0])], WIDTHS[type_]))
        elif op == "constant":
            values.append(z3.BitVecVal(int(rest[0]), WIDTHS[type_]))
        else:
            value, relied = primitive(op, type_, [values[int(arg[1:])] for arg in rest])
            values.append(value)
            relies.append(relied)
    return result, z3.And(spare, *relies)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    tool = os.path.join(os.path.dirname(os.path.abspath(parser.parse_args().strew)), "strew_dump_lowered")
    dumped = subprocess.run([tool], stdout=subprocess.PIPE, check=True, text=True).stdout
    proved = wrong = 0
    for entry in dumped.strip().split("\n\n"):
        head, text = entry.split("\n", 1)
        op, names, _ = head.split()
        dtypes = names.split(",")
        elements = [z3.BitVec(name, bits(dtypes[0])) for name in ("a", "b")]
        got, relies = read(text, dtypes, elements)
        solver = z3.Solver()
        solver.set("timeout", TIMEOUT_MS)
        solver.add(one_divides(elements[0]))
        solver.add(z3.Not(z3.And(got == meaning(op, dtypes, *elements), relies)))
        answer = solver.check()
        if answer == z3.unsat:
            proved += 1
            continue
        wrong += 1
        print(f"{head}: {'no proof' if answer == z3.unknown else solver.model()}\n{text}")
    print(f"{proved} rules proved, {wrong} not")
    return 1 if wrong or not proved else 0


if __name__ == "__main__":
    sys.exit(main())
