#!/usr/bin/env python3
"""Compares strew's narrow floats with ml_dtypes: every code decoded, and encoding from every f16, every bf16, every code of every other
narrow format, and from f32 at and beside each code, each tie and each limit, plus random bits. f64 is checked against exact rational
arithmetic beside each tie, where rounding through f32 would show.

NaNs compare as NaNs. One rule is strew's own: in the formats without NaN (f4, f6) a NaN of either sign becomes the code of -0;
ml_dtypes does that for a positive one, and gives 0 for a negative one.
"""
import argparse
import os
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

NARROW = {  # ours: (theirs, bits of a code)
    "f4e2m1": (ml_dtypes.float4_e2m1fn, 4),
    "f6e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "f6e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "f8e3m4": (ml_dtypes.float8_e3m4, 8),
    "f8e4m3": (ml_dtypes.float8_e4m3, 8),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 8),
    "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8),
    "f8e4m3b11fnuz": (ml_dtypes.float8_e4m3b11fnuz, 8),
    "f8e5m2": (ml_dtypes.float8_e5m2, 8),
    "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8),
    "f8e8m0": (ml_dtypes.float8_e8m0fnu, 8),
    "f16": (np.float16, 16),
    "bf16": (ml_dtypes.bfloat16, 16),
}
NO_NAN = {"f4e2m1": 0x8, "f6e2m3": 0x20, "f6e3m2": 0x20}
TOOL = ""
compared = 0
failures = 0


def codes_of(name):
    dtype, bits = NARROW[name]
    return np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8).view(dtype)


def strew(source, values, target, result):
    """`values`, of strew's dtype `source`, converted to `target` by strew, as a numpy array of dtype `result`."""
    done = subprocess.run([TOOL, source, target], input=values.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, dtype=result)


def word(dtype):
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def compare(what, source, got, want):
    """Bit for bit, except that any NaN equals any other."""
    global compared, failures
    same = got.view(word(got.dtype)) == want.view(word(want.dtype))
    same |= np.isnan(got) & np.isnan(want)
    compared += same.size
    for i in np.flatnonzero(~same)[:5]:
        print(f"{what}: {source[i]!r} gives {got[i]!r} (bits {got.view(word(got.dtype))[i]:#x}), "
              f"expected {want[i]!r} (bits {want.view(word(want.dtype))[i]:#x})")
    failures += int(np.count_nonzero(~same))


def expected(values, name):
    want = values.astype(np.float32).astype(NARROW[name][0])  # ml_dtypes has not every pair; f32 holds every narrow value exactly
    if name in NO_NAN:
        want.view(np.uint8)[np.isnan(values.astype(np.float32))] = NO_NAN[name]
    return want


def encode(source, values, name):
    compare(f"{source} -> {name}", values, strew(source, values, name, NARROW[name][0]), expected(values, name))


def finite_values(name):
    values = codes_of(name).astype(np.float64)
    return np.unique(np.abs(values[np.isfinite(values)]))


def f32_probes(name, random):
    """Each code, the middle between neighbours, half a step beyond the largest, their f32 neighbours, limits of f32, random bits."""
    values = finite_values(name)
    step = values[-1] - values[-2]
    marks = np.concatenate([values, (values[1:] + values[:-1]) / 2, values[-1] + step * np.array([0.25, 0.5, 0.75, 1, 2])])
    marks = np.concatenate([marks, [values[1] / 4, values[1] / 2], 2.0 ** np.arange(-149, 128)]).astype(np.float32)
    up, down = np.nextafter(marks, np.float32(np.inf)), np.nextafter(marks, np.float32(-np.inf))
    special = np.array([0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x007FFFFF, 0x00800000], dtype=np.uint32)
    bits = random.integers(0, 2**32, 1 << 17, dtype=np.uint32)
    near = (random.standard_normal(1 << 16) * float(values[-1])).astype(np.float32)
    probes = np.concatenate([marks, up, down, special.view(np.float32), bits.view(np.float32), near])
    return np.concatenate([probes, -probes])


def check_f64_ties(name):
    """Beside each tie by far less than f32 resolves: the nearer code wins, so nothing was rounded on the way."""
    dtype = NARROW[name][0]
    values = finite_values(name)
    middle = (values[1:] + values[:-1]) / 2  # exact: a code has at most 11 significant bits
    for side, nearer in ((-np.inf, values[:-1]), (np.inf, values[1:])):
        probes = np.nextafter(middle, side)
        if name == "f8e8m0":
            nearer = np.where((middle < 2.0**-126), values[1:], nearer)  # see number.cc: below 2^-126 only 2^-127 and less is code 0
        compare(f"f64 -> {name}", probes, strew("f64", probes, name, dtype), nearer.astype(dtype))


def main():
    global TOOL
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strew", required=True, help="the strew program; strew_dump_conversions lies beside it")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    TOOL = os.path.join(os.path.dirname(os.path.abspath(args.strew)), "strew_dump_conversions")
    random = np.random.default_rng(args.seed)
    np.seterr(all="ignore")
    for name in NARROW:
        codes = codes_of(name)
        for wide, dtype in (("f32", np.float32), ("f64", np.float64)):
            compare(f"{name} -> {wide}", codes, strew(name, codes, wide, dtype), codes.astype(dtype))
        for other in NARROW:
            if other != name:
                encode(other, codes_of(other), name)
        encode("f32", f32_probes(name, random), name)
        check_f64_ties(name)
    print(f"{len(NARROW)} formats, {compared} conversions compared with ml_dtypes {ml_dtypes.__version__}, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
