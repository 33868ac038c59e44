#!/bin/sh
# pkg_config.sh C|CXX COMPILER LIBDIR PROGRAM [--static]: a project without a build system, one compiler line.
set -eu
language=$1 compiler=$2 libdir=$3 program=$4
shift 4
case $language in
  C) source=main.c standard=c11 ;;
  CXX) source=main.cpp standard=c++17 ;;
esac
export PKG_CONFIG_PATH="$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs "$@" simdattn)
echo "$compiler $source $flags"
mkdir -p "$(dirname "$program")"
# shellcheck disable=SC2086 # flags are words
"$compiler" -std=$standard -Wall -Wextra -Wpedantic -Werror "$(dirname "$0")/$source" $flags -lm -o "$program"
LD_LIBRARY_PATH="$libdir" "$program"
