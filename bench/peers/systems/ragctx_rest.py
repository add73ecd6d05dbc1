import http.client
import json
import os
import re
import subprocess
import time
from urllib.parse import quote

from peer import Peer


class Rest(Peer):
    """ragctx as a server of its own, asked over HTTP. It is given documents, as ragctx in
    process is; its answers are passages of the texts, made of neighbouring chunks."""

    modes = ["hybrid"]
    setup = "`ragctx serve`; `/v1/documents:bulk`, `/v1/search`; a namespace for each scope; client in Python, its CPU time not counted"

    def version(self):
        return ""

    def ingest(self, data):
        scopes = {}
        for d in data.lines("docs.jsonl"):
            scopes.setdefault(d.get("scope", ""), []).append(d)
        made = 0
        for scope, docs in scopes.items():
            body = "\n".join(json.dumps({"id": d["id"], "title": d.get("title", ""), "text": d["text"]}) for d in docs)
            job = self.ask("POST", f"/v1/documents:bulk?wait=5m&namespace={quote(scope)}", body, "application/x-ndjson")
            while job["state"] in ("queued", "running"):
                time.sleep(0.05)
                job = self.ask("GET", "/v1/jobs/" + job["id"])
            if job["state"] != "done" or job["counts"]["failed"]:
                raise RuntimeError(f"ingest: {job}")
            made += job["chunks"]
        if made != data.info["chunks"]:
            raise RuntimeError(f"ragctx made {made} chunks, the others are given {data.info['chunks']}")
        while any(i["waiting"] for i in self.ask("GET", "/v1/indexes")["indexes"]):
            time.sleep(0.02)

    def open(self, store):
        argv = [os.environ["RAGCTX"], "serve", "--addr", "127.0.0.1:0", "--log-level", "warn", "--data", os.path.join(store, "data")]
        self.server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.pid = self.server.pid
        for line in self.server.stdout:
            if at := re.search(r"127\.0\.0\.1:\d+", line):
                self.http = http.client.HTTPConnection(at.group())
                return
        raise RuntimeError("ragctx serve did not start")

    def ask(self, method, path, body=None, kind="application/json"):
        self.http.request(method, path, body and body.encode(), {"Content-Type": kind} if body else {})
        r = self.http.getresponse()
        answer = json.loads(r.read())
        if r.status >= 300:
            raise RuntimeError(f"{method} {path}: {r.status} {answer}")
        return answer

    def search(self, mode, k, text, vector, scope):
        q = {"query": text, "max_results": k, "context_types": ["resource"]}
        if scope:
            q["namespace"] = scope
        while (answer := self.ask("POST", "/v1/search", json.dumps(q)))["degraded"]:
            time.sleep(0.01)  # after a start, a leg may not have everything yet
        return [place(i["id"]) for i in answer["items"]]

    def close(self):
        if self.pid == os.getpid():
            return
        self.http.close()
        self.server.terminate()
        self.server.wait()


def place(item):
    """document@version#ordinal -> [document, ordinal]; the document may hold either sign."""
    rest, ordinal = item.rsplit("#", 1)
    return [rest.rsplit("@", 1)[0], int(ordinal)]
