#!/usr/bin/env bash
# The tests of indexes in Weaviate. The server is built from its module once, and runs in a network namespace, as it opens ports on all
# interfaces. Where it cannot be built or there are no namespaces, the tests are skipped with the reason.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=v1.38.6
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath"

skip() { echo "skipped: the tests with Weaviate: $1"; exit; }

[ "$(id -u)" = 0 ] && command -v ip >/dev/null || skip 'network namespaces need root and the command ip'
bin="${XDG_CACHE_HOME:-$HOME/.cache}/ragctx/weaviate-$version"
[ -x "$bin/weaviate-server" ] || GOBIN=$bin go install "github.com/weaviate/weaviate/cmd/weaviate-server@$version" ||
  skip 'the server cannot be built'
go test -count=1 -run '^$' ./index/weaviate ./engine >/dev/null # compiles, which may need a network

space=ragctx-$$ data=$(mktemp -d) pid=
end() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  ip netns del "$space" 2>/dev/null || true
  rm -rf "$data"
}
trap end EXIT
ip netns add "$space" 2>/dev/null || skip 'a network namespace cannot be made'
ip -n "$space" link set lo up
ip netns exec "$space" env \
  AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true PERSISTENCE_DATA_PATH="$data" DEFAULT_VECTORIZER_MODULE=none ENABLE_MODULES= \
  DISABLE_TELEMETRY=true GO_PROFILING_DISABLE=true LOG_LEVEL=error CLUSTER_HOSTNAME=node CLUSTER_IN_LOCALHOST=true \
  CLUSTER_BIND_ADDR=127.0.0.1 CLUSTER_ADVERTISE_ADDR=127.0.0.1 CLUSTER_ADVERTISE_PORT=7100 CLUSTER_GOSSIP_BIND_PORT=7100 \
  CLUSTER_DATA_BIND_PORT=7101 RAFT_JOIN=node RAFT_BOOTSTRAP_EXPECT=1 \
  "$bin/weaviate-server" --scheme http --host 127.0.0.1 --port 8080 >"$data/log" 2>&1 &
pid=$!
here=(ip netns exec "$space" env RAGCTX_TEST_WEAVIATE=weaviate://127.0.0.1)
for _ in $(seq 60); do
  "${here[@]}" bash -c '</dev/tcp/127.0.0.1/8080' 2>/dev/null && ready=yes && break
  sleep 1
done
[ -n "${ready:-}" ] || { echo 'Weaviate does not start:'; tail -20 "$data/log"; exit 1; }
"${here[@]}" RAGCTX_TEST_WEAVIATE_PROGRAM="$bin/weaviate-server" go test -vet=off -count=1 -timeout 20m ./index/weaviate
"${here[@]}" go test -vet=off -count=1 -timeout 20m -run OnWeaviate ./engine
