#!/usr/bin/env bash
# The one check: everything that has to hold before a change is taken.
#
#   ./check.sh         go.mod, build, lint (vet too), tests with the race detector, the long
#                      random tests, short fuzzing, dead code
#   ./check.sh quick   go.mod, build, vet and plain tests, the long ones in part
#   ./check.sh console the console in a browser
#   ./check.sh clients the packages of clients/ against the program
#   ./check.sh cluster the store in PostgreSQL, the indexes in Weaviate and PostgreSQL
#
# FUZZTIME (default 2s) is how long each fuzz target runs. RAGCTX_EVAL_DATA
# points the tests that need evaluation data to it; without it they skip.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The step cluster alone starts PostgreSQL servers.
export RAGCTX_NO_POSTGRES=1

processors=$(getconf _NPROCESSORS_ONLN)

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# All that is built is built alike, so that nothing is compiled twice: as the program is
# released. The race detector alone needs cgo.
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath"

# Compilers and linters live for seconds: with fewer garbage collections compilers take a tenth and linters a quarter less of the
# processor's time, and more memory. Tests run with Go's defaults.
quickly() { GOGC=400 GOMEMLIMIT=3GiB "$@"; }
tests() { quickly go test -vet=off -exec 'env -u GOGC -u GOMEMLIMIT' "$@"; }

if [ "${1:-}" = clients ]; then
  tools/clients/run.sh
  exit
fi
if [ "${1:-}" = cluster ]; then
  tools/cluster/run.sh
  exit
fi

step tidy
go mod tidy -diff

step build
quickly go build ./...
quickly go build -o "$scratch/ragctx" ./cmd/ragctx

if [ "${1:-}" = console ]; then
  step 'the console in a browser'
  tools/console/run.sh
  exit 0
fi

if [ "${1:-}" = quick ]; then
  step vet
  quickly go vet ./...
  step test
  tests -short -shuffle=on ./...
  exit 0
fi

step lint
# "go tool" would compile the tools with other flags, and the standard library again for them.
quickly go build -modfile=tools/go.mod -o "$scratch/" github.com/golangci/golangci-lint/v2/cmd/golangci-lint golang.org/x/tools/cmd/deadcode
# Vet's analyzers are among the linters.
quickly "$scratch/golangci-lint" run ./...

