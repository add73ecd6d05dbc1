-- What the files of schema make, one after the other. It is written by
-- go test ./internal/store/sqlite -run TestNewest -update

CREATE TABLE namespaces (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL
, erased INTEGER NOT NULL DEFAULT 0, documents INTEGER NOT NULL DEFAULT 0, memories INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, max_documents INTEGER NOT NULL DEFAULT 0, max_memories INTEGER NOT NULL DEFAULT 0, max_bytes INTEGER NOT NULL DEFAULT 0);
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
, stat TEXT NOT NULL DEFAULT '', text_hash BLOB, text_of INTEGER, sketch BLOB);
CREATE UNIQUE INDEX items_version ON items (namespace, kind, key, version);
CREATE UNIQUE INDEX items_current ON items (namespace, kind, key) WHERE superseded IS NULL;
CREATE INDEX items_root ON items (namespace, root, key) WHERE superseded IS NULL AND root <> '';
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
, page INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX units_item ON units (item, ordinal);
CREATE TABLE embedders (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE -- JSON
);
CREATE TABLE changes (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL,
  kind      INTEGER NOT NULL,
  item      INTEGER NOT NULL,
  op        INTEGER NOT NULL
, units TEXT NOT NULL DEFAULT '');
CREATE INDEX changes_collection ON changes (namespace, kind, seq);
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
CREATE TABLE opens (
  token  TEXT PRIMARY KEY,
  opened INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE jobs (
  n           INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT    NOT NULL UNIQUE,
  kind        TEXT    NOT NULL,             -- who runs it: documents, folder, ...
  namespace   TEXT    NOT NULL DEFAULT '',  -- by name; '' is none or all
  state       TEXT    NOT NULL,             -- spooling, queued, running, done, failed, cancelled
  place       INTEGER,                      -- in the order of acceptance
  request     TEXT    NOT NULL DEFAULT '{}', -- JSON, the kind's own
  result      TEXT    NOT NULL DEFAULT '',   -- JSON, the kind's own
  stage       TEXT    NOT NULL DEFAULT '',
  items       INTEGER NOT NULL DEFAULT 0,   -- how many there are; 0 is unknown
  counts      TEXT    NOT NULL DEFAULT '{}', -- JSON
  chunks      INTEGER NOT NULL DEFAULT 0,   -- of documents that were written
  bytes       INTEGER NOT NULL DEFAULT 0,   -- of items that are dealt with
  written     INTEGER NOT NULL DEFAULT 0,   -- of those that were created or replaced
  total_bytes INTEGER NOT NULL DEFAULT 0,   -- of all items; 0 is unknown
  error       TEXT    NOT NULL DEFAULT '',  -- what ended the job, not a single item
  created     INTEGER NOT NULL,
  started     INTEGER,
  heartbeat   INTEGER,
  finished    INTEGER
);
CREATE INDEX jobs_active ON jobs (kind, place) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_finished ON jobs (finished) WHERE finished IS NOT NULL;
CREATE TABLE job_items (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  job    INTEGER NOT NULL REFERENCES jobs (n) ON DELETE CASCADE,
  n      INTEGER NOT NULL,            -- counts from 1; the line or part of the request
  key    TEXT    NOT NULL,            -- id of the document, or path of the file
  op     TEXT    NOT NULL,            -- put, delete
  state  TEXT    NOT NULL,            -- pending, done, failed, skipped
  status TEXT    NOT NULL DEFAULT '', -- of a done item: created, replaced, unchanged, deleted
  field  TEXT    NOT NULL DEFAULT '', -- what the error is about
  error  TEXT    NOT NULL DEFAULT '',
  bytes  INTEGER NOT NULL DEFAULT 0,  -- of the text
  chunks INTEGER NOT NULL DEFAULT 0,
  body   BLOB                         -- JSON; last, so that lists do not walk over it
);
CREATE UNIQUE INDEX job_items_n ON job_items (job, n);
CREATE INDEX job_items_state ON job_items (job, state, n);
CREATE TABLE idempotency (
  namespace TEXT    NOT NULL,
  route     TEXT    NOT NULL,             -- method and path template
  key       TEXT    NOT NULL,
  hash      BLOB    NOT NULL,             -- of the request
  seed      TEXT    NOT NULL,             -- the id of what the request makes, if it names none
  status    INTEGER,
  header    TEXT    NOT NULL DEFAULT '{}', -- JSON
  body      BLOB,
  created   INTEGER NOT NULL,
  PRIMARY KEY (namespace, route, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created);
CREATE INDEX items_session ON items (namespace, kind, session, occurred) WHERE superseded IS NULL AND session <> '';
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE "vectors" (
  id       INTEGER PRIMARY KEY,
  embedder INTEGER NOT NULL REFERENCES embedders (id),
  hash     BLOB    NOT NULL,
  vector   BLOB    NOT NULL -- float32, little endian
);
CREATE UNIQUE INDEX vectors_key ON vectors (embedder, hash);
CREATE TABLE text_parts (
  item  INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  start INTEGER NOT NULL, -- byte of the text
  text  BLOB    NOT NULL,
  PRIMARY KEY (item, start)
);
CREATE INDEX items_hidden ON items (id) WHERE seq = 0;
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
CREATE TABLE orphans (
  hash BLOB PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE voices (
  unit  INTEGER PRIMARY KEY REFERENCES units (id) ON DELETE CASCADE,
  role  TEXT    NOT NULL,
  name  TEXT    NOT NULL,
  timed INTEGER NOT NULL -- 1 if the unit speaks of a time
);
CREATE INDEX items_text ON items (namespace, text_hash) WHERE text_hash IS NOT NULL AND seq > 0;
CREATE INDEX items_text_of ON items (text_of) WHERE text_of IS NOT NULL;
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
CREATE TABLE uses (
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  key       TEXT    NOT NULL,
  count     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE untold (
  turn     INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  told     TEXT    NOT NULL DEFAULT '[]', -- JSON, names of providers that have been
  only     TEXT    NOT NULL DEFAULT '',   -- the provider that is to be told; '' is all
  attempts INTEGER NOT NULL DEFAULT 0
, asked INTEGER NOT NULL DEFAULT 0);
CREATE INDEX items_working ON items (namespace, user, agent, session) WHERE type = 'working' AND superseded IS NULL;
CREATE INDEX items_user ON items (namespace, kind, user) WHERE superseded IS NULL;
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
CREATE TABLE procedure_sources (
  body       INTEGER NOT NULL REFERENCES procedure_bodies (id) ON DELETE CASCADE,
  turn       TEXT    NOT NULL,
  words      INTEGER NOT NULL, -- 1 if the words are from it
  confidence REAL    NOT NULL,
  at         INTEGER NOT NULL, -- when the turn occurred
  PRIMARY KEY (body, turn)
) WITHOUT ROWID;
CREATE INDEX procedure_sources_turn ON procedure_sources (turn);
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
CREATE TABLE ledgers (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  name      TEXT    NOT NULL,
  created   INTEGER NOT NULL,          -- Unix milliseconds, as all times of ledgers
  outputs   INTEGER NOT NULL DEFAULT 0, -- messages of the topic AGENT_OUTPUT
  bytes     INTEGER NOT NULL DEFAULT 0, -- of their text, data and metadata
  erased    INTEGER NOT NULL DEFAULT 0  -- 1 once nobody is to see it any more
) STRICT;
CREATE UNIQUE INDEX ledgers_name ON ledgers (namespace, name) WHERE erased = 0;
CREATE TABLE ledger_messages (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  ledger   INTEGER NOT NULL REFERENCES ledgers (id),
  at       INTEGER NOT NULL,
  id       BLOB    NOT NULL,
  topic    TEXT    NOT NULL,
  sender   TEXT    NOT NULL,
  receiver TEXT    NOT NULL,
  data     TEXT,
  metadata TEXT,
  text     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX ledger_messages_id ON ledger_messages (ledger, id);
CREATE UNIQUE INDEX ledger_messages_at ON ledger_messages (ledger, at);
CREATE INDEX ledger_messages_ledger ON ledger_messages (ledger);
CREATE INDEX ledger_messages_topic ON ledger_messages (ledger, topic);
CREATE INDEX ledger_messages_sender ON ledger_messages (ledger, sender);
CREATE TABLE keys (
  id         TEXT    PRIMARY KEY,
  name       TEXT    NOT NULL,
  prefix     TEXT    NOT NULL UNIQUE,
  hash       BLOB    NOT NULL,
  role       TEXT    NOT NULL,
  namespaces TEXT    NOT NULL,  -- names, as a JSON array; [] is all
  user       TEXT    NOT NULL,  -- '' is any
  created    INTEGER NOT NULL,  -- Unix microseconds, as all times here
  expires    INTEGER,
  revoked    INTEGER,
  used       INTEGER
) STRICT;
CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  at        INTEGER NOT NULL,
  key       TEXT    NOT NULL, -- id of the API key; '' without one
  request   TEXT    NOT NULL,
  operation TEXT    NOT NULL,
  namespace TEXT    NOT NULL, -- '' if it is about none
  target    TEXT    NOT NULL, -- id of what it is about; '' once that is erased
  status    INTEGER NOT NULL
) STRICT;
CREATE TABLE session_providers (
  namespace INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  session   TEXT    NOT NULL,
  user      TEXT    NOT NULL, -- '' is nobody's
  name      TEXT    NOT NULL,
  added     INTEGER NOT NULL, -- Unix microseconds
  removed   INTEGER NOT NULL DEFAULT 0, -- 1 once it is
  PRIMARY KEY (namespace, session, user, name)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER items_come AFTER INSERT ON items WHEN NEW.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents + (NEW.kind = 1), memories = memories + (NEW.kind = 2), bytes = bytes + NEW.bytes
    WHERE id = NEW.namespace;
END;
CREATE TRIGGER items_return AFTER UPDATE OF superseded ON items WHEN OLD.superseded IS NOT NULL AND NEW.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents + (NEW.kind = 1), memories = memories + (NEW.kind = 2), bytes = bytes + NEW.bytes
    WHERE id = NEW.namespace;
END;
CREATE TRIGGER items_end AFTER UPDATE OF superseded ON items WHEN OLD.superseded IS NULL AND NEW.superseded IS NOT NULL BEGIN
  UPDATE namespaces SET documents = documents - (OLD.kind = 1), memories = memories - (OLD.kind = 2), bytes = bytes - OLD.bytes
    WHERE id = OLD.namespace;
END;
CREATE TRIGGER items_go AFTER DELETE ON items WHEN OLD.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents - (OLD.kind = 1), memories = memories - (OLD.kind = 2), bytes = bytes - OLD.bytes
    WHERE id = OLD.namespace;
END;
CREATE TRIGGER changes_erased BEFORE INSERT ON changes WHEN NEW.op = 1 AND (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER turns_erased BEFORE INSERT ON turns WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER history_erased BEFORE INSERT ON history WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER quarantine_erased BEFORE INSERT ON quarantine WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER procedures_erased BEFORE INSERT ON procedures WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER ledgers_erased BEFORE INSERT ON ledgers WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER session_providers_erased BEFORE INSERT ON session_providers
    WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE INDEX items_expires ON items(namespace, expires) WHERE expires IS NOT NULL;
CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace  INTEGER NOT NULL REFERENCES namespaces (id),
  user       TEXT    NOT NULL, -- '' is nobody's
  name       TEXT    NOT NULL,
  created    TEXT    NOT NULL, -- RFC 3339, as all times of sessions
  leaf       TEXT    NOT NULL, -- id of the message that the next one comes after; '' is none
  parameters TEXT    NOT NULL, -- JSON
  erased     INTEGER NOT NULL DEFAULT 0 -- 1 once nobody is to see it any more
, version INTEGER NOT NULL DEFAULT 1, updated INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, origin INTEGER, request TEXT NOT NULL DEFAULT '', salt TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX sessions_name ON sessions (namespace, name, user) WHERE erased = 0;
CREATE INDEX sessions_erased ON sessions (erased) WHERE erased = 1;
CREATE TABLE session_sections (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  name    TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_sections_name ON session_sections (session, name);
CREATE TABLE session_messages (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  id      TEXT    NOT NULL,
  parent  TEXT    NOT NULL,
  section TEXT    NOT NULL,
  label   TEXT    NOT NULL, -- '' is none
  data    TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_messages_id ON session_messages (session, id);
CREATE INDEX session_messages_session ON session_messages (session);
CREATE INDEX session_messages_section ON session_messages (session, section);
CREATE INDEX session_messages_label ON session_messages (session) WHERE label <> '';
CREATE TABLE session_compactions (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  id      TEXT    NOT NULL,
  created TEXT    NOT NULL,
  "from"  TEXT    NOT NULL,
  "to"    TEXT    NOT NULL,
  record  TEXT    NOT NULL -- JSON, or '' for none
) STRICT;
CREATE INDEX session_compactions_session ON session_compactions (session);
CREATE TABLE session_notes (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  note    TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX session_notes_session ON session_notes (session);
CREATE TRIGGER sessions_of_erased BEFORE INSERT ON sessions WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE INDEX sessions_origin ON sessions (origin) WHERE origin IS NOT NULL;
CREATE INDEX session_messages_parent ON session_messages (session, parent);
CREATE TRIGGER sessions_come AFTER INSERT ON sessions WHEN NEW.erased = 0 AND NEW.bytes > 0 BEGIN
  UPDATE namespaces SET bytes = bytes + NEW.bytes WHERE id = NEW.namespace;
END;
CREATE TRIGGER sessions_grow AFTER UPDATE OF bytes, erased ON sessions WHEN OLD.bytes <> NEW.bytes OR OLD.erased <> NEW.erased BEGIN
  UPDATE namespaces SET bytes = bytes + (NEW.erased = 0) * NEW.bytes - (OLD.erased = 0) * OLD.bytes WHERE id = NEW.namespace;
END;
CREATE TRIGGER sessions_go AFTER DELETE ON sessions WHEN OLD.erased = 0 BEGIN
  UPDATE namespaces SET bytes = bytes - OLD.bytes WHERE id = OLD.namespace;
END;
CREATE TABLE session_ancestors (
  session   INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  namespace INTEGER NOT NULL,
  user      TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  PRIMARY KEY (session, user, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_ancestors_name ON session_ancestors (namespace, name);
CREATE TABLE sums (
  bucket INTEGER NOT NULL,
  tab    TEXT    NOT NULL,
  sum    INTEGER NOT NULL,
  PRIMARY KEY (bucket, tab)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_items_key ON job_items (key);
CREATE INDEX sessions_user ON sessions (namespace, user) WHERE erased = 0;
CREATE INDEX sessions_namespace ON sessions (namespace) WHERE erased = 0;

INSERT INTO settings VALUES ('database', lower(hex(randomblob(16))));
PRAGMA user_version = 22;
