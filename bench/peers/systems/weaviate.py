import http.client
import json
import os
import socket
import subprocess
import time
import uuid

from peer import Peer


class Weaviate(Peer):
    """Weaviate's server, the program that the environment calls WEAVIATE, asked over HTTP
    with vectors that are made elsewhere. Hybrid is as it comes: relativeScoreFusion."""

    modes = ["keyword", "vector", "hybrid"]
    setup = "server, asked by GraphQL; its HNSW with cosine, BM25, `hybrid` by its defaults; scope by `where`; client in Python, its CPU time not counted"

    def version(self):
        out = subprocess.run(["go", "version", "-m", os.environ["WEAVIATE"]], capture_output=True, text=True).stdout
        return next((x.split()[2].lstrip("v") for x in out.splitlines() if "github.com/weaviate/weaviate\t" in x), "")

    def open(self, store):
        ports = free_ports(6)
        names = "GRPC_PORT", "CLUSTER_GOSSIP_BIND_PORT", "CLUSTER_DATA_BIND_PORT", "RAFT_PORT", "RAFT_INTERNAL_RPC_PORT"
        env = os.environ | dict(zip(names, map(str, ports[1:])))
        env |= {
            "PERSISTENCE_DATA_PATH": os.path.join(store, "weaviate"),
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
            "DEFAULT_VECTORIZER_MODULE": "none",
            "DISABLE_TELEMETRY": "true",
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "RAFT_JOIN": f"node1:{ports[4]}",
            "LOG_LEVEL": "error",
        }
        argv = [os.environ["WEAVIATE"], "--host", "127.0.0.1", "--port", str(ports[0]), "--scheme", "http"]
        self.server = subprocess.Popen(argv, env=env, stdout=2)
        self.pid = self.server.pid
        self.http = http.client.HTTPConnection("127.0.0.1", ports[0])
        while self.server.poll() is None:
            try:
                if self.ask("GET", "/v1/.well-known/ready", ok=(200, 503))[0] == 200:
                    return
            except OSError:
                self.http.close()
            time.sleep(0.02)
        raise RuntimeError("the server did not start")

    def ask(self, method, path, body=None, ok=(200,)):
        headers = {"Content-Type": "application/json"} if body else {}
        self.http.request(method, path, json.dumps(body) if body else None, headers)
        r = self.http.getresponse()
        text = r.read()
        if r.status not in ok:
            raise RuntimeError(f"{method} {path}: {r.status} {text[:500]}")
        return r.status, json.loads(text) if text else None

    def ingest(self, data):
        properties = [
            {"name": "number", "dataType": ["int"], "indexFilterable": False},
            {"name": "scope", "dataType": ["text"], "tokenization": "field", "indexSearchable": False},
            {"name": "text", "dataType": ["text"], "indexFilterable": False},
        ]
        index = {"distance": "cosine", "skipDefaultQuantization": True}  # none is its default
        about = {"class": "Chunk", "vectorizer": "none", "properties": properties, "vectorIndexConfig": index}
        self.ask("POST", "/v1/schema", about)
        for first, chunks, vectors in data.batches(500):
            objects = [
                {
                    "class": "Chunk",
                    "id": str(uuid.UUID(int=first + i + 1)),
                    "properties": {"number": first + i, "scope": c.get("scope", ""), "text": c["text"]},
                    "vector": v.tolist(),
                }
                for i, (c, v) in enumerate(zip(chunks, vectors))
            ]
            for o in self.ask("POST", "/v1/batch/objects", {"objects": objects})[1]:
                if o["result"].get("errors"):
                    raise RuntimeError(f"ingest: {o['result']['errors']}")

    def search(self, mode, k, text, vector, scope):
        if vector is None:
            if mode == "vector":
                return []
            mode = "keyword"
        words = json.dumps(text)
        if mode == "keyword":
            how = f'bm25: {{query: {words}, properties: ["text"]}}'
        elif mode == "vector":
            how = f"nearVector: {{vector: {json.dumps(vector.tolist())}}}"
        else:
            how = f'hybrid: {{query: {words}, vector: {json.dumps(vector.tolist())}, properties: ["text"]}}'
        if scope:
            how += f', where: {{path: ["scope"], operator: Equal, valueText: {json.dumps(scope)}}}'
        q = f"{{Get {{Chunk(limit: {k}, {how}) {{number text}}}}}}"
        answer = self.ask("POST", "/v1/graphql", {"query": q})[1]
        if answer.get("errors"):
            raise RuntimeError(answer["errors"][0]["message"])
        return [int(c["number"]) for c in answer["data"]["Get"]["Chunk"]]

    def close(self):
        if self.pid != os.getpid():
            self.http.close()
            self.server.terminate()
            self.server.wait()


def free_ports(n):
    """Ports that were free a moment ago: the server takes no port 0."""
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports
