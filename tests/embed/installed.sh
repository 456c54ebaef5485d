#!/bin/sh
# Installs into a folder, then does there what the README tells users to do: each program's output is checked.
set -eu
src=$1 build=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$build" --prefix "$dir/tfsdk" >"$dir/log" || { cat "$dir/log"; exit 1; }
lib=$(dirname "$(find "$dir/tfsdk" -name 'libtfsdk.so' | head -n 1)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib

expect() { # expect WORDS FILE
  grep -q -- "$1" "$2" || { echo "'$1' is not in the output:"; cat "$2"; exit 1; }
}

echo "== a third party's op"
cp -r "$src/examples/hello_op" "$dir/hello"
make -s -C "$dir/hello"
[ "$(nm -D --defined-only "$dir/hello/hello-op.so" | wc -l)" = 1 ]
"$dir/tfsdk/bin/tfsdk" run "$dir/hello/use.lua" "$dir/hello/hello-op.so" >"$dir/out"
# x sigmoid(1.5 x) at -1, 0, 2 and its derivative, computed in float64 from the formula
expect '-0.1824.*0.0000.*1.9051' "$dir/out"
expect '-0.0413.*0.5000.*1.0881' "$dir/out"

echo "== a C program"
cc -std=c11 -Wall -Wextra -Werror "$src/examples/embed_c/train.c" $(pkg-config --cflags --libs tfsdk) -o "$dir/train"
"$dir/train" >"$dir/out"
expect 'y = 2.000 x1 + -3.000 x2 + 1.000' "$dir/out" # the line that made the data

echo "== stock Lua"
LUA_CPATH="$lib/lua/5.4/?.so;;" lua5.4 "$src/examples/embed_lua/train.lua" >"$dir/out"
expect '0.0$' "$dir/out"
expect '\[4x1 float32\]' "$dir/out"
awk '/\[4x1/ { if (a[NR-4] + 0 != 0 || a[NR-3] + 0 != 1 || a[NR-2] + 0 != 1 || a[NR-1] + 0 != 0) exit 1 } { a[NR] = $1 }' "$dir/out" ||
  { echo "exclusive or was not learnt:"; cat "$dir/out"; exit 1; }

echo "== CMake"
mkdir "$dir/cmake"
cp "$src/examples/embed_c/train.c" "$dir/cmake/"
cat >"$dir/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(app C)
find_package(tfsdk REQUIRED)
add_executable(app train.c)
target_link_libraries(app tfsdk::tfsdk)
END
cmake -S "$dir/cmake" -B "$dir/cmake/build" -DCMAKE_PREFIX_PATH="$dir/tfsdk" >"$dir/log" && cmake --build "$dir/cmake/build" >>"$dir/log" || { cat "$dir/log"; exit 1; }
"$dir/cmake/build/app" >"$dir/out"
expect 'y = 2.000' "$dir/out"
