#!/bin/sh
# TensorFlow itself loads our saved models and graphs, and gets our numbers.
#     peer.sh PROGRAM [PYTHON]
# PYTHON, or $TENSORFLOW_PYTHON, must have the package tensorflow:
#     python3 -m venv build/tensorflow-venv && build/tensorflow-venv/bin/pip install tensorflow-cpu
# Without one the test is skipped (exit code 77).
set -u
program=$1
python=${TENSORFLOW_PYTHON:-${2:-python3}}
tests=$(cd "$(dirname "$0")" && pwd)
if ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' 2>/dev/null; then
  echo "skipped: $python has no package tensorflow"
  exit 77
fi
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$program" run "$tests/peer_write.lua" "$here" || exit 1
TF_CPP_MIN_LOG_LEVEL=3 "$python" "$tests/peer_read.py" "$here" 2>"$here/errors" || { tail -20 "$here/errors"; exit 1; }
