"""What every system has in common: the data it is given, and its interface.

A system is a class with

    setup            in which of its ways it is used
    modes            those of keyword, vector and hybrid that it has
    version()
    open(store)                                  what is in the folder store; if it is
                                                 empty, starts anew
    ingest(data)                                 fills what is open; when it returns,
                                                 everything is durable and found
    search(mode, k, text, vector, scope)         -> the k best chunks, by number; vector
                                                 is None where the embedder has none
    close()
    pid                                          of the process that does the work

Systems that are Go libraries have the same interface in serve.go.
"""

import json
import os
import time
from importlib import metadata

import numpy


# By the name that --only has: what the table calls a system, and its module and class in
# the folder systems; those without one are Go libraries.
SYSTEMS = {
    "ragctx": ("ragctx, in process", None),
    "ragctx-rest": ("ragctx, REST", "ragctx_rest.Rest"),
    "chroma": ("Chroma", "chroma.Chroma"),
    "lancedb": ("LanceDB", "lancedb_.Lance"),
    "lancedb-hnsw": ("LanceDB with HNSW", "lancedb_.LanceHNSW"),
    "sqlite": ("SQLite FTS5 + sqlite-vec", "sqlite.SQLite"),
    "weaviate": ("Weaviate", "weaviate.Weaviate"),
    "chromem-go": ("chromem-go", None),
    "bleve": ("bleve alone", None),
}


class Data:
    """A folder that `peers judged` or `peers corpus` has written; see data.go."""

    def __init__(self, folder):
        self.folder = folder
        self.info = self.json("info.json")

    def path(self, name):
        return os.path.join(self.folder, name)

    def json(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            yield from map(json.loads, f)

    def vectors(self, name):
        return numpy.fromfile(self.path(name), "<f4").reshape(-1, self.info["dim"])

    def batches(self, size):
        """Yields the number of the first chunk, the chunks, and their vectors."""
        vectors, batch, first = self.vectors("chunks.f32"), [], 0
        for c in self.lines("chunks.jsonl"):
            batch.append(c)
            if len(batch) == size:
                yield first, batch, vectors[first : first + size]
                first, batch = first + size, []
        if batch:
            yield first, batch, vectors[first:]


def version_of(package):
    return metadata.version(package)


def processor(pid):
    """Processor time of a process in seconds, by its clock: see clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


class Peer:
    def __init__(self):
        self.pid = os.getpid()

    def close(self):
        pass
