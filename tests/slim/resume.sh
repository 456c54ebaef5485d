#!/bin/sh
# resume.sh TFSDK SCRIPT: slim.learning.train, stopped (by its end, SIGINT, SIGTERM, SIGKILL) and taken up again, gives the losses, bit for
# bit, of a run that was not: with data that the graph reads, with an iterator of the script, with a step function that knows
# nothing of summaries. KILLS: how many times SIGKILL comes (default 3).
set -u
tfsdk=$1 script=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
wrong() { echo "resume.sh: $*"; bad=1; }
train() { "$tfsdk" run "$script" "$@"; }
# same FILE REFERENCE: every line of FILE, "STEP LOSS", is the reference's of that step
same() { awk 'NR == FNR { want[$1] = $2; next } { n++; if (want[$1] != $2) { print "step " $1 ": " $2 ", not " want[$1]; bad = 1 } } END { exit bad || n == 0 }' "$2" "$1"; }

train "$dir/whole" 260 get_next >"$dir/reference" || wrong "the reference run"
[ "$(wc -l <"$dir/reference")" = 260 ] || wrong "the reference run has $(wc -l <"$dir/reference") lines"

# Ended in the first epoch (113 steps), at its end, and in the third.
for way in get_next iterator own_step; do
  rm -rf "$dir/run"
  for k in 1 40 113 230 260; do train "$dir/run" $k $way; done >"$dir/out"
  [ "$(wc -l <"$dir/out")" = 260 ] || wrong "$way: $(wc -l <"$dir/out") lines"
  same "$dir/out" "$dir/reference" || wrong "$way"
done

# Signals: the step is finished, saved, and the exit code says which.
for signal in INT TERM; do
  rm -rf "$dir/run"
  : >"$dir/out" # what was there would be taken for this run's
  "$tfsdk" run "$script" "$dir/run" 100000 get_next >"$dir/out" 2>"$dir/err" &
  pid=$!
  until [ "$(wc -l <"$dir/out")" -gt 5 ]; do kill -0 $pid 2>/dev/null || break; done
  kill -$signal $pid
  wait $pid
  rc=$?
  [ $rc = $([ $signal = INT ] && echo 130 || echo 143) ] || { wrong "SIG$signal: exit code $rc"; cat "$dir/err"; }
  stopped=$(tail -n 1 "$dir/out" | cut -d' ' -f1)
  grep -q "\"model.ckpt-$stopped\"" "$dir/run/checkpoint" || wrong "SIG$signal: not saved at $stopped"
  train "$dir/run" $((stopped + 5)) get_next >>"$dir/out"
  [ "$(wc -l <"$dir/out")" = $((stopped + 5)) ] || wrong "SIG$signal: $(wc -l <"$dir/out") lines of $((stopped + 5))"
  head -n 260 "$dir/out" >"$dir/lines"
  same "$dir/lines" "$dir/reference" || wrong "SIG$signal at step $stopped"
done

# SIGKILL, while checkpoints and summaries are written all the time.
rm -rf "$dir/run"
i=0
while [ $i -lt "${KILLS:-3}" ]; do
  "$tfsdk" run "$script" "$dir/run" 100000 get_next >"$dir/out" 2>"$dir/err" &
  pid=$!
  sleep "0.$(awk -v seed=$i 'BEGIN { srand(seed + 1); printf "%03d", 100 + rand() * 200 }')"
  kill -KILL $pid 2>/dev/null
  wait $pid 2>/dev/null
  rc=$?
  [ $rc = 137 ] || { wrong "kill $i: exit code $rc"; cat "$dir/err"; }
  sed -i '$ { /^[0-9]* [-0-9.e+]*$/! d }' "$dir/out" # the last line may be half
  head -n -1 "$dir/out" | awk '$1 <= 260' >"$dir/lines"
  [ ! -s "$dir/lines" ] || same "$dir/lines" "$dir/reference" || wrong "kill $i"
  i=$((i + 1))
done
train "$dir/run" 1 get_next >/dev/null 2>"$dir/err" || { wrong "after the kills"; cat "$dir/err"; }
exit $bad
