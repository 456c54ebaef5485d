#!/bin/sh
# The real TensorBoard reads what we write: event accumulator, data provider, data server.
#     peer.sh PROGRAM [PYTHON]
# PYTHON, or $TENSORBOARD_PYTHON, must have the package tensorboard:
#     python3 -m venv build/tensorboard-venv && build/tensorboard-venv/bin/pip install tensorboard
# Without one the test is skipped (exit code 77).
set -u
program=$1
python=${TENSORBOARD_PYTHON:-${2:-python3}}
tests=$(cd "$(dirname "$0")" && pwd)
if ! "$python" -c 'import tensorboard' 2>/dev/null; then
  echo "skipped: $python has no package tensorboard"
  exit 77
fi
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$program" run "$tests/peer_write.lua" "$here/run" "$here/written.json" || exit 1
"$python" "$tests/peer_read.py" "$here/run" "$here/written.json" 2>"$here/errors" || { grep -v Warning "$here/errors" | tail -20; exit 1; }
