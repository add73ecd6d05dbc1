import os

import chromadb

from peer import Peer, version_of


class Chroma(Peer):
    """Chroma in process. Its hybrid search (Collection.search) and its sparse vectors say
    of themselves that they only work for distributed and hosted Chroma; the words of
    where_document are a filter without an order."""

    modes = ["vector"]
    setup = "`PersistentClient`, its HNSW with cosine, defaults; scope by `where`; no ranked search by words unless hosted"

    def version(self):
        return version_of("chromadb")

    def ingest(self, data):
        for first, chunks, vectors in data.batches(min(1000, self.client.get_max_batch_size())):
            self.chunks.add(
                ids=[str(first + i) for i in range(len(chunks))],
                documents=[c["text"] for c in chunks],
                metadatas=[{"scope": c.get("scope", "")} for c in chunks],
                embeddings=vectors,
            )

    def open(self, store):
        settings = chromadb.Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(os.path.join(store, "chroma"), settings)
        self.chunks = self.client.get_or_create_collection(
            "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def search(self, mode, k, text, vector, scope):
        if vector is None:
            return []
        found = self.chunks.query(
            query_embeddings=[vector],
            n_results=k,
            where={"scope": scope} if scope else None,
            include=["documents", "distances"],
        )
        return [int(i) for i in found["ids"][0]]
