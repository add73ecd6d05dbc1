#!/usr/bin/env bash
# Schemathesis against a real server: requests made from /openapi.json, whose answers must
# keep it. No answer may be a 5xx.
#
#   tools/contract/run.sh [SECONDS] [ARGUMENTS OF schemathesis run ...]
#
# SECONDS (60) is how long it goes on; 1200 is a long run. It needs Schemathesis 4 as
# $SCHEMATHESIS or in PATH: python3 -m venv V && V/bin/pip install 'schemathesis>=4.32,<5'.
# Without it nothing is run, and that is said.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-60}
shift || true

st=${SCHEMATHESIS:-schemathesis}
if ! command -v "$st" >/dev/null; then
  echo "skipped: $st is not there; python3 -m venv V && V/bin/pip install 'schemathesis>=4.32,<5', and SCHEMATHESIS=V/bin/schemathesis"
  exit 0
fi

work=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || { kill "$server" && wait "$server" || true; } 2>/dev/null
  rm -rf "$work"
}
trap end EXIT

(cd "$here/../.." && go build -o "$work/ragctx" ./cmd/ragctx)
# The server asks for a key, so that what answers without one is found.
made=$("$work/ragctx" keys create contract --data "$work/data" --role admin --json)
key=$(grep -o 'rgx_[^"]*_[^"]*' <<<"$made")
id=$(grep -om1 '"id": *"[^"]*"' <<<"$made" | cut -d'"' -f4)
"$work/ragctx" serve --addr 127.0.0.1:0 --data "$work/data" >"$work/out" 2>"$work/log" &
server=$!
url=
for _ in $(seq 100); do
  url=$(grep -om1 'http://[0-9.:]*' "$work/out" "$work/log" -h || true)
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { cat "$work/log"; exit 1; }

cd "$work" # reports and examples of the run are not kept
CONTRACT_URL=$url CONTRACT_KEY=$key CONTRACT_KEY_ID=$id SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$here "$st" --config-file "$here/schemathesis.toml" run "$url/openapi.json" \
  --header "Authorization: Bearer $key" --max-time "$seconds" --request-timeout 30 --max-examples 25 --continue-on-failure --no-color "$@"
if grep -q 'request panicked\|request failed' "$work/log"; then
  grep 'request panicked\|request failed' "$work/log"
  exit 1
fi
