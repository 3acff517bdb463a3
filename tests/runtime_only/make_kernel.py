#!/usr/bin/env python3
"""Compiles an op to an object and writes a header that defines MACRO as the name of its kernel: make_kernel.py STREW OP_FILE OBJECT HEADER MACRO"""
import json
import subprocess
import sys

strew, op, target, header, macro = sys.argv[1:]
made = subprocess.run([strew, "compile", op, "--emit", "obj", "--json", "-o", target, "--target", "x86-64-v2"],
                      check=True, stdout=subprocess.PIPE)
with open(header, "w", encoding="utf-8") as out:
    out.write(f"#define {macro} {json.loads(made.stdout)['kernel']}\n")
