import os
import re

import pysqlite3 as sqlite3
import sqlite_vec

from peer import Peer, version_of

KEYWORD = """
select chunks.id, chunks.text from fts join chunks on chunks.id = fts.rowid
where fts match :words {scope} order by fts.rank limit :k"""

VECTOR = """
select chunks.id, chunks.text from (
  select id, distance from vec where embedding match :vector and k = :k {scope}
) near join chunks on chunks.id = near.id order by near.distance"""

# Reciprocal rank fusion with 60 and equal weights, as in sqlite-vec's example of a hybrid
# search (examples/nbc-headlines), by the ranks of both.
HYBRID = """
with near as (
  select id, row_number() over (order by distance) as place
  from vec where embedding match :vector and k = :k {vec_scope}
),
matching as (
  select id, row_number() over (order by rank) as place from (
    select fts.rowid as id, fts.rank as rank from fts {join}
    where fts match :words {scope} order by fts.rank limit :k
  )
)
select chunks.id, chunks.text
from matching full outer join near on near.id = matching.id
join chunks on chunks.id = coalesce(matching.id, near.id)
order by coalesce(1.0 / (60 + matching.place), 0.0) + coalesce(1.0 / (60 + near.place), 0.0) desc, chunks.id
limit :k"""


class SQLite(Peer):
    """SQLite with FTS5 for words and sqlite-vec for vectors, in one file."""

    modes = ["keyword", "vector", "hybrid"]
    setup = "`porter unicode61`, words joined by OR, `bm25()`; `vec0` with cosine, exact, scope as partition key; fused by ranks in SQL as its example has it"

    def version(self):
        return sqlite3.sqlite_version + ", " + version_of("sqlite-vec")

    def ingest(self, data):
        self.db.executescript(f"""
            create table chunks (id integer primary key, scope text not null, text text not null);
            create virtual table fts using fts5(text, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61');
            create virtual table vec using vec0(
              id integer primary key, scope text partition key,
              embedding float[{data.info["dim"]}] distance_metric=cosine);
        """)
        for first, chunks, vectors in data.batches(1000):
            rows = [(first + i, c.get("scope", ""), c["text"]) for i, c in enumerate(chunks)]
            with self.db:
                self.db.executemany("insert into chunks values (?, ?, ?)", rows)
                self.db.executemany("insert into fts(rowid, text) values (?, ?)", [(i, t) for i, _, t in rows])
                self.db.executemany(
                    "insert into vec values (?, ?, ?)",
                    [(i, s, sqlite_vec.serialize_float32(v)) for (i, s, _), v in zip(rows, vectors)],
                )
        self.db.execute("insert into fts(fts) values ('optimize')")
        self.db.commit()

    def open(self, store):
        self.db = sqlite3.connect(os.path.join(store, "all.db"))
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.execute("pragma journal_mode = wal")

    def search(self, mode, k, text, vector, scope):
        words = " OR ".join(f'"{w}"' for w in re.findall(r"\w+", text))
        if vector is None and mode == "hybrid":
            mode = "keyword"
        if not words and mode == "hybrid":
            mode = "vector"
        if mode == "keyword" and not words or mode == "vector" and vector is None:
            return []
        if mode == "vector":
            sql = VECTOR.format(scope="and scope = :scope" if scope else "")
        else:
            sql = (KEYWORD if mode == "keyword" else HYBRID).format(
                join="join chunks on chunks.id = fts.rowid" if scope else "",
                scope="and chunks.scope = :scope" if scope else "",
                vec_scope="and scope = :scope" if scope else "",
            )
        q = {"k": k, "scope": scope, "words": words}
        if vector is not None:
            q["vector"] = sqlite_vec.serialize_float32(vector)
        return [i for i, _ in self.db.execute(sql, q)]
