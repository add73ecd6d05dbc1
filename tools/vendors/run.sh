#!/usr/bin/env bash
# The types of the vendors' own clients (openai, anthropic, google-genai from PyPI) check what
# a model is sent for random conversations in their forms.
#
#   tools/vendors/run.sh [NUMBER]
#
# NUMBER (150) is how many conversations there are of each form; 5000 is a long run. It needs
# python3 with venv and pip, and PyPI the first time: the clients are installed into VENV
# (ragctx-vendors in the user's cache). Where they cannot be, nothing is run, and that is said.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
number=${1:-150}

skip() {
  echo "skipped: $*"
  exit 0
}

command -v python3 >/dev/null || skip "python3 is not there"
venv=${VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/ragctx-vendors}
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 cannot make a virtual environment (python3-venv)"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$here/requirements.txt" >/dev/null 2>"$venv/pip.log" ||
    skip "pip cannot install the vendors' clients: $(tail -n 1 "$venv/pip.log")"
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go test ./api -run '^TestVendorCalls$' -count=1 -timeout 2h -rapid.checks "$number" -rapid.nofailfile -vendor-calls "$work/calls.jsonl")
"$venv/bin/python" "$here/check.py" "$work/calls.jsonl"
