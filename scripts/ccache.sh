#!/bin/sh
# ccache, told that a precompiled header's time stamps and __TIME__ don't matter; without it, the compiler alone.
command -v ccache >/dev/null || exec "$@"
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$(dirname "$(dirname "$(readlink -f "$0")")")}"
export CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-20G}"
exec ccache "$@"
