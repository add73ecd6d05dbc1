#!/usr/bin/env bash
# The clients of clients/ against the real program: generated files are current, types hold, the packages build and install,
# and their tests and the programs of their READMEs run.
#
#   tools/clients/run.sh            check
#   tools/clients/run.sh generate   write the generated files
#
# It needs python3 with venv and pip, node and npm, and the registries the first time: libraries are installed into CLIENTS
# (ragctx-clients in the user's cache). What cannot be installed is not run, and the reason is printed;
# generate fails.
set -euo pipefail
task=${1:-}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/ragctx-clients}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

skip() {
  if [ "$task" = generate ]; then
    echo "nothing is generated: $*" >&2
    exit 1
  fi
  echo "skipped: $*"
  exit 0
}

# installed FILE FOLDER COMMAND... says whether what FILE names is in FOLDER, or has the command install it there.
installed() {
  local file=$1 folder=$2
  shift 2
  cmp -s "$file" "$folder/installed" && return
  rm -rf "$folder" && mkdir -p "$folder"
  (cd "$folder" && "$@") >"$cache/install.log" 2>&1 && cp "$file" "$folder/installed"
}

command -v python3 >/dev/null || skip "python3 is not there"
venv=$cache/venv
packages() { python3 -m venv . && bin/python -m pip install -q --disable-pip-version-check -r "$here/requirements.txt"; }
installed "$here/requirements.txt" "$venv" packages || skip "pip cannot install the libraries: $(tail -n 1 "$cache/install.log")"
PATH=$venv/bin:$PATH

node=
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo 'the TypeScript client: skipped, as node and npm are not there'
else
  modules() { cp "$here/package.json" . && npm install --no-audit --no-fund --no-package-lock; }
  if installed "$here/package.json" "$cache/node" modules; then
    node=$cache/node/node_modules
    PATH=$PATH:$node/.bin
    export TSNODE=$cache/node
  else
    echo "the TypeScript client: skipped, as npm cannot install the libraries: $(tail -n 1 "$cache/install.log")"
  fi
fi

if [ "$task" = generate ]; then
  python "$here/generate.py"
  exit
fi
python "$here/generate.py" --check

if [ -z "${RAGCTX_BINARY:-}" ]; then
  (cd "$root" && go build -o "$work/ragctx" ./cmd/ragctx)
  export RAGCTX_BINARY=$work/ragctx
fi

# A model server for the programs, whose address the clients of OpenAI and Anthropic read from the environment.
python "$here/model.py" >"$work/model" &
model=$!
trap 'kill "$model"; rm -rf "$work"' EXIT
until [ -s "$work/model" ]; do sleep 0.1; done
ANTHROPIC_BASE_URL=$(cat "$work/model")
export ANTHROPIC_BASE_URL ANTHROPIC_API_KEY=test OPENAI_BASE_URL=$ANTHROPIC_BASE_URL/v1 OPENAI_API_KEY=test NO_PROXY='*' no_proxy='*'

# Copies are built and tested, so that nothing is written into the tree.
(cd "$root" && tar -cf - --exclude=__pycache__ --exclude=node_modules clients tools/clients api/testdata/openapi.json) | tar -xf - -C "$work"

echo 'Python'
cd "$work/clients/python"
python -m build --no-isolation --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
pip install -q --disable-pip-version-check --force-reinstall --no-deps "$work"/dist/*.whl
rm -r src # the installed package is tested
python "$here/programs.py" README.md python py programs
types() { mypy --strict --cache-dir "$cache/mypy" "$@"; }
types -p ragctx
types tests "$work/tools/clients"
types --scripts-are-modules programs/*.py
python -m pytest -q -p no:cacheprovider

[ -n "$node" ] || exit 0
echo 'TypeScript'
cd "$work/clients/typescript"
ln -s "$node" node_modules
npm run --silent build
npm pack --silent --pack-destination "$work" >/dev/null

# A project that has installed the package uses it: by types, in Node.js, and bundled for browsers.
mkdir "$work/project"
cd "$work/project"
cp -R "$work"/clients/typescript/{README.md,test,tsconfig.json,tsconfig.test.json} .
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --offline "$work"/ragctx-*.tgz
for module in "$node"/*; do [ -e "node_modules/${module##*/}" ] || ln -s "$module" node_modules/; done
python "$here/programs.py" README.md typescript ts programs
tsc -p tsconfig.test.json
node --test --test-timeout=120000 --test-reporter=dot out/test/
echo 'const { Ragctx } = require("ragctx"); Ragctx.local().then((ragctx) => ragctx.close());' >required.cjs
node required.cjs
echo 'import { Ragctx } from "ragctx"; globalThis.ragctx = new Ragctx();' | esbuild --bundle --platform=browser --log-level=warning >bundle.js
if grep -n 'node:' bundle.js; then
  echo 'the bundle for browsers needs modules of Node.js'
  exit 1
fi
for runtime in 'deno run --allow-all' 'bun run'; do
  $runtime out/programs/1.js | diff - programs/1.txt
  echo "${runtime%% *} runs the first program"
done
