#!/usr/bin/env bash
# The real clients of other APIs (mem0ai, openai and cohere from PyPI and npm) run against the real program.
#
#   tools/compat/run.sh [PROGRAM]
#
# PROGRAM is ragctx; without it, the program is built. It needs python3 with venv and pip, and node with npm,
# and PyPI and npm the first time: the clients are installed into CLIENTS (ragctx-compat in the user's
# cache). Where something is missing, its clients are not run, and that is said.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/ragctx-compat}
mkdir -p "$cache"
work=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# python installs the pinned clients. mem0ai is installed once for each version, beside what all of them need.
python() {
  command -v python3 >/dev/null || { echo "skipped: python3 is not there"; return 1; }
  cmp -s "$here/requirements.txt" "$cache/requirements.txt" && return
  python3 -m venv "$cache/venv" >/dev/null 2>&1 || { echo "skipped: python3 cannot make a virtual environment (python3-venv)"; return 1; }
  pip() { "$cache/venv/bin/python" -m pip install -q --disable-pip-version-check "$@" >/dev/null 2>"$cache/pip.log"; }
  { grep -v '^mem0ai' "$here/requirements.txt" >"$cache/common.txt" && pip -r "$cache/common.txt" &&
    grep '^mem0ai' "$here/requirements.txt" | while read -r mem0; do pip --no-deps --upgrade --target "$cache/${mem0#mem0ai==}" "$mem0"; done; } ||
    { echo "skipped: pip cannot install the clients: $(tail -n 1 "$cache/pip.log")"; return 1; }
  cp "$here/requirements.txt" "$cache/requirements.txt"
}

node_clients() {
  command -v npm >/dev/null || { echo "skipped: npm is not there"; return 1; }
  mkdir -p "$cache/node"
  cmp -s "$here/package.json" "$cache/node/package.json" && return
  cp "$here/package.json" "$cache/node/package.json.new"
  (cd "$cache/node" && mv package.json.new package.json && npm install --ignore-scripts --legacy-peer-deps --no-audit --no-fund >/dev/null 2>npm.log) ||
    { rm -f "$cache/node/package.json"; echo "skipped: npm cannot install the clients: $(tail -n 1 "$cache/node/npm.log")"; return 1; }
}

program=${1:-}
if [ -z "$program" ]; then
  program=$work/ragctx
  (cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -o "$program" ./cmd/ragctx)
fi
"$program" serve --data "$work/data" --addr 127.0.0.1:0 >"$work/log" 2>&1 &
server=$!
url=
for _ in $(seq 100); do
  url=$(grep -oE 'http://127.0.0.1:[0-9]+' "$work/log" | head -n 1) && [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log"; exit 1; }
  sleep 0.1
done

export MEM0_TELEMETRY=false MEM0_DIR="$work/mem0"
if python; then
  for version in $(grep '^mem0ai' "$here/requirements.txt" | sed 's/.*==//'); do
    PYTHONPATH="$cache/$version" "$cache/venv/bin/python" "$here/mem0_client.py" "$version" "$url/mem0"
  done
  "$cache/venv/bin/python" "$here/openai_client.py" "$url"
  "$cache/venv/bin/python" "$here/cohere_client.py" "$url"
fi
if node_clients; then
  cp "$here"/*.mjs "$cache/node"
  for program in mem0 openai cohere; do
    (cd "$cache/node" && node "${program}_client.mjs" "$url")
  done
fi
