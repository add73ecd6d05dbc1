#!/usr/bin/env bash
# The clients of clients/ against the real program: generated files are current, types hold, the packages build and install,
# and their tests and the programs of their READMEs run.
#
#   tools/clients/run.sh            check
#   tools/clients/run.sh generate   write the generated files
#
# It needs python3 with venv and pip, and PyPI the first time: libraries are installed into CLIENTS (ragctx-clients in the user's
# cache). Where they cannot be, that part is not run, and the reason is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/ragctx-clients}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

skip() {
  echo "skipped: $*"
  exit 0
}

command -v python3 >/dev/null || skip "python3 is not there"
venv=$cache/venv
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  python3 -m venv --clear "$venv" >/dev/null 2>&1 || skip "python3 cannot make a virtual environment (python3-venv)"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$here/requirements.txt" >/dev/null 2>"$cache/pip.log" ||
    skip "pip cannot install the libraries: $(tail -n 1 "$cache/pip.log")"
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi
PATH=$venv/bin:$PATH

if [ "${1:-}" = generate ]; then
  python "$here/generate.py"
  exit
fi
python "$here/generate.py" --check

if [ -z "${RAGCTX_BINARY:-}" ]; then
  (cd "$root" && go build -o "$work/ragctx" ./cmd/ragctx)
  export RAGCTX_BINARY=$work/ragctx
fi
export NO_PROXY='*' no_proxy='*'

# A copy is built and tested, so that nothing is written into the tree.
(cd "$root" && tar -cf - --exclude=__pycache__ --exclude=node_modules clients tools/clients api/testdata/openapi.json) | tar -xf - -C "$work"
cd "$work/clients/python"
python -m build --no-isolation --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
pip install -q --disable-pip-version-check --force-reinstall --no-deps "$work"/dist/*.whl
rm -r src # the installed package is tested
mypy --strict -p ragctx
mypy --strict tests "$work/tools/clients"
python -m pytest -q -p no:cacheprovider
