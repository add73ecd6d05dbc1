-- What memories are, where they come from, and what became of them.

-- What is known of a version of a memory beside what items has: of what was found
-- in a turn all of it, of others the flags.
CREATE TABLE facts (
  item       INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
  namespace  INTEGER NOT NULL,
  user       TEXT    NOT NULL,
  flags      INTEGER NOT NULL, -- 1 profile, 2 pinned
  kind       TEXT    NOT NULL, -- '' for what was not found in a turn
  -- The following are folded for comparison; what was said is in about.
  words      TEXT    NOT NULL, -- the content
  subject    TEXT    NOT NULL,
  attribute  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  about      TEXT    NOT NULL  -- JSON
);
CREATE INDEX facts_words ON facts (namespace, user, words) WHERE kind <> '';
CREATE INDEX facts_subject ON facts (namespace, user, subject, attribute) WHERE kind <> '' AND attribute <> '';
CREATE INDEX facts_flags ON facts (namespace, user) WHERE flags <> 0;

-- The turns that say what a version of a memory says.
CREATE TABLE provenance (
  item    INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  turn    TEXT    NOT NULL,
  message INTEGER NOT NULL, -- place in the turn's transcript
  start   INTEGER NOT NULL, -- of the words in the message, in code points
  stop    INTEGER NOT NULL,
  source  INTEGER NOT NULL, -- 1 if the memory's words are from here, 2 if a caller has changed them since
  at      INTEGER NOT NULL, -- when the turn occurred
  PRIMARY KEY (item, turn, message, start)
) WITHOUT ROWID;
CREATE INDEX provenance_turn ON provenance (turn);

-- What happened to memories, in order. version is the one that was current
-- afterwards, before the one before; 0 is none.
CREATE TABLE history (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  key       TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  op        TEXT    NOT NULL,
  version   INTEGER NOT NULL,
  before    INTEGER NOT NULL,
  by        TEXT    NOT NULL, -- who did it: caller, turn, model, policy
  turn      TEXT    NOT NULL,
  other     TEXT    NOT NULL, -- the memory that took its place
  reason    TEXT    NOT NULL,
  user      TEXT    NOT NULL DEFAULT '', -- whose it is, where no version of items says so: of what was in quarantine
  undid     INTEGER           -- of an undo, the row that it takes back
);
CREATE INDEX history_user ON history (namespace, user) WHERE user <> '';
CREATE INDEX history_key ON history (namespace, key, id);
CREATE INDEX history_turn ON history (namespace, turn);
CREATE INDEX history_other ON history (namespace, other) WHERE other <> '';

-- What was found and is not believed before somebody has looked at it. No index
-- knows of it.
CREATE TABLE quarantine (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  key       TEXT    NOT NULL,
  user      TEXT    NOT NULL,
  agent     TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  turn      TEXT    NOT NULL,
  body      TEXT    NOT NULL, -- JSON of the memory
  reason    TEXT    NOT NULL,
  created   INTEGER NOT NULL
);
CREATE UNIQUE INDEX quarantine_key ON quarantine (namespace, key);
CREATE INDEX quarantine_turn ON quarantine (namespace, turn);

-- How often a memory was part of an answer. It is no part of the memory's versions.
CREATE TABLE uses (
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  key       TEXT    NOT NULL,
  count     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

-- Turns of which providers are still to be told, in the order of their rows.
CREATE TABLE untold (
  turn     INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  told     TEXT    NOT NULL DEFAULT '[]', -- JSON, names of providers that have been
  only     TEXT    NOT NULL DEFAULT '',   -- the provider that is to be told; '' is all
  attempts INTEGER NOT NULL DEFAULT 0
);

-- Memories that are only needed now, which are few at a time.
CREATE INDEX items_working ON items (namespace, user, agent, session) WHERE type = 'working' AND superseded IS NULL;
