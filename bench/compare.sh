#!/usr/bin/env bash
# Compares the stage benchmarks of two commits with benchstat.
#
#   bench/compare.sh [BASE] [HEAD]      BASE defaults to HEAD~1, HEAD to the working tree
#
# COUNT (default 6, the least that benchstat can judge) and BENCH (default all)
# narrow the run. The commits are built first and then run in turns, so a machine
# whose speed drifts does not favour one of them.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-HEAD~1}
head=${2:-}
count=${COUNT:-6}
pattern=${BENCH:-.}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; git worktree prune' EXIT

build() { # build COMMIT NAME
  if [ -z "$1" ]; then
    (cd bench/lab && go test -c -o "$tmp/$2.test" .)
    return
  fi
  git worktree add --quiet --detach "$tmp/$2" "$1"
  (cd "$tmp/$2/bench/lab" && go test -c -o "$tmp/$2.test" .)
  git worktree remove --force "$tmp/$2"
}
build "$base" base
build "$head" head

for ((i = 0; i < count; i++)); do
  for side in base head; do
    (cd bench/lab && "$tmp/$side.test" -test.run '^$' -test.bench "$pattern" -test.benchmem) >>"$tmp/$side.txt"
  done
done
go tool -modfile=tools/go.mod benchstat "base=$tmp/base.txt" "head=$tmp/head.txt"
