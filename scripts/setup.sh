#!/bin/sh
# Installs the Debian packages that building and testing need; says which, and does nothing when all are there.
#   scripts/setup.sh build    what the program needs
#   scripts/setup.sh test     that, and what the tests need
set -eu
build="gcc g++ make cmake ninja-build pkg-config libltdl-dev libopenblas-openmp-dev liblua5.4-dev libcjson-dev zlib1g-dev libpng-dev libjpeg-dev libreadline-dev libmicrohttpd-dev node-dagre-layout"
test="libcriterion-dev lua5.4 valgrind clang-format binutils libdnnl-dev"
want=$build
[ "${1:-build}" = test ] && want="$build $test"
missing=
for p in $want; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "setup: these packages are needed, and this is no Debian to install them on:$missing" >&2
  exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; needed:$missing" >&2; exit 1; }
  root=sudo
fi
echo "setup: installing$missing" >&2
$root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
