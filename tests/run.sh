#!/bin/sh
# Builds with tests and runs them all. `tests/run.sh asan|ubsan|tsan` do it under a sanitizer; `valgrind` runs
# examples/digits.lua under valgrind. Ends with a line "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 2
mode=${1:-release}
jobs=${JOBS:-$(nproc)}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

preset=$mode
[ "$mode" = valgrind ] && preset=release
dir=build
[ "$preset" = release ] || dir=build-$preset
cmake --preset "$preset" -DTFSDK_TESTS=ON -DTFSDK_WERROR="${TFSDK_WERROR:-OFF}" >"$log" 2>&1 || { cat "$log"; exit 1; }
cmake --build "$dir" -j "$jobs" >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }

if [ "$mode" = valgrind ]; then
  # valgrind is slow at emulating fused multiply-adds: the plain kernels do
  TFSDK_CPU_ISA=generic DIGITS_EPOCHS=1 valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
    --suppressions=tests/valgrind.supp --quiet $dir/bin/tfsdk run examples/digits.lua
  exit $?
fi

# Leaks are checked by the sanitizer at exit; LuaJIT-free lua5.4 and criterion's forks are clean.
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export TSAN_OPTIONS="halt_on_error=1:suppressions=$PWD/tests/tsan.supp"
ctest --test-dir "$dir" --output-on-failure -j "$jobs" 2>&1 | tee "$log"
# The runners' own tallies over all shards; the second device's runs are not counted again.
awk '/ Testing: / { device = $3 ~ /^tiny_device/ }
  /^(oracle|conformance): / && !device { for (i = 2; i < NF; i++) if ($(i + 1) ~ /^(passed|failed|ops)/) n[$1 " " $(i + 1)] += $i }
  END { if (n["oracle: passed,"] + n["oracle: failed,"] > 0)
          print "oracle: " n["oracle: passed,"] + 0 " passed, " n["oracle: failed,"] + 0 " failed, " n["oracle: ops"] + 0 " ops not there yet"
        if (n["conformance: ops,"] > 0)
          print "conformance: " n["conformance: ops,"] + 0 " ops, " n["conformance: passed,"] + 0 " passed, " n["conformance: failed,"] + 0 " failed" }' \
  "$dir"/Testing/Temporary/LastTest.log
passed=$(grep -c ' Passed ' "$log")
skipped=$(grep -c '\*\*\*Skipped' "$log")
failed=$(grep -cE '\*\*\*(Failed|Exception|Timeout|Not Run)' "$log")
echo "$passed passed, $failed failed, $skipped skipped"
# Criterion calls a test passed whose process reports leaks when it ends.
if grep -l 'LeakSanitizer\|AddressSanitizer' "$dir"/Testing/Temporary/LastTest.log >/dev/null 2>&1; then
  echo "a sanitizer has found something:"
  grep -A12 'Sanitizer' "$dir"/Testing/Temporary/LastTest.log | head -60
  failed=1
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
