#!/bin/sh
# slice.sh PROGRAM: first replays every op that failed once (failing_seeds.txt), then checks new random ops.
# STREW_DIFFERENTIAL holds the arguments for the second run; ./dev test sets it. In CI (CI=true) every legal cell of
# the coverage table must have run.
here=$(cd "$(dirname "$0")" && pwd)
"$1" --seeds-file "$here/failing_seeds.txt" || exit 1
# shellcheck disable=SC2086
exec "$1" --jobs "$(nproc)" $([ "${CI:-}" = true ] && echo --require-coverage) ${STREW_DIFFERENTIAL:---seconds 10}
