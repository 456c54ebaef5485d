#!/bin/sh
# resume.sh TFSDK EXAMPLE: a run that is stopped (by its end, SIGINT, SIGTERM, SIGKILL) and taken up again gives
# the losses, bit for bit, of one that was not. KILLS: how many times SIGKILL comes (default 12).
set -u
tfsdk=$1 example=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
wrong() { echo "resume.sh: $*"; bad=1; }
train() { "$tfsdk" run --seed 7 "$example" "$@"; }
# same FILE REFERENCE: every line of FILE is the reference's line of that step
same() { awk 'NR == FNR { want[$2] = $4; next } { n++; if (want[$2] != $4) { print "step " $2 ": " $4 ", not " want[$2]; bad = 1 } } END { exit bad || n == 0 }' "$2" "$1"; }

train "$dir/whole" 120 40 >"$dir/reference" || wrong "the reference run"
[ "$(wc -l <"$dir/reference")" = 120 ] || wrong "the reference run has $(wc -l <"$dir/reference") lines"

# Ended at a step, in the first epoch (57 steps), at its end, and in a later one; other numbers of threads.
for k in 1 2 29 56 57 58 99 119; do
  rm -rf "$dir/run"
  train "$dir/run" $k >"$dir/out" && TFSDK_THREADS=$((1 + k % 3)) train "$dir/run" 120 >>"$dir/out"
  [ "$(wc -l <"$dir/out")" = 120 ] || wrong "ended at $k: $(wc -l <"$dir/out") lines"
  same "$dir/out" "$dir/reference" || wrong "ended at $k"
done

# Ended again and again.
rm -rf "$dir/run"
for k in 3 4 50 51 90 120; do train "$dir/run" $k; done >"$dir/out"
[ "$(wc -l <"$dir/out")" = 120 ] && same "$dir/out" "$dir/reference" || wrong "ended again and again"

# Without any seed: a run that went on, and one taken up from a checkpoint on its way.
"$tfsdk" run "$example" "$dir/free" 60 30 >"$dir/out.free"
mkdir "$dir/other"
cp "$dir/free"/model-30.* "$dir/other"
printf 'model_checkpoint_path: "model-30"\n' >"$dir/other/checkpoint"
"$tfsdk" run "$example" "$dir/other" 60 >"$dir/out"
[ "$(wc -l <"$dir/out")" = 30 ] && same "$dir/out" "$dir/out.free" || wrong "without seeds"

# Signals: the step is finished, saved, and the exit code says which.
for signal in INT TERM; do
  rm -rf "$dir/run"
  "$tfsdk" run --seed 7 "$example" "$dir/run" 100000 100000 >"$dir/out" 2>"$dir/err" &
  pid=$!
  until [ "$(wc -l <"$dir/out")" -gt 5 ]; do kill -0 $pid 2>/dev/null || break; done
  kill -$signal $pid
  wait $pid
  rc=$?
  [ $rc = $([ $signal = INT ] && echo 130 || echo 143) ] || { wrong "SIG$signal: exit code $rc"; cat "$dir/err"; }
  stopped=$(tail -n 1 "$dir/out" | cut -d' ' -f2)
  grep -q "saved at step $stopped;" "$dir/err" || { wrong "SIG$signal: not saved at $stopped"; cat "$dir/err"; }
  train "$dir/run" $((stopped + 20)) >>"$dir/out"
  rm -rf "$dir/long"
  train "$dir/long" $((stopped + 20)) 100000 >"$dir/long.out"
  [ "$(wc -l <"$dir/out")" = $((stopped + 20)) ] && same "$dir/out" "$dir/long.out" || wrong "SIG$signal at step $stopped"
done

# SIGKILL, while it saves in the background after each step: what loads is whole, and the losses are the same.
steps=$((${KILLS:-12} * 150 + 500)) # more than the processes can reach
train "$dir/long2" $steps 1000000 >"$dir/long.out"
rm -rf "$dir/run"
i=0
while [ $i -lt "${KILLS:-12}" ]; do
  "$tfsdk" run --seed 7 "$example" "$dir/run" $steps 1 >"$dir/out" 2>"$dir/err" &
  pid=$!
  sleep "0.$(awk -v seed=$i 'BEGIN { srand(seed + 1); printf "%03d", 60 + rand() * 240 }')"
  kill -KILL $pid 2>/dev/null
  wait $pid 2>/dev/null
  rc=$?
  [ $rc = 137 ] || [ $rc = 0 ] || { wrong "kill $i: exit code $rc"; cat "$dir/err"; }
  sed -i '$ { /step [0-9]* loss [-0-9.e+]*$/! d }' "$dir/out" # the last line may be half
  head -n -1 "$dir/out" >"$dir/lines"
  [ ! -s "$dir/lines" ] || same "$dir/lines" "$dir/long.out" || wrong "kill $i"
  i=$((i + 1))
done
train "$dir/run" $steps 1000000 >"$dir/out" 2>"$dir/err" || { wrong "after the kills"; cat "$dir/err"; }
[ ! -s "$dir/out" ] || same "$dir/out" "$dir/long.out" || wrong "after the kills"
echo "resume.sh: $i kills, the last one went on from step $(head -n 1 "$dir/out" | cut -d' ' -f2)"
exit $bad
