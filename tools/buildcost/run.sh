#!/usr/bin/env bash
# What the program costs: bytes of its file, and bytes and CPU seconds of each module.
#
#   tools/buildcost/run.sh [ROWS]
#
# It builds ragctx with an empty build cache, which takes some three minutes of one processor.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath" GOCACHE=$scratch/cache

module='
function module(p, part) {
  split(p, part, "/")
  if (p == "main") return "github.com/ragctx/ragctx"
  if (part[1] !~ /\./) return "standard library"
  return part[1] == "github.com" ? part[1] "/" part[2] "/" part[3] : part[1] "/" part[2]
}'
top() { sort -rn | head -n "$1"; }
rows=${1:-15}

go build -debug-actiongraph="$scratch/actions.json" -o "$scratch/ragctx" ./cmd/ragctx
go build -ldflags='-s -w' -o "$scratch/release" ./cmd/ragctx
gzip -9 <"$scratch/release" >"$scratch/release.gz"
(cd "$scratch" && wc -c ragctx release release.gz | head -n 3)

printf '\nMB of code and data; types, strings and line tables belong to no module\n'
go tool nm -size "$scratch/ragctx" | awk "$module"'
  $3 !~ /[bB]/ && $4 !~ /^(type|go):|drbg\.memory$/ {
    name = $4
    sub(/\[.*/, "", name) # type arguments
    slash = match(name, /[^\/]*$/)
    last = substr(name, slash)
    sub(/\..*/, "", last)
    size[module(substr(name, 1, slash - 1) last)] += $2
  }
  END { for (m in size) printf "%.2f %s\n", size[m] / 1e6, m }' | top "$rows"

printf '\nCPU seconds of compiling and linking\n'
awk -F'": "?' "$module"'
  { sub(/"?,$/, "") }
  /^\t\t"Mode/ { mode = $2 }
  /^\t\t"Package/ { package = $2 }
  /^\t\t"Cmd(User|Sys)/ { spent[mode == "build" ? module(package) : "the linker"] += $2 }
  END { for (m in spent) { printf "%.1f %s\n", spent[m] / 1e9, m; all += spent[m] } printf "%.1f all\n", all / 1e9 }
' "$scratch/actions.json" | top "$rows"
