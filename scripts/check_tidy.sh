#!/usr/bin/env bash
# scripts/check_tidy.sh [SOURCE...]: what clang-tidy 14 says, by .clang-tidy, of these sources or of all that the cpu
# preset compiles (half an hour on 2 cores), after a build of it. Ends with 1 if that is anything.
set -uo pipefail
cd "$(dirname "$0")/.."
database=build/cpu/compile_commands.json
[ -e "$database" ] || { echo "check_tidy.sh: build the cpu preset first: scripts/build.sh cpu" >&2; exit 2; }
if [ $# = 0 ]; then
  mapfile -t files < <(python3 -c '
import json, sys
print(*sorted({entry["file"] for entry in json.load(open(sys.argv[1])) if "/build/cpu/" not in entry["file"]}), sep="\n")
' "$database")
  set -- "${files[@]}"
fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 clang-tidy -p build/cpu --quiet 2> >(grep -v 'warnings generated' >&2)
