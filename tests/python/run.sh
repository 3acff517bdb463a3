#!/bin/sh
# run.sh [--torch PYTHON] SCRIPT BUILD [ARGUMENT...]: runs a test of the Python package with the package in BUILD/python and the .venv that ./dev makes; with --torch, a test of
# strew.torch with PYTHON, which has PyTorch. Exit status 77, which ctest shows as skipped, where one of them is missing; in CI nothing may be skipped.
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$root/.venv/bin/python3
maker="./dev setup"
kernels=.
if [ "$1" = --torch ]; then
  python=$2
  maker="./dev test"
  kernels="torch_kernels/libstrew_torch-*.so"
  shift 2
fi
script=$1
build=$2
shift 2
if [ ! -x "$python" ]; then
  echo "no $python: $maker makes it"
  status=77
elif ! ls "$build"/python/strew/_native*.so >/dev/null 2>&1; then
  echo "the Python package was not built: it needs the headers of Python and of NumPy 2, and nanobind"
  status=77
elif ! (cd "$build/python/strew" && ls -d $kernels) >/dev/null 2>&1; then
  echo "strew.torch was not built: it needs the headers of PyTorch, which ./dev test installs into .venv-torch"
  status=77
else
  PYTHONPATH=$build/python:$root/tests/python JAX_PLATFORMS=cpu "$python" "$script" "$@"
  status=$?
fi
if [ "$status" = 77 ] && [ "${CI:-}" = true ]; then
  echo "skipped, which CI does not allow"
  exit 1
fi
exit "$status"
