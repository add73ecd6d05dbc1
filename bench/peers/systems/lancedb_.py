import os
import re

os.environ.setdefault("LANCEDB_LOG", "error")  # it warns with every query

import lancedb
import pyarrow
from lancedb.index import FTS, Bitmap, HnswSq
from lancedb.rerankers import RRFReranker

from peer import Peer, version_of


class Lance(Peer):
    """LanceDB in process, as its pages on hybrid search and on vector indexes have it: one
    column for words with an index, hybrid with its default, RRFReranker. Up to 100,000 rows
    they call an index of vectors unnecessary; LanceHNSW has one all the same."""

    modes = ["keyword", "vector", "hybrid"]
    setup = "index `FTS()` and `RRFReranker()`; vectors without an index, as advised up to 100,000; scope by `where` with a bitmap index"
    indexed = False

    def version(self):
        return version_of("lancedb")

    def ingest(self, data):
        schema = pyarrow.schema(
            [
                ("number", pyarrow.int64()),
                ("scope", pyarrow.string()),
                ("text", pyarrow.string()),
                ("vector", pyarrow.list_(pyarrow.float32(), data.info["dim"])),
            ]
        )

        def batches():
            for first, chunks, vectors in data.batches(10_000):
                columns = [
                    pyarrow.array(range(first, first + len(chunks))),
                    pyarrow.array([c.get("scope", "") for c in chunks]),
                    pyarrow.array([c["text"] for c in chunks]),
                    pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), data.info["dim"]),
                ]
                yield pyarrow.record_batch(columns, schema=schema)

        rows = pyarrow.RecordBatchReader.from_batches(schema, batches())
        self.chunks = self.db.create_table("chunks", rows, schema=schema)
        self.chunks.create_index("text", config=FTS())
        self.chunks.create_index("scope", config=Bitmap())
        if self.indexed:
            self.chunks.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=1))
        self.chunks.optimize()

    def open(self, store):
        self.db = lancedb.connect(os.path.join(store, "lance"))
        if "chunks" in self.db.table_names():
            self.chunks = self.db.open_table("chunks")

    def search(self, mode, k, text, vector, scope):
        if vector is None:
            if mode == "vector":
                return []
            mode = "keyword"
        words = re.sub(r"[^\w\s]", " ", text)  # the rest has a meaning to its parser
        if mode == "keyword":
            q = self.chunks.search(words, query_type="fts")
        elif mode == "vector":
            q = self.chunks.search(vector, query_type="vector").distance_type("cosine")
        else:
            q = self.chunks.search(query_type="hybrid").vector(vector).text(words).distance_type("cosine")
            q = q.rerank(RRFReranker())
        if scope:
            q = q.where("scope = '" + scope.replace("'", "''") + "'")
        return q.limit(k).select(["number", "text"]).to_arrow()["number"].to_pylist()


class LanceHNSW(Lance):
    """The index that its pages have for high recall at low latency, and one partition, as the
    text of HnswSq has it for most tables."""

    setup = "the same with an index `HnswSq(num_partitions=1)` of the vectors"
    indexed = True
