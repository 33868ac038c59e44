#!/bin/sh
# pkg_config.sh COMPILER LIBDIR PROGRAM [--static]: a project without a build system, one compiler line.
set -eu
compiler=$1 libdir=$2 program=$3
shift 3
export PKG_CONFIG_PATH="$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs "$@" simdattn)
echo "$compiler -std=c++17 main.cpp $flags"
# shellcheck disable=SC2086 # flags are words
"$compiler" -std=c++17 -Wall -Wextra -Wpedantic -Werror "$(dirname "$0")/main.cpp" $flags -o "$program"
LD_LIBRARY_PATH="$libdir" "$program"
