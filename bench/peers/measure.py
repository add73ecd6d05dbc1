"""Measures ragctx and other systems on the same chunks, vectors and queries, one system
and one client at a time; run.sh runs it.

usage: measure.py [--only NAME,…] OUT SET…

SET is a folder that `peers judged` or `peers corpus` has written. OUT.json has all figures.
"""

import argparse
import datetime
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy

from peer import SYSTEMS, Data

HERE = os.path.dirname(os.path.abspath(__file__))
NEAR = 10  # what speed and recall are measured with
DEEP = 100  # chunks of which documents are ranked, for nDCG@10
WARM = 50  # queries before the first that counts
LIMIT = 3600  # seconds for one command


class Worker:
    """A process that serves one system, in a group of its own with what it starts."""

    def __init__(self, name, out):
        program = [sys.executable, os.path.join(HERE, "worker.py")] if SYSTEMS[name][1] else [os.path.join(out, "peers"), "serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
        self.process = subprocess.Popen(program + [name], **pipes)
        self.pid = self.process.pid

    def do(self, what, **more):
        limit = threading.Timer(LIMIT, self.kill)
        limit.start()
        try:
            self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        finally:
            limit.cancel()
        if not line:
            raise RuntimeError(f"{what}: the process ended with {self.process.wait()}")
        answer = json.loads(line)
        self.pid = answer.get("pid", self.pid)
        return answer

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended, and so has all that it started

    def memory(self):
        """Memory of the process that does the work, in MiB: its own, and with mapped files."""
        with open(f"/proc/{self.pid}/status") as f:
            kib = {k: int(v.split()[0]) for k, v in (x.split(":", 1) for x in f) if k in ("RssAnon", "VmRSS")}
        return {"anon": kib["RssAnon"] / 1024, "rss": kib["VmRSS"] / 1024}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.stdin.close()
            self.process.wait(LIMIT)
        finally:
            self.kill()


def measure(name, data, out):
    """Measures one system on one set."""
    store = os.path.join(out, "store")
    shutil.rmtree(store, ignore_errors=True)
    os.makedirs(store)
    result = {}
    with Worker(name, out) as w:
        result.update(w.do("setup"))
        w.do("open", store=store)
        took = w.do("ingest", set=data.folder)
        result["ingest"] = {"wall": took["wall"], "cpu": took["cpu"]}
    result["disk"] = disk(store)
    queries = list(questions(data))
    best = result["modes"][-1]
    start = time.perf_counter()
    with Worker(name, out) as w:
        w.do("open", store=store)
        w.do("search", k=NEAR, mode=best, **queries[0])
        result["start"] = time.perf_counter() - start
        result["found"] = {m: ask(w, m, data, queries) for m in result["modes"]}
        result["memory"] = w.memory()
    shutil.rmtree(store)
    return result


def questions(data):
    for q, v in zip(data.lines("queries.jsonl"), data.vectors("queries.f32")):
        yield {"text": q["text"], "scope": q.get("scope", ""), "vector": v.tolist() if q["embedded"] else None}


def ask(w, mode, data, queries):
    """Asks all queries in a mode: for their times, and for what they find."""
    judged = os.path.exists(data.path("qrels.json"))
    for q in queries[:WARM]:
        w.do("search", k=NEAR, mode=mode, **q)
    answers = [w.do("search", k=DEEP if judged else NEAR, mode=mode, **q) for q in queries]
    found = {"queries": len(answers)}
    for what in "wall", "cpu":
        ms = numpy.array([a[what] for a in answers]) * 1000
        p50, p95, p99 = numpy.percentile(ms, [50, 95, 99], method="inverted_cdf")
        found[what] = {"p50": p50, "p95": p95, "p99": p99, "mean": ms.mean()}
    hits = [a.get("hits") or [] for a in answers]
    if judged:
        found["ndcg"] = ndcg(data, hits)
    elif mode == "vector":
        found["recall"] = recall(data, hits)
    return found


def ndcg(data, hits):
    """Mean nDCG@10 of documents, each at the place of its best chunk, as trec_eval has it."""
    qrels = data.json("qrels.json")
    docs = [c["doc"] for c in data.lines("chunks.jsonl")]
    total = 0
    for q, found in zip(data.lines("queries.jsonl"), hits):
        grades = qrels[q["id"]]
        ranked = list(dict.fromkeys(docs[h] if isinstance(h, int) else h[0] for h in found))[:10]
        ideal = sorted(grades.values(), reverse=True)[:10]
        total += gain(max(grades.get(d, 0), 0) for d in ranked) / gain(max(g, 0) for g in ideal)
    return total / len(hits)


def gain(grades):
    return sum(g / math.log2(i + 2) for i, g in enumerate(grades))


def recall(data, hits):
    """Recall@10 against all products; what is as near as the tenth, within 1e-6, counts."""
    chunks = data.vectors("chunks.f32")
    number = {(c["doc"], c["ordinal"]): i for i, c in enumerate(data.lines("chunks.jsonl"))}
    total = asked = 0
    for q, v, found in zip(data.lines("queries.jsonl"), data.vectors("queries.f32"), hits):
        if not q["embedded"]:
            continue
        asked += 1
        near = chunks @ v
        tenth = numpy.partition(near, -NEAR)[-NEAR] - 1e-6
        numbers = {h if isinstance(h, int) else number[tuple(h)] for h in found}
        total += sum(near[i] >= tenth for i in numbers) / NEAR
    return float(total / asked)


def disk(folder):
    """Bytes of the blocks that files take up, as du counts them, in MiB."""
    total = sum(os.stat(os.path.join(d, f)).st_blocks for d, _, files in os.walk(folder) for f in files)
    return total * 512 / 2**20


def machine():
    with open("/proc/cpuinfo") as f:
        model = next((x.split(":")[1].strip() for x in f if x.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores, {model}"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--only", default="")
    args.add_argument("out")
    args.add_argument("sets", nargs="+")
    o = args.parse_args()
    named = [n for n in o.only.split(",") if n]
    if unknown := set(named) - set(SYSTEMS):
        args.error(f"--only: {', '.join(sorted(unknown))} is none of {', '.join(SYSTEMS)}")
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "load": [os.getloadavg()[0]],
        "ragctx": os.environ.get("RAGCTX_COMMIT", ""),
        "sets": {},
        "systems": {},
    }
    for folder in o.sets:
        data = Data(folder)
        name = os.path.basename(folder)
        report["sets"][name] = data.info | {"judged": os.path.exists(data.path("qrels.json"))}
        for system in SYSTEMS:
            if named and system not in named:
                continue
            kept = report["systems"].setdefault(system, {"title": SYSTEMS[system][0], "sets": {}})
            if system == "weaviate" and not os.environ.get("WEAVIATE"):
                kept["why"] = "no binary given"
                continue
            print(f"{name}: {kept['title']}", file=sys.stderr, flush=True)
            try:
                r = measure(system, data, o.out)
            except Exception as e:  # the others are measured all the same
                traceback.print_exc()
                kept["why"] = f"{name}: {e}"
                continue
            kept.update({k: r.pop(k) for k in ("version", "setup", "modes") if k in r})
            kept["sets"][name] = r
            report["load"].append(os.getloadavg()[0])
            save(report, o.out)
    save(report, o.out)


def save(report, out):
    with open(os.path.join(out, "report.json"), "w") as f:
        json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
