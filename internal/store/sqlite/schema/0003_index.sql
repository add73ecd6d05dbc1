-- What the indexes need to know of the store beyond its items.

-- The units of a removed item, as JSON ranges [[first, last], ...]: the index
-- has to forget them when their rows are gone.
ALTER TABLE changes ADD COLUMN units TEXT NOT NULL DEFAULT '';

-- Sessions in order of time, for questions such as "two sessions ago".
CREATE INDEX items_session ON items (namespace, kind, session, occurred) WHERE superseded IS NULL AND session <> '';

-- What the data directory itself is set to; "embedder" is the id of the embedder
-- whose vectors are searched.
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
