#!/usr/bin/env python3
"""Compiles an op to an object and writes a header that names its kernel: make_kernel.py STREW OP_FILE OBJECT HEADER"""
import json
import subprocess
import sys

strew, op, target, header = sys.argv[1:]
made = subprocess.run([strew, "compile", op, "--emit", "obj", "--json", "-o", target, "--target", "x86-64-v2",
                       "--schedule", "strategy=owner"], check=True, stdout=subprocess.PIPE)
with open(header, "w", encoding="utf-8") as out:
    out.write(f"#define STREW_TEST_KERNEL {json.loads(made.stdout)['kernel']}\n")
