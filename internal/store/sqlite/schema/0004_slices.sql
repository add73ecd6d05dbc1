-- Vectors in the order of writing: as rows of an index of their own they were
-- too long for a page's share, and each took a page.
CREATE TABLE vectors_in_order (
  id       INTEGER PRIMARY KEY,
  embedder INTEGER NOT NULL REFERENCES embedders (id),
  hash     BLOB    NOT NULL,
  vector   BLOB    NOT NULL -- float32, little endian
);
INSERT INTO vectors_in_order (embedder, hash, vector) SELECT embedder, hash, vector FROM vectors ORDER BY embedder, hash;
DROP TABLE vectors;
ALTER TABLE vectors_in_order RENAME TO vectors;
CREATE UNIQUE INDEX vectors_key ON vectors (embedder, hash);

-- A long text goes on here where that in texts ends.
CREATE TABLE text_parts (
  item  INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  start INTEGER NOT NULL, -- byte of the text
  text  BLOB    NOT NULL,
  PRIMARY KEY (item, start)
);

-- Items that are not there for anyone: long ones that are being written, and
-- erased ones that are being removed. Both have seq 0, a version below 0, and are
-- superseded at 0.
CREATE INDEX items_hidden ON items (id) WHERE seq = 0;

-- Removals that are not complete. The scope says whose items are still to be
-- hidden, as JSON; once it is empty they all are, but their bytes may still be in
-- the files of the database or of an index.
CREATE TABLE erasures (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL
);
CREATE TABLE erased_from (
  erasure   INTEGER NOT NULL REFERENCES erasures (id) ON DELETE CASCADE,
  namespace INTEGER NOT NULL,
  kind      INTEGER NOT NULL,
  seq       INTEGER NOT NULL, -- the change that the index must have followed
  PRIMARY KEY (erasure, namespace, kind)
) WITHOUT ROWID;

-- Keys of units that were removed: vectors that no other unit needs go, too.
CREATE TABLE orphans (
  hash BLOB PRIMARY KEY
) WITHOUT ROWID;
