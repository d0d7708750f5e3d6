#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzers of tests/fuzz with Clang and runs each for a while, from inputs made of the tests' files. Prints the
# executions of each and fails where one finds something: the input lies in build/fuzz/findings then, and becomes a test.
#
#   scripts/fuzz.sh [SECONDS] [NAME…]     a minute each, all of them; JOBS=$(nproc) at a time
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
jobs=${JOBS:-$(nproc)}
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || { echo "error: $seconds: is no number of seconds; give a whole number from 1" >&2; exit 2; }
shift || true
command -v clang++ >/dev/null || { echo "error: clang++: is not installed; run ./scripts/install_dependencies.sh --fuzz" >&2; exit 2; }

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" | tail -n 1
build=build/fuzz
rm -rf "$build/findings" "$build/logs"
mkdir -p "$build/findings" "$build/logs" "$build/corpus"
python3 scripts/fuzz_corpus.py "$build/bin/smile" "$build/corpus"

names=("$@")
[ ${#names[@]} -gt 0 ] || for target in "$build"/tests/fuzz/fuzz_*; do [ -x "$target" ] && [ -f "$target" ] && names+=("${target##*/fuzz_}"); done
fuzz() {
  "$build/tests/fuzz/fuzz_$1" "$build/corpus/$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -artifact_prefix="$build/findings/$1-" -print_final_stats=1 >"$build/logs/$1" 2>&1
}
export -f fuzz
export build seconds
status=0
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz {} || touch "$build/findings/{}.failed"' || true
for name in "${names[@]}"; do
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/logs/$name")
  if [ -e "$build/findings/$name.failed" ]; then
    status=1
    echo "$name: FOUND something after ${executions:-?} executions: $(grep -m1 -E 'ERROR|SUMMARY|runtime error' "$build/logs/$name" || true); see $build/logs/$name and $build/findings"
  else
    echo "$name: ${executions:-?} executions in $seconds s, nothing found"
  fi
done
exit $status
