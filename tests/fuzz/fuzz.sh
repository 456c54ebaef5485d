#!/bin/sh
# fuzz.sh SECONDS [TARGET...]: builds with clang, address and undefined-behaviour sanitizer, and runs libFuzzer on each target (none
# named: on all) for that long. What is found lies in build-fuzz/fuzz/TARGET/; mended, it goes to tests/fuzz/found/TARGET/, which
# ctest tries for ever. FUZZ_BUILD: another build folder, which is there already.
set -u
cd "$(dirname "$0")/../.." || exit 2
seconds=$1
shift
command -v clang >/dev/null || { echo "libFuzzer comes with clang, which is not installed (Debian: apt install clang)"; exit 2; }
build=${FUZZ_BUILD:-}
if [ -z "$build" ]; then
  build=build-fuzz
  log=$(mktemp)
  cmake --preset fuzz -DTFSDK_TESTS=ON >"$log" 2>&1 && cmake --build $build --target fuzz >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
  rm -f "$log"
fi
[ $# -gt 0 ] || set -- $(cd "$build/fuzz" && ls)
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
bad=0
for name; do
  place=$build/fuzz/$name
  "$build/tests/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$place/" "$place/corpus" "$place/seeds" >"$place/log" 2>&1
  rc=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$place/log")
  cov=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$place/log" | tail -n 1)
  echo "$name: ${runs:-0} inputs in $seconds s, $([ $rc = 0 ] && echo "no finding" || echo "A FINDING, see $place/log"), coverage ${cov:-0}"
  [ $rc = 0 ] || bad=1
done
exit $bad
