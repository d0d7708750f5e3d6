#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `smile init` and a short run make of tables, one line a table: whether the file that was written passes the check
# and runs as it is, and what came out of it.
#   scripts/first_results.sh build/release/bin/smile data/uci/*.data tests/data/awkward/*
set -uo pipefail
smile=$(realpath "${1:?the program}")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Short, so that all tables take minutes: the settings are given beside the file, which stays as it was written.
short=(--set training.sampler.n_chains=2 --set training.sampler.warmup_steps=1000 --set training.sampler.n_samples=2000
       --set training.warmstart.max_epochs=100 --no-report --quiet)
number=0 good=0
for table in "$@"; do
  number=$((number + 1))
  table=$(realpath "$table") name=$(basename "$table") file=$work/$number.yaml run=$work/run-$number
  if ! told=$("$smile" init "$table" --out "$file" 2>&1); then
    echo "$name: no configuration: $told"
    continue
  fi
  before=$(sha256sum "$file")
  if ! told=$("$smile" check "$file" 2>&1 >"$work/checked"); then
    echo "$name: REFUSED by check: $told"
    continue
  fi
  [ -z "$told" ] || echo "$name: remarks of check: $told"
  if ! told=$("$smile" run "$file" --out "$run" "${short[@]}" 2>&1); then
    echo "$name: FAILED: $told"
    continue
  fi
  [ "$before" = "$(sha256sum "$file")" ] || echo "$name: the file CHANGED"
  task=$(sed -n 's/^  task: \([a-z_]*\).*/\1/p' "$file")
  scores=$("$smile" predict "$run" --data "$table" --out "$work/predictions.csv" 2>/dev/null | head -n -1 | paste -sd' ')
  test=$(sed -n '/^LPPD  \|^RMSE  \|^accuracy  /p' <<<"$told" | tr -s ' ' | paste -sd';')
  echo "$name: $task, $(sed -n 's/^# data: //p' "$work/checked"); test rows (ensemble, sampling): $test; all rows: $scores"
  good=$((good + 1))
done
echo "$good of $# tables gave a result with the file as it was written"
