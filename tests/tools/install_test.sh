#!/bin/sh
# Installs the build tree elsewhere and uses it like a stranger: find_package from C++ and C, shared and static,
# and pkg-config. install_test.sh <source> <build> <cmake> <C compiler> <C++ compiler>
set -eu
source=$1 build=$2 cmake=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
flags="-Wall -Wextra -Werror"

"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
pc=$(find "$prefix" -name convgrad.pc)
libdir=$(dirname "$(dirname "$pc")")

for consumer in consumer consumer/c_only; do
  "$cmake" -S "$source/examples/$consumer" -B "$work/$consumer" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$work/configure.log" 2>&1 ||
    { cat "$work/configure.log"; exit 1; }
  "$cmake" --build "$work/$consumer" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
done
for program in consumer/cpp_shared consumer/cpp_static consumer/c_shared consumer/c_static consumer/c_only/c_only \
  consumer/graph_shared consumer/graph_static; do
  echo "find_package: $program"
  "$work/$program"
done

export PKG_CONFIG_PATH="$libdir/pkgconfig"
# shellcheck disable=SC2046,SC2086 # the flags are several words
"$cxx" -std=c++20 $flags "$source/examples/consumer/main.cc" -o "$work/pc_cpp" $(pkg-config --cflags --libs convgrad)
"$cc" -std=c11 $flags "$source/examples/consumer/main.c" -o "$work/pc_c" $(pkg-config --cflags --libs convgrad)
mkdir "$work/static" && cp "$libdir/libconvgrad.a" "$work/static"
"$cc" -std=c11 $flags "$source/examples/consumer/main.c" -o "$work/pc_static" $(pkg-config --cflags convgrad) \
  -L"$work/static" $(pkg-config --static --libs-only-l --libs-only-other convgrad)
for program in pc_cpp pc_c pc_static; do
  echo "pkg-config: $program"
  LD_LIBRARY_PATH="$libdir" "$work/$program"
done

# Where the distribution keeps libraries two folders deep, the .pc file must still find its prefix.
"$cmake" -S "$source" -B "$work/deep" -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCONVGRAD_TESTS=OFF -DCONVGRAD_CLI=OFF -DCONVGRAD_BENCH=OFF -DCONVGRAD_EXAMPLES=OFF \
  >"$work/deep.log" 2>&1 || { cat "$work/deep.log"; exit 1; }
deep=$work/root/lib/x86_64-linux-gnu
mkdir -p "$deep/pkgconfig" && cp "$work/deep/convgrad.pc" "$deep/pkgconfig"
for variable in libdir="$deep" includedir="$work/root/include"; do
  found=$(realpath -m "$(PKG_CONFIG_PATH="$deep/pkgconfig" pkg-config --variable="${variable%%=*}" convgrad)")
  [ "$found" = "${variable#*=}" ] || { echo "deep libdir: ${variable%%=*} is $found"; exit 1; }
done
echo "all programs ran"
