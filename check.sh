#!/usr/bin/env bash
# The one check: everything that has to hold before a change is taken.
#
#   ./check.sh         go.mod, build, vet, lint, tests with the race detector, the long
#                      random tests, short fuzzing, dead code
#   ./check.sh quick   go.mod, build, vet and plain tests
#
# FUZZTIME (default 2s) is how long each fuzz target runs. RAGCTX_EVAL_DATA
# points the tests that need evaluation data to it; without it they skip.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

step tidy
go mod tidy -diff

step build
go build ./...
CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/ragctx

step vet
go vet ./...

if [ "${1:-}" = quick ]; then
  step test
  go test -shuffle=on ./...
  exit 0
fi

step lint
go tool -modfile=tools/go.mod golangci-lint run ./...

step 'test, race detector on'
# -count=1: tests that run programs must not be answered from the cache. Each program
# with the race detector waits a second at its end by default, and there are hundreds.
# SQLite is C in the form of Go, a connection's own: without the detector inside it tests
# take a tenth of the time, and all that uses it is watched as before.
GORACE=atexit_sleep_ms=50 go test -race -shuffle=on -count=1 -timeout 30m \
  -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false ./...

step 'random operations and kills'
# Without the race detector, which cuts them short.
go test -count=1 -run 'TestModel$|TestKill$' ./engine ./cmd/ragctx

step fuzz
# Each target for a short time; what a longer run finds is committed as a seed.
fuzz() { (cd "$1" && go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-2s}" . 2>&1); }
# Now and then Go's fuzzer takes the end of its time for a failure (golang/go#75804).
# It names no failing input then, and the target is given another try.
ended() { [[ $1 == *'context deadline exceeded'* && $1 != *'Failing input'* && $1 != *panic* ]]; }
go list -f '{{.Dir}}' ./... | while read -r dir; do
  { grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null || true; } | sed 's/^func //' | while read -r target; do
    if ! out=$(fuzz "$dir" "$target") && ! { ended "$out" && out=$(fuzz "$dir" "$target"); }; then
      printf '%s\n' "$out"
      exit 1
    fi
    printf '%s  %s\n' "$target" "${out##*$'\n'}"
  done
done

step 'dead code'
dead=$(go tool -modfile=tools/go.mod deadcode -test ./...)
if [ -n "$dead" ]; then
  printf '%s\n' "$dead"
  exit 1
fi

printf '\nall checks passed\n'
