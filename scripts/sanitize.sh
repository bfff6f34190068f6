#!/usr/bin/env bash
# scripts/sanitize.sh [-f FILTER] [-c CHECKS] [-j JOBS] [-t SECONDS] [-o FOLDER] [TEST_EXECUTABLE...]: the gpu tests
# under NVIDIA's compute-sanitizer, on a machine with a GPU: memcheck, racecheck and initcheck (or those of CHECKS), a
# process a test, JOBS of them at a time (half of the cores), each for SECONDS (600). Prints what each tool found in our
# kernels, and ends with 1 if that is anything, or if a test failed or ran out of its time.
#
# memcheck and racecheck look at our kernels alone (others cost hours). initcheck must see every kernel, or it doesn't
# know what the others wrote, but nvJPEG's: they read what its engines wrote, which it doesn't see, and a million errors
# hide others; data/initcheck.h tells it what is decoded. Nor does it see what cuDNN's convolutions write, by the tensor
# memory accelerator, so it doesn't run tests that read their results. Left out, too: tests that CUPTI traces, since it
# can't be subscribed twice.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=$(($(nproc) / 2)) seconds=600 folder= filter='*' tools='memcheck racecheck initcheck'
while getopts f:c:j:t:o: option; do
  case $option in
    f) filter=$OPTARG ;;   # of GoogleTest
    c) tools=$OPTARG ;;    # e.g. 'memcheck initcheck'
    j) jobs=$OPTARG ;;
    t) seconds=$OPTARG ;;
    o) folder=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# = 0 ] && set -- build/cuda/tests/models_gpu_test build/cuda/tests/gpu_test
folder=${folder:-$(mktemp -d)}
mkdir -p "$folder"
export sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)} seconds folder

tests_of() { # TOOL EXECUTABLE: its tests for this tool, one a line
  local but='*.Bench*'
  [ "$1" = initcheck ] && but+=':GpuTrainingTest.*:ConvGpuTest.*'
  "$2" --gtest_list_tests "--gtest_filter=$filter-$but" | awk '/^[^ ].*\./ {suite=$1} /^ / {print suite $1}'
}

check() { # TOOL EXECUTABLE TEST
  local log=$folder/$1.${3//\//-}.log only=(--kernel-name kns=slipstream) begin=$SECONDS
  [ "$1" = initcheck ] && only=(--kernel-name-exclude kns=nvjpeg)
  timeout -k 5 "$seconds" "$sanitizer" --tool "$1" "${only[@]}" "$2" --gtest_filter="$3" >"$log" 2>&1
  local rc=$? found
  found=$(grep -A1 -E '^=+ (Invalid|Uninitialized|Error: Race|Warning: Race|Program hit)' "$log" | grep -c 'slipstream::')
  [ $rc = 124 ] || [ $rc = 137 ] && { echo "$1 $3: out of time"; return; }
  grep -q '\[  PASSED  \] [01] test' "$log" || { echo "$1 $3: failed"; return; }
  grep -q 'errors were not printed' "$log" && { echo "$1 $3: more errors than it printed"; return; }
  [ "$found" = 0 ] && echo "$1 $3: clean ($((SECONDS - begin)) s)" || echo "$1 $3: $found errors"
}
export -f check

for tool in $tools; do
  for executable in "$@"; do
    for test in $(tests_of $tool "$executable"); do echo "$tool $executable $test"; done
  done
done | xargs -P "$jobs" -L 1 bash -c 'check "$@"' _ | tee "$folder/summary.txt"

for tool in $tools; do
  echo "$tool: $(grep -c "^$tool .*: clean" "$folder/summary.txt") of $(grep -c "^$tool " "$folder/summary.txt") tests clean"
done
! grep -v ': clean (.* s)$' "$folder/summary.txt"
