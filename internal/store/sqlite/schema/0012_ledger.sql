-- What agents of a cluster sent each other.

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

-- Rows never change. at grows with seq within a ledger. What is long is last, so that
-- filters do not walk over it.
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
CREATE INDEX ledger_messages_ledger ON ledger_messages (ledger); -- by seq, as all indexes end with it
CREATE INDEX ledger_messages_topic ON ledger_messages (ledger, topic);
CREATE INDEX ledger_messages_sender ON ledger_messages (ledger, sender);
