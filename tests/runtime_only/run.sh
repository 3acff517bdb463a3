#!/usr/bin/env bash
# run.sh PROGRAM: runs it, and checks that it loads nothing but the C and C++ libraries (and libstrew_rt).
set -euo pipefail
"$1"
others=$(ldd "$1" | awk '{print $1}' | grep -v -E '^(linux-vdso|libstrew_rt|libc|libm|libstdc\+\+|libgcc_s|/lib.*/ld-linux)[-.a-z0-9_]*\.so' || true)
[ -z "$others" ] || { echo "it loads $others, expected libc, libm, libstdc++, libgcc_s and the loader only"; exit 1; }
