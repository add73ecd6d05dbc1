#!/usr/bin/env bash
# The console in a real browser: Chromium, driven by playwright-core, uses every page against a real
# server with real data, and axe-core looks for barriers.
#
#   tools/console/run.sh [PAGE...]
#
# PAGE is a file of tools/console/pages without its ending, such as playground; all of them by
# default. It needs chromium and node, and the npm registry the first time: the packages are
# installed into NODE (ragctx-console in the user's cache). A program of continuous integration
# (CI=true) that is root installs chromium with apt. Where something is missing, nothing is run, and
# the reason is printed. PICTURES=DIR writes the screenshots of the docs there, and GALLERY=DIR one of
# each page that is checked, in both colours and all widths. TREE=DIR is a folder of real documents for
# a test of its own, such as the documentation of Kubernetes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "skipped: $*"
  exit 0
}

if ! command -v chromium >/dev/null && [ "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 || true
fi
command -v chromium >/dev/null || skip "chromium is not there (apt-get install chromium)"
command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not there"
node=${NODE:-${XDG_CACHE_HOME:-$HOME/.cache}/ragctx-console}
if ! cmp -s "$here/package.json" "$node/package.json"; then
  mkdir -p "$node"
  cp "$here/package.json" "$node/wanted.json"
  (cd "$node" && cp wanted.json package.json && npm install --silent --no-audit --no-fund >npm.log 2>&1) || {
    rm -f "$node/package.json"
    skip "npm cannot install playwright-core and axe-core: $(tail -n 1 "$node/npm.log")"
  }
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/ragctx" ./cmd/ragctx)
MODULES=$node/node_modules WORK=$work RAGCTX=$work/ragctx node "$here/run.mjs" "$@"
