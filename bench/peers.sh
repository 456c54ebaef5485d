#!/bin/sh
# Compares with peers: makes a Python environment with current PyTorch, TensorFlow and JAX from PyPI (some gigabytes, once), then runs
# bench/run_peers.py, whose options are given on (--help tells).
#   bench/peers.sh [OPTIONS of run_peers.py]
set -eu
cd "$(dirname "$0")/.."
env=build/bench-env
if [ ! -x "$env/bin/python" ]; then
  command -v python3 >/dev/null || { echo "bench: python3 and python3-venv are needed for the peers" >&2; exit 1; }
  mkdir -p build
  python3 -m venv "$env.new"
  "$env.new/bin/pip" install --quiet torch tensorflow-cpu jax || "$env.new/bin/pip" install --quiet torch tensorflow jax
  mv "$env.new" "$env"
fi
exec python3 bench/run_peers.py --python "$env/bin/python" "$@"
