#!/usr/bin/env bash
# Compares the vector index with hnswlib, coder/hnsw and chromem-go.
#
#   HNSWLIB=DIR bench/vector/run.sh [SET.fvecs...]
#
# HNSWLIB        a folder with hnswlib/hnswlib.h; without it, there is nothing to compare with
# RAGCTX_EVAL_DATA  a folder with dev/ and trees/, whose texts are embedded with the built-in table
# SET.fvecs      unit vectors of your own, with SET.queries.fvecs beside them
# DATA           where vectors and reports are kept, bench/vector/data by default
# ARGS           further arguments of "vector compare", such as "-rounds 3 -builds 1"
# MILLION=1      also fill and open a leg of a million vectors: 2 GB of disk, some minutes
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=${DATA:-$here/data}
mkdir -p "$data"

(cd "$here" && go build -o "$data/vector" .)
args=(-o "$data/report")
if [ -n "${HNSWLIB:-}" ]; then
  "${CXX:-c++}" -O3 -march=native -std=c++17 -pthread -w -I "$HNSWLIB" "$here/hnswlib/driver.cpp" -o "$data/hnswlib"
  args+=(-hnswlib "$data/hnswlib")
fi
if [ -n "${MILLION:-}" ]; then
  args+=(-million "$data/million")
fi

# The set that is measured beside inserts comes last.
sets=("$@")
if [ -n "${RAGCTX_EVAL_DATA:-}" ]; then
  [ -e "$data/table.fvecs" ] || "$data/vector" data texts "$data/table" -n 200000 -from "$RAGCTX_EVAL_DATA"
  sets+=("$data/table.fvecs")
fi
[ -e "$data/clustered.fvecs" ] || "$data/vector" data clustered "$data/clustered"
sets+=("$data/clustered.fvecs")

# shellcheck disable=SC2086 # words
"$data/vector" compare "${args[@]}" ${ARGS:-} "${sets[@]}"
cat "$data/report.md"
