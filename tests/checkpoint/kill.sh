#!/bin/sh
# kill.sh TFSDK FAULTS.so: saving is ended, or fails, at each of its file operations in turn; after each the
# checkpoint before it or the new one loads whole, and the next save goes well. Also a full disk, a limit on
# the size of files, a folder that cannot be written.
set -u
tfsdk=$1 faults=$2
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
tried=0
wrong() { echo "kill.sh: $*"; bad=1; }

# step FOLDER: what the latest checkpoint is of
step() { "$tfsdk" run "$here/load.lua" "$1" 2>"$dir/errors"; }

for mode in steps same shards background; do
  rm -rf "$dir/good" && mkdir "$dir/good"
  "$tfsdk" run "$here/save.lua" "$dir/good" 1 $mode || { wrong "$mode: the first save failed"; continue; }
  # how many operations a save has
  cp -r "$dir/good" "$dir/run"
  FAULT_LOG="$dir/count" FAULT_PATH="$dir/run" LD_PRELOAD=$faults "$tfsdk" run "$here/save.lua" "$dir/run" 2 $mode
  total=$(cat "$dir/count")
  [ "$total" -ge 12 ] || wrong "$mode: only $total operations were seen"
  [ "$(step "$dir/run")" = 2 ] || wrong "$mode: the second save does not load"
  rm -rf "$dir/run"
  for kind in die half after enospc eio erofs; do
    n=1
    while [ $n -le "$total" ]; do
      rm -rf "$dir/run" && cp -r "$dir/good" "$dir/run"
      FAULT_AT=$n FAULT_KIND=$kind FAULT_PATH="$dir/run" LD_PRELOAD=$faults \
        "$tfsdk" run "$here/save.lua" "$dir/run" 2 $mode >"$dir/out" 2>&1
      rc=$?
      tried=$((tried + 1))
      case $kind in
      die | after) [ $rc = 86 ] || { [ $rc = 0 ] && [ $n = "$total" ]; } || wrong "$mode $kind $n: exit code $rc" ;;
      half) [ $rc = 86 ] || [ $rc = 0 ] || wrong "$mode $kind $n: exit code $rc" ;;
      *) [ $rc = 0 ] || [ $rc = 1 ] || { wrong "$mode $kind $n: exit code $rc"; cat "$dir/out"; } ;;
      esac
      got=$(step "$dir/run")
      case $got in
      1) [ $rc != 0 ] || wrong "$mode $kind $n: it says that it saved, and did not" ;;
      2) ;;
      *) wrong "$mode $kind $n: nothing loads: '$got'"; cat "$dir/out" "$dir/errors" ;;
      esac
      # go on as if nothing had been
      "$tfsdk" run "$here/save.lua" "$dir/run" 3 $mode >"$dir/out" 2>&1 || { wrong "$mode $kind $n: the save after it"; cat "$dir/out"; }
      [ "$(step "$dir/run")" = 3 ] || wrong "$mode $kind $n: the save after it does not load"
      n=$((n + 1))
    done
  done
done

# From some operation on everything fails: the disk is full for good.
n=1
while [ $n -le "$total" ]; do
  rm -rf "$dir/run" && cp -r "$dir/good" "$dir/run"
  FAULT_AT=$n FAULT_KIND=enospc FAULT_STAYS=1 FAULT_PATH="$dir/run" LD_PRELOAD=$faults \
    "$tfsdk" run "$here/save.lua" "$dir/run" 2 steps >"$dir/out" 2>&1
  rc=$?
  tried=$((tried + 1))
  got=$(step "$dir/run")
  { [ "$got" = 1 ] && [ $rc = 1 ]; } || [ "$got" = 2 ] || { wrong "full from $n on: '$got', exit code $rc"; cat "$dir/out"; }
  [ $rc = 0 ] || grep -q "No space left" "$dir/out" || { wrong "full from $n on: it does not say so"; cat "$dir/out"; }
  n=$((n + 1))
done

# A file may have 20 KB at most: the error names the file, the old checkpoint stays, no half files stay.
rm -rf "$dir/run" && cp -r "$dir/good" "$dir/run"
(trap '' XFSZ; ulimit -f 20; "$tfsdk" run "$here/save.lua" "$dir/run" 2 steps) >"$dir/out" 2>&1
[ $? = 1 ] && grep -q 'model-2\.safetensors.*File too large' "$dir/out" || { wrong "a file that may not grow"; cat "$dir/out"; }
[ "$(step "$dir/run")" = 1 ] || wrong "a file that may not grow: the old checkpoint is gone"
[ -z "$(ls "$dir/run" | grep -E 'tmp|model-2')" ] || { wrong "a file that may not grow: half files stay"; ls "$dir/run"; }
(ulimit -f 20; "$tfsdk" run "$here/save.lua" "$dir/run" 2 steps) >"$dir/out" 2>&1 # the signal ends it
[ "$(step "$dir/run")" = 1 ] || wrong "ended by SIGXFSZ: the old checkpoint is gone"

# A disk that is really full, where we may make one.
mkdir "$dir/small"
if mount -t tmpfs -o size=400k none "$dir/small" 2>/dev/null; then
  cp -r "$dir/good/." "$dir/small"
  head -c 200000 /dev/zero >"$dir/small/filler"
  "$tfsdk" run "$here/save.lua" "$dir/small" 2 steps >"$dir/out" 2>&1
  [ $? = 1 ] && grep -q 'No space left' "$dir/out" || { wrong "a full disk"; cat "$dir/out"; }
  [ "$(step "$dir/small")" = 1 ] || wrong "a full disk: the old checkpoint is gone"
  rm "$dir/small/filler"
  "$tfsdk" run "$here/save.lua" "$dir/small" 2 steps && [ "$(step "$dir/small")" = 2 ] || wrong "a disk with room again"
  umount "$dir/small"
else
  echo "kill.sh: no file system can be mounted here; a full disk was tried by failing operations only"
fi

# A folder that cannot be written; for root it needs another user.
rm -rf "$dir/run" && cp -r "$dir/good" "$dir/run"
chmod 755 "$dir" && chmod 555 "$dir/run"
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
if $as test -r "$dir/run/checkpoint" -a -x "$tfsdk" 2>/dev/null && $as "$tfsdk" version >/dev/null 2>&1; then
  $as "$tfsdk" run "$here/save.lua" "$dir/run" 2 steps >"$dir/out" 2>&1
  [ $? = 1 ] && grep -q 'model-2.*Permission denied' "$dir/out" || { wrong "a read-only folder"; cat "$dir/out"; }
  [ "$(step "$dir/run")" = 1 ] || wrong "a read-only folder: the old checkpoint is gone"
else
  echo "kill.sh: a read-only folder was not tried: no other user can run the program here"
fi
chmod 755 "$dir/run"
echo "kill.sh: $tried faults"
exit $bad
