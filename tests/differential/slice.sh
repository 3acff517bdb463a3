#!/bin/sh
# slice.sh PROGRAM: first every seed that ever failed (failing_seeds.txt: one line of arguments each), then a slice of fresh ones.
# STREW_DIFFERENTIAL holds the slice's arguments; ./dev test sets it.
here=$(cd "$(dirname "$0")" && pwd)
if [ -f "$here/failing_seeds.txt" ]; then
  grep -v -e '^#' -e '^$' "$here/failing_seeds.txt" | while read -r line; do
    # shellcheck disable=SC2086
    "$1" $line >/dev/null || { echo "failed again: $1 $line"; exit 1; }
  done || exit 1
fi
# shellcheck disable=SC2086
exec "$1" ${STREW_DIFFERENTIAL:---seconds 10}
