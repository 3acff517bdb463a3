#!/bin/sh
# run.sh SCRIPT STREW: runs one Python oracle as `SCRIPT --strew STREW` in the .venv that ./dev makes. An oracle exits 0 (right),
# 1 (wrong) or 77 (cannot run here: ctest shows it as skipped). In CI nothing may be skipped.
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$root/.venv/bin/python3
if [ -x "$python" ]; then
  JAX_PLATFORMS=cpu "$python" "$1" --strew "$2"
  status=$?
else
  echo "no $python: ./dev setup makes it"
  status=77
fi
if [ "$status" = 77 ] && [ "${CI:-}" = true ]; then
  echo "skipped, which CI does not allow"
  exit 1
fi
exit "$status"
