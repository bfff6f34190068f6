#!/usr/bin/env bash
# Sets up all that is needed, builds the cpu and cuda presets and runs every test. Arguments go to ctest, as in
# `./test.sh -L unit` or `./test.sh -R BatchLoader`. SLIPSTREAM_PRESETS="cpu" leaves the cuda preset out.
set -euo pipefail
cd "$(dirname "$0")"
source scripts/versions.sh
presets=${SLIPSTREAM_PRESETS:-cpu cuda}

setup=(--oracle)
[[ " $presets " == *" cuda "* ]] && setup+=(--cuda)
scripts/setup.sh "${setup[@]}"

scripts/check_format.sh
for preset in $presets; do
  scripts/build.sh "$preset"
done
# Of the cuda build only what needs a GPU is tested beside the cpu build; where there is none those tests say so
# and are skipped. The cpu build comes last, so that its summary closes the output.
for preset in $(tac -s ' ' <<<"$presets "); do
  labels=()
  [ "$preset" = cuda ] && [ "$presets" != cuda ] && labels=(-L gpu)
  printf '\033[1m-- testing the %s preset\033[0m\n' "$preset"
  "$venv/bin/ctest" --test-dir "build/$preset" --output-on-failure --no-tests=error "${labels[@]}" "$@"
done
