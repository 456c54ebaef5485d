#!/bin/sh
# The whole suite under each setting that must not matter: every pass off, all passes off, 1, 2 and 4 threads, oneDNN's kernels
# preferred, and a build without oneDNN. Some 15 minutes on two cores. Arguments choose settings: tests/matrix.sh threads=4 without-onednn
set -u
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-$(nproc)}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() { # folder, options
  folder=$1
  shift
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTFSDK_TESTS=ON "$@" >"$log" 2>&1 && cmake --build "$folder" -j "$jobs" >"$log" 2>&1 ||
    { tail -n 60 "$log"; exit 1; }
}
settings=$*
[ -n "$settings" ] ||
  settings="passes=-fold passes=-simplify passes=-merge passes=-fuse passes=-epilogue passes=-prologue passes=-schedule passes=-arena
    passes=none threads=1 threads=2 threads=4 prefer=onednn without-onednn"
failed=0
for setting in $settings; do
  folder=build
  case $setting in
  passes=*) set -- TFSDK_PASSES="${setting#*=}" ;;
  threads=*) set -- TFSDK_THREADS="${setting#*=}" ;;
  prefer=*) set -- TFSDK_PREFER="${setting#*=}" ;;
  without-onednn)
    set -- TFSDK_PREFER=
    folder=build-without-onednn
    ;;
  *)
    echo "matrix: '$setting' is no setting; they are passes=LIST, threads=N, prefer=KERNEL, without-onednn" >&2
    exit 2
    ;;
  esac
  if [ $folder = build ]; then build build; else build $folder -DTFSDK_WITHOUT=onednn; fi
  env "$@" ctest --test-dir $folder -j "$jobs" >"$log" 2>&1
  printf '%-18s %s passed, %s failed\n' "$setting" "$(grep -c ' Passed ' "$log")" "$(grep -cE '\*\*\*(Failed|Exception|Timeout|Not Run)' "$log")"
  grep -E '\*\*\*(Failed|Exception|Timeout|Not Run)' "$log" && failed=1
done
exit $failed
