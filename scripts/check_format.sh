#!/usr/bin/env bash
# Checks that all sources are formatted as .clang-format says; --fix formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null; then
  echo "clang-format is not installed: the format is not checked (apt-get install clang-format)"
  exit 0
fi
if ! clang-format --version | grep -q 'version 14\.'; then
  echo "the format is checked with clang-format 14 alone: each version formats a little differently"
  exit 0
fi
mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
find app benchmarks data models pipeline tests -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | sort | xargs clang-format "${mode[@]}"
