#!/bin/sh
# slice.sh PROGRAM: first everything that ever failed (failing_seeds.txt), then a slice of fresh ops. STREW_DIFFERENTIAL holds the
# slice's arguments; ./dev test sets it. In CI every legal cell of the coverage table must have run.
here=$(cd "$(dirname "$0")" && pwd)
"$1" --seeds-file "$here/failing_seeds.txt" || exit 1
# shellcheck disable=SC2086
exec "$1" --jobs "$(nproc)" $([ "${CI:-}" = true ] && echo --require-coverage) ${STREW_DIFFERENTIAL:---seconds 10}
