#!/usr/bin/env python3
"""The same load of questions on 1 and on 3 ragctx nodes that share a database: questions a second, and CPU per question.

    tools/cluster/scale.py --ragctx BINARY --set DIR [--store postgres://…] [--index postgres://…] [--nodes 1,3] [--seconds 30]

DIR has corpus.jsonl and queries.jsonl in the layout of BEIR. The database must be empty or have this set; without --store it is a file. As many clients as --clients ask
one question after another, each at its own node, without the answer cache. CPU is that of the ragctx processes alone, user and system,
from /proc: where all processes share few cores, questions a second say little, and the CPU says what a node costs.
"""

import argparse
import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

KEY = "rgx_00000000_" + 43 * "A"
FIRST_PORT = 7810


def ask(conn, method, path, body, kind="application/json"):
    conn.request(method, path, body, {"Content-Type": kind, "Authorization": "Bearer " + KEY})
    answer = conn.getresponse()
    return answer.status, json.loads(answer.read() or "null")


def connect(node):
    return http.client.HTTPConnection("127.0.0.1", FIRST_PORT + node, timeout=600)


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def cpu(process):
    """Returns the seconds that a process has computed."""
    with open(f"/proc/{process.pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(options, node, directory):
    command = [options.ragctx, "serve", "--addr", f"127.0.0.1:{FIRST_PORT + node}", "--data", f"{directory}/{node}",
               *(["--store", options.store] if options.store else []), *(["--index", options.index] if options.index else [])]
    log = open(f"{directory}/{node}.log", "w")
    process = subprocess.Popen(command, env={**os.environ, "RAGCTX_FIRST_KEY": KEY, "RAGCTX_ANSWER_CACHE": "0"}, stdout=log, stderr=log)
    for _ in range(300):
        time.sleep(0.2)
        try:
            if ask(connect(node), "GET", "/v1/status", None)[0] == 200:
                return process
        except OSError:
            if process.poll() is not None:
                break
    process.kill()
    with open(log.name) as f:
        sys.exit(f"node {node} does not answer: {f.read()[-2000:]}")


def measure(options, nodes, queries):
    """Asks for a while, and returns the times of the answers, the degraded ones and the failed ones."""
    end, took, degraded, failed = time.time() + options.seconds, [], [], []

    def client(n):
        conn = connect(n % nodes)
        for i in itertools.count(n, options.clients):
            began = time.time()
            if began > end:
                return
            status, answer = ask(conn, "POST", "/v1/search", json.dumps({"query": queries[i % len(queries)]}))
            took.append(time.time() - began)
            if status != 200:
                failed.append(i)
            elif answer.get("degraded"):
                degraded.append(i)

    threads = [threading.Thread(target=client, args=(n,)) for n in range(options.clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sorted(took), degraded, failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ragctx", required=True)
    p.add_argument("--set", required=True)
    p.add_argument("--store", default="")
    p.add_argument("--index", default="")
    p.add_argument("--nodes", default="1,3")
    p.add_argument("--clients", type=int, default=6)
    p.add_argument("--seconds", type=float, default=30)
    options = p.parse_args()
    queries = [q["text"] for q in lines(options.set + "/queries.jsonl")]
    print(f"{'nodes':>5}{'questions':>11}{'a second':>10}{'p50 ms':>8}{'p99 ms':>8}{'CPU ms':>8}{'degraded':>10}{'failed':>8}")
    for nodes in map(int, options.nodes.split(",")):
        with tempfile.TemporaryDirectory(prefix="scale-") as directory:
            running = []
            try:
                for node in range(nodes):
                    running.append(start(options, node, directory))
                documents = "\n".join(json.dumps({"id": d["_id"], "title": d.get("title", ""), "text": d["text"]})
                                      for d in lines(options.set + "/corpus.jsonl") if d["text"])
                status, job = ask(connect(0), "POST", "/v1/documents:bulk?wait=5m", documents, "application/x-ndjson")
                if status != 200:
                    sys.exit(f"the documents were not stored: {status} {job}")
                for node in range(nodes):
                    while ask(connect(node), "POST", "/v1/search", json.dumps({"query": queries[0]}))[1].get("degraded"):
                        time.sleep(1)  # until its indexes are filled
                measure(argparse.Namespace(**{**vars(options), "seconds": options.seconds / 3}), nodes, queries)  # opens what is read
                before = sum(map(cpu, running))
                took, degraded, failed = measure(options, nodes, queries)
                used = sum(map(cpu, running)) - before
            finally:
                for process in running:
                    process.terminate()
                for process in running:
                    process.wait()
        n = len(took)
        print(f"{nodes:5}{n:11}{n / options.seconds:10.1f}{1000 * took[n // 2]:8.0f}{1000 * took[n * 99 // 100]:8.0f}"
              f"{1000 * used / n:8.1f}{len(degraded):10}{len(failed):8}", flush=True)


if __name__ == "__main__":
    main()