# Tests of one thing after the other, for each byte of a file, each operation that may fail,
# thousands of random rows, or each labelled question: the race detector sees a part of them, and without it, in a
# tenth of the time, all of them run. These packages hardly have others.
long=(./index/... ./embed/minilm/... ./providers/docs ./providers/docs/extract/... ./session ./session/view ./internal/text/... ./internal/tokens ./bench/eval)
# In these packages some tests do so. partial prints the names of those that do less with -short: they ask for it,
# have random input, or call the suite of a contract, which has.
some=(./api ./engine ./cmd/ragctx)
partial() {
  awk '/^func / { name = $2; sub(/\(.*/, "", name) }
    /testing\.Short\(\)|rapid\.Check\(|[a-z]test\.Test\(/ {
      if (name !~ /^Test/) { print FILENAME ": only tests ask for -short, as check.sh runs them again by their names" >"/dev/stderr"; exit 1 }
      print name
    }' $(printf '%s/*_test.go ' "${some[@]}") | sort -u | paste -sd '|'
}

step size
# text/template calls methods by name, so the linker would keep those of all types (docs/decisions/build.md).
if go tool nm "$scratch/ragctx" | grep -F 'text/template.(*Template).Execute'; then
  echo 'the program links text/template; go build -ldflags=-dumpdep ./cmd/ragctx says through what'
  exit 1
fi

# Servers, browsers and clients wait much, so these steps run beside the tests. Each says why it is skipped where
# its programs are not installed; pip and npm install libraries once.
beside() {
  set +m
  step "the vendors' own types"
  # Random calls, checked by the clients of openai, anthropic and google-genai.
  tools/vendors/run.sh

  step 'the console in a browser, and beside it the clients in Python and TypeScript'
  # Chromium uses each page, and the packages of clients/ use the program.
  RAGCTX_BINARY=$scratch/ragctx tools/clients/run.sh >"$scratch/clients.log" 2>&1 &
  local clients=$! console=0
  tools/console/run.sh || console=$?
  wait "$clients" || { cat "$scratch/clients.log"; exit 1; }
  cat "$scratch/clients.log"
  [ "$console" = 0 ]

  step 'the clients of other APIs'
  # mem0ai, openai and cohere from PyPI and npm against the program.
  tools/compat/run.sh "$scratch/ragctx"

  step cluster
  # The store in PostgreSQL, the indexes in Weaviate and PostgreSQL.
  tools/cluster/run.sh
}
set -m # a group of its own, which can be ended as a whole
beside </dev/null >"$scratch/beside.log" 2>&1 &
beside=$!
set +m
trap 'kill -- "-$beside" 2>/dev/null || true; rm -rf "$scratch"' EXIT

step 'test, race detector on'
# -count=1: tests that run programs must not be answered from the cache. Each program
# with the race detector waits a second at its end by default, and there are hundreds.
# SQLite is C in the form of Go, a connection's own: without the detector inside it and its allocator
# tests take a tenth of the time, and all that uses it is watched as before. Nobody debugs these programs, and
# without debug information compiling takes a seventh less. More packages at a
# time than there are processors, as many tests wait for a disk or a clock.
unwatched=()
for package in modernc.org/sqlite/lib modernc.org/libc modernc.org/memory; do
  unwatched+=("-gcflags=$package=-race=false -dwarf=false")
done
race() {
  GORACE=atexit_sleep_ms=50 CGO_ENABLED=1 RAGCTX_PLAIN=$scratch/ragctx \
    tests -race -shuffle=on -count=1 -timeout 30m -p $((processors + 1)) \
    -gcflags=all=-dwarf=false "${unwatched[@]}" "$@"
}
race -short "${some[@]}" "${long[@]}"
race $(comm -23 <(go list ./... | sort) <(go list "${some[@]}" "${long[@]}" | sort))

step 'long tests, race detector off'
again=$(partial)
tests -shuffle=on -count=1 -timeout 30m "${long[@]}"
tests -count=1 -timeout 30m -run "^($again)\$" "${some[@]}"

step 'release files'
# The program for each platform, and the configuration of the releases.
quickly go test -vet=off -count=1 -run TestPlatforms . -platforms
if command -v goreleaser >/dev/null; then
  goreleaser check
else
  echo 'goreleaser check: skipped, as it is not installed (go install github.com/goreleaser/goreleaser/v2@v2.15.1, ten minutes)'
fi

step 'other modules'
# The laboratories beside the main module build, and their tests run.
for module in bench/lab bench/vector bench/peers; do
  (cd "$module" && go mod tidy -diff && quickly go vet ./... && tests -count=1 ./...)
done

step 'what ran beside the tests'
wait "$beside" || { cat "$scratch/beside.log"; exit 1; }
cat "$scratch/beside.log"

step fuzz
# Each target for a short time; what a longer run finds is committed as a seed. The targets
# of a package share a program, and as many packages as there are processors go at a time.
# Branches of this module and of the parsers it calls lead the fuzzer. All else is the code that the
# step build has compiled: it would be compiled again with counters, which every run has to compare.
parsers='archive/zip encoding/csv encoding/xml github.com/gabriel-vasile/mimetype/... github.com/yuin/goldmark/... golang.org/x/net/html/...'
counters=$(printf -- '-gcflags=%s=-d=libfuzzer ' "$(go list -m)/..." $parsers)
corpus=$(go env GOCACHE)/fuzz
fuzz() { "$1" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "${FUZZTIME:-2s}" -test.parallel 1 -test.fuzzcachedir "$corpus/$3" 2>&1; }
# Now and then Go's fuzzer takes the end of its time for a failure (golang/go#75804).
# It names no failing input then, and the target is given another try.
ended() { [[ $1 == *'context deadline exceeded'* && $1 != *'Failing input'* && $1 != *panic* ]]; }
instrumented() { quickly go test -c -vet=off -ldflags='-s -w' $counters -o "$1" "$2"; }
# fuzz_package DIR PATH fuzzes all targets of a package.
fuzz_package() {
  local targets program out
  cd "$1"
  targets=$({ grep -hoE '^func Fuzz[A-Za-z0-9_]+' ./*_test.go 2>/dev/null || true; } | sed 's/^func //')
  [ -n "$targets" ] || return 0
  program=$scratch/fuzz-${2//\//-}
  instrumented "$program" .
  for target in $targets; do
    if ! out=$(fuzz "$program" "$target" "$2") && ! { ended "$out" && out=$(fuzz "$program" "$target" "$2"); }; then
      printf '%s\n' "$out"
      return 1
    fi
    printf '%s  %s  %s\n' "$2" "$target" "${out##*$'\n'}"
  done
  rm "$program"
}
export scratch corpus counters FUZZTIME
export -f quickly fuzz ended instrumented fuzz_package
instrumented /dev/null ./api # what most packages have in common is compiled once
go list -f '{{.Dir}} {{.ImportPath}}' ./... | xargs -P "$processors" -L 1 bash -euo pipefail -c 'fuzz_package "$@"' fuzz

step 'dead code'
dead=$(quickly "$scratch/deadcode" -test ./...)
if [ -n "$dead" ]; then
  printf '%s\n' "$dead"
  exit 1
fi

printf '\nall checks passed after %d s\n' "$SECONDS"
