#!/usr/bin/env bash
# Compares ragctx with other systems and refreshes the tables in bench/README.md.
#
#   bench/peers/run.sh [--data DIR] [--sets A,B,…] [--only NAME,…] [--corpus PATH]… [--chunks N,…] [--questions N]
#
# --data DIR    judged collections, in the layout of "ragctx eval" (default $RAGCTX_EVAL_DATA)
# --sets        those that are used (default: the eight that ragctx ranks by; none: "")
# --only        systems (default all): ragctx, ragctx-rest, chroma, lancedb, lancedb-hnsw, sqlite,
#               chromem-go, bleve, weaviate
# --corpus      documents for speed: a folder or .tar.gz; may be repeated (default DIR/../trees/*.tar.gz)
# --chunks      how many chunks of them (default 20000,100000; none: "")
# --questions   the most questions of a collection, and sentences of the documents (default 300 and 1000)
# --keep        leave bench/README.md as it is; so do --only, --sets and --chunks
#
# WEAVIATE=FILE is the program of Weaviate's server, see README.md. PYTHON is the Python to use (3.10 or
# newer, default python3). Everything is made below bench/peers/data, or OUT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/data}
data=${RAGCTX_EVAL_DATA:-}
sets=locomo,beam128k,scifact,cranfield,cisi,claudedocs,cosqa,xquad
chunks=20000,100000
questions= only= keep= corpus=()
while [ $# -gt 0 ]; do
  case $1 in
    --data) data=$2; shift ;;
    --sets) sets=$2 keep=1; shift ;;
    --only) only=$2 keep=1; shift ;;
    --corpus) corpus+=("$2"); shift ;;
    --chunks) chunks=$2 keep=1; shift ;;
    --questions) questions=$2; shift ;;
    --keep) keep=1 ;;
    *) echo "run.sh: $1 is unknown; see the top of the file" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$data" ]; then
  echo "run.sh: needs --data DIR or RAGCTX_EVAL_DATA, judged collections" >&2
  exit 2
fi
[ ${#corpus[@]} -gt 0 ] || corpus=("$data"/../trees/*.tar.gz)

mkdir -p "$out/sets"
if ! cmp -s "$here/requirements.txt" "$out/venv/requirements.txt"; then
  rm -rf "$out/venv"
  "${PYTHON:-python3}" -m venv "$out/venv"
  "$out/venv/bin/pip" install -q -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$out/venv/"
fi
"$out/venv/bin/python" -B "$here/test_peers.py"
(cd "$here" && go build -o "$out/peers" .)
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$out/ragctx" ./cmd/ragctx)
export RAGCTX="$out/ragctx"
RAGCTX_COMMIT=$(git -C "$here" describe --always --dirty 2>/dev/null || true)
export RAGCTX_COMMIT

measured=()
for n in ${chunks//,/ }; do
  "$out/peers" corpus "$out/sets/corpus$n" -n "$n" -queries "${questions:-1000}" "${corpus[@]}"
  measured+=("$out/sets/corpus$n")
done
for s in ${sets//,/ }; do
  "$out/peers" judged "$data/$s" "$out/sets/$s" -questions "${questions:-300}"
  measured+=("$out/sets/$s")
done

"$out/venv/bin/python" -B "$here/measure.py" --only "$only" "$out" "${measured[@]}"
refresh=("$here/../README.md")
[ -z "$keep" ] || refresh=()
"$out/venv/bin/python" -B "$here/table.py" "$out/report.json" "${refresh[@]}"
