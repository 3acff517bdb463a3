#!/bin/sh
# slice.sh PROGRAM [SEEDS]: first replays every op, or program, that failed once (SEEDS, or failing_seeds.txt), then checks new random ones.
# STREW_DIFFERENTIAL holds the arguments for the second run; ./dev test sets it. In CI (CI=true) every legal cell of
# the coverage table, or kind of node, must have run.
here=$(cd "$(dirname "$0")" && pwd)
"$1" --seeds-file "${2:-$here/failing_seeds.txt}" || exit 1
# shellcheck disable=SC2086
exec "$1" --jobs "$(nproc)" $([ "${CI:-}" = true ] && echo --require-coverage) ${STREW_DIFFERENTIAL:---seconds 10}
