#!/bin/sh
# run.sh STREW: runs the models of this folder, in the .venv that ./dev makes. As tests/oracle/run.sh: exit status 77 means that it cannot run
# here, which CI does not allow.
here=$(cd "$(dirname "$0")" && pwd)
python=$here/../../.venv/bin/python3
if [ -x "$python" ] && "$python" -c 'import numpy' 2>/dev/null; then
  exec "$python" "$here/run_models.py" --strew "$1" --refused "$here/refused.txt"
fi
echo "no NumPy in .venv: ./dev setup installs it"
[ "${CI:-}" != true ] || exit 1
exit 77
