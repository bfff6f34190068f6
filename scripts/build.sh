#!/usr/bin/env bash
# scripts/build.sh PRESET [cmake --build arguments]: configures where needed and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/versions.sh
preset=$1
shift
mkdir -p build
printf '\033[1m-- building the %s preset\033[0m\n' "$preset"
if ! "$venv/bin/cmake" --preset "$preset" >"build/configure-$preset.log" 2>&1; then
  cat "build/configure-$preset.log" >&2
  exit 1
fi
"$venv/bin/cmake" --build --preset "$preset" "$@"
