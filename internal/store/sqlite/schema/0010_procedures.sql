-- How things were done that went well: procedures, their drafts and versions.

CREATE TABLE procedures (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  name      TEXT    NOT NULL,
  user      TEXT    NOT NULL,
  agent     TEXT    NOT NULL,
  versions  INTEGER NOT NULL DEFAULT 0, -- that were ever published; a number is never used again
  canonical INTEGER,                    -- the version that agents are shown
  created   INTEGER NOT NULL,
  updated   INTEGER NOT NULL
);
CREATE UNIQUE INDEX procedures_name ON procedures (namespace, name, user, agent);
CREATE INDEX procedures_user ON procedures (namespace, user);

-- The draft is version 0. Publishing gives it a number; from then on the row does
-- not change but for superseded. body is last, so that lists do not walk over it.
CREATE TABLE procedure_bodies (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  procedure  INTEGER NOT NULL REFERENCES procedures (id) ON DELETE CASCADE,
  version    INTEGER NOT NULL,
  by         TEXT    NOT NULL, -- who wrote it: caller, turn, model
  written    INTEGER NOT NULL,
  published  INTEGER,
  superseded INTEGER,          -- when a rollback took it back
  trigger    TEXT    NOT NULL,
  body       TEXT    NOT NULL  -- JSON of the rest
);
CREATE UNIQUE INDEX procedure_bodies_version ON procedure_bodies (procedure, version);

-- The turns in which it was done.
CREATE TABLE procedure_sources (
  body       INTEGER NOT NULL REFERENCES procedure_bodies (id) ON DELETE CASCADE,
  turn       TEXT    NOT NULL,
  words      INTEGER NOT NULL, -- 1 if the words are from it
  confidence REAL    NOT NULL,
  at         INTEGER NOT NULL, -- when the turn occurred
  PRIMARY KEY (body, turn)
) WITHOUT ROWID;
CREATE INDEX procedure_sources_turn ON procedure_sources (turn);

-- What happened, in order. version is the canonical one afterwards, before the one
-- before; NULL is none.
CREATE TABLE procedure_history (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  procedure INTEGER NOT NULL REFERENCES procedures (id) ON DELETE CASCADE,
  at        INTEGER NOT NULL,
  op        TEXT    NOT NULL,
  version   INTEGER,
  before    INTEGER,
  by        TEXT    NOT NULL,
  turn      TEXT    NOT NULL
);
CREATE INDEX procedure_history_procedure ON procedure_history (procedure, id);
