-- The truth. Everything else in a data directory can be made again from here.
-- Times are Unix microseconds; NULL is "none".

CREATE TABLE namespaces (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL
);

-- One row per version of a document (kind 1) or memory (kind 2). The current
-- version is the one that nothing superseded. Rows never change but for
-- superseded and ended; a new state is a new version.
CREATE TABLE items (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace  INTEGER NOT NULL REFERENCES namespaces (id),
  kind       INTEGER NOT NULL,
  key        TEXT    NOT NULL, -- external id of a document, id of a memory
  version    INTEGER NOT NULL,
  seq        INTEGER NOT NULL, -- the change that wrote the row
  hash       BLOB    NOT NULL, -- of everything the caller gave
  title      TEXT    NOT NULL DEFAULT '',
  source     TEXT    NOT NULL DEFAULT '',
  mime       TEXT    NOT NULL DEFAULT '',
  root       TEXT    NOT NULL DEFAULT '', -- what a file was ingested from
  user       TEXT    NOT NULL DEFAULT '',
  agent      TEXT    NOT NULL DEFAULT '',
  session    TEXT    NOT NULL DEFAULT '',
  type       TEXT    NOT NULL DEFAULT '', -- of a memory
  importance REAL    NOT NULL DEFAULT 0,
  tags       TEXT    NOT NULL DEFAULT '[]',
  metadata   TEXT    NOT NULL DEFAULT '{}',
  abstract   TEXT    NOT NULL DEFAULT '',
  outline    TEXT    NOT NULL DEFAULT '[]',
  chunker    TEXT    NOT NULL DEFAULT '',
  bytes      INTEGER NOT NULL,
  occurred   INTEGER,
  recorded   INTEGER NOT NULL,
  superseded INTEGER,
  ended      INTEGER, -- the change that superseded the row
  expires    INTEGER
);
CREATE UNIQUE INDEX items_version ON items (namespace, kind, key, version);
CREATE UNIQUE INDEX items_current ON items (namespace, kind, key) WHERE superseded IS NULL;
CREATE INDEX items_root ON items (namespace, root, key) WHERE superseded IS NULL AND root <> '';

-- Apart from items, so that reading an item does not walk over its text.
CREATE TABLE texts (
  item INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
  text BLOB NOT NULL
);

CREATE TABLE units (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  item       INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  ordinal    INTEGER NOT NULL,
  heading    TEXT    NOT NULL DEFAULT '[]',
  text       TEXT    NOT NULL,
  hash       BLOB    NOT NULL, -- of what is embedded; finds the vector
  start_byte INTEGER NOT NULL,
  start_line INTEGER NOT NULL,
  start_rune INTEGER NOT NULL,
  end_byte   INTEGER NOT NULL,
  end_line   INTEGER NOT NULL,
  end_rune   INTEGER NOT NULL
);
CREATE UNIQUE INDEX units_item ON units (item, ordinal);

CREATE TABLE embedders (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE -- JSON
);

-- Also the embedding cache: equal texts are embedded once.
CREATE TABLE vectors (
  embedder INTEGER NOT NULL REFERENCES embedders (id),
  hash     BLOB    NOT NULL,
  vector   BLOB    NOT NULL, -- float32, little endian
  PRIMARY KEY (embedder, hash)
) WITHOUT ROWID;

-- The sequence that the indexes follow. op: 1 the item was written, 2 it was
-- superseded or deleted, 3 its data was removed.
CREATE TABLE changes (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL,
  kind      INTEGER NOT NULL,
  item      INTEGER NOT NULL,
  op        INTEGER NOT NULL
);
CREATE INDEX changes_collection ON changes (namespace, kind, seq);

-- Turns as they came, word for word.
CREATE TABLE turns (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  key       TEXT    NOT NULL,
  user      TEXT    NOT NULL,
  agent     TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  body      TEXT    NOT NULL, -- JSON
  occurred  INTEGER NOT NULL,
  recorded  INTEGER NOT NULL
);
CREATE UNIQUE INDEX turns_key ON turns (namespace, key);
CREATE INDEX turns_session ON turns (namespace, session, id);

-- One row per opening that changed something; see opens.go.
CREATE TABLE opens (
  token  TEXT PRIMARY KEY,
  opened INTEGER NOT NULL
) WITHOUT ROWID;
