#!/usr/bin/env bash
# The tests with a Weaviate server (weaviate.sh), those with pgvector (pgvector.sh), and those of the store in PostgreSQL, which start
# servers of their own. Debian's package is installed where root and apt are there; elsewhere, without a server's programs, they are
# skipped with the reason.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset RAGCTX_NO_POSTGRES
tools/cluster/weaviate.sh
tools/cluster/pgvector.sh
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath"

found() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends postgresql) >/dev/null 2>&1 || true
fi
if ! found; then
  echo 'skipped: the tests with PostgreSQL: no server is installed, and it cannot be installed here (apt-get install postgresql, as root)'
  exit
fi
go test -vet=off -count=1 -timeout 20m ./internal/store/postgres
go test -vet=off -count=1 -p 1 -timeout 20m -run OnPostgres ./engine ./cmd/ragctx ./internal/imports
