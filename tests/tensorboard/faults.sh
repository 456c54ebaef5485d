#!/bin/sh
# A log that cannot be written: the training goes on, flush and close say what is wrong, and nothing else is harmed.
#     faults.sh PROGRAM FAULTS.LUA
set -u
program=$1
script=$2
here=$(mktemp -d)
trap 'chmod -R u+w "$here" 2>/dev/null; rm -rf "$here"' EXIT
failed=0
expect() { # NAME PATTERN OUTPUT
  if printf '%s\n' "$3" | grep -Eq "$2"; then echo "passed: $1"; else
    failed=1
    printf 'FAILED: %s: expected %s in:\n%s\n' "$1" "$2" "$3"
  fi
}
# The folder's place is taken by a file.
: >"$here/file"
out=$("$program" run --log-level none "$script" "$here/file/run" 2>&1)
expect "no folder: trained" '^trained 200$' "$out"
expect "no folder: flush" "^flush: NOT_FOUND: .*$here/file.*Not a directory" "$out"
expect "no folder: close" "^close: NOT_FOUND: .*$here/file" "$out"
# A folder that may not be written to (root may write everywhere).
if [ "$(id -u)" != 0 ]; then
  mkdir "$here/read_only" && chmod 555 "$here/read_only"
  out=$("$program" run --log-level none "$script" "$here/read_only/run" 2>&1)
  expect "read-only: trained" '^trained 200$' "$out"
  expect "read-only: flush" '^flush: PERMISSION_DENIED: .*read_only.*Permission denied' "$out"
else
  echo "skipped: a read-only folder, for this is root"
fi
# A disk that is full after a while: a file may have 16 blocks of 512 bytes, and the log is longer.
out=$(ulimit -f 16 && "$program" run --log-level none "$script" "$here/full" 2>&1)
expect "full: trained" '^trained 200$' "$out"
expect "full: flush" '^flush: RESOURCE_EXHAUSTED: .*full/events.*File too large' "$out"
expect "full: events before it are whole" '^steps read: ([5-9][0-9]|1[0-9][0-9])$' "$out"
expect "full: a new file goes on" '^after: 1$' "$out"
exit $failed
