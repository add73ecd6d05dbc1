"""Serves one system to measure.py: commands on standard input, one JSON object per line,
answers on standard output. serve.go does the same for systems in Go.

usage: worker.py NAME
"""

import importlib
import json
import os
import sys
import time

import numpy

from peer import SYSTEMS, Data, processor


def system(name):
    """Imports what is asked for alone: memory and start are those of one system."""
    module, _, cls = SYSTEMS[name][1].partition(".")
    return getattr(importlib.import_module("systems." + module), cls)()


def do(p, c):
    if c["do"] == "setup":
        return {"version": p.version(), "setup": p.setup, "modes": p.modes}
    if c["do"] == "ingest":
        p.ingest(Data(c["set"]))
    elif c["do"] == "open":
        p.open(c["store"])
    elif c["do"] == "search":
        return {"hits": p.search(c["mode"], c["k"], c["text"], c["vector"], c["scope"])}
    return {}


def main():
    # What libraries print must not be taken for an answer.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    p = system(sys.argv[1])
    for line in sys.stdin:
        c = json.loads(line)
        if c.get("vector") is not None:
            c["vector"] = numpy.array(c["vector"], "f4")
        pid, cpu, start = p.pid, processor(p.pid), time.perf_counter()
        answer = do(p, c)
        answer["wall"] = time.perf_counter() - start
        answer["cpu"] = processor(p.pid) - (cpu if p.pid == pid else 0)
        answer["pid"] = p.pid
        print(json.dumps(answer), file=out)
    p.close()


main()
