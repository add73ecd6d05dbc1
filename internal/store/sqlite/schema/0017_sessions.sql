-- Conversations, as agents keep them.

CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace  INTEGER NOT NULL REFERENCES namespaces (id),
  user       TEXT    NOT NULL, -- '' is nobody's
  name       TEXT    NOT NULL,
  created    TEXT    NOT NULL, -- RFC 3339, as all times of sessions
  leaf       TEXT    NOT NULL, -- id of the message that the next one comes after; '' is none
  parameters TEXT    NOT NULL, -- JSON
  erased     INTEGER NOT NULL DEFAULT 0 -- 1 once nobody is to see it any more
) STRICT;
CREATE UNIQUE INDEX sessions_name ON sessions (namespace, name, user) WHERE erased = 0;
CREATE INDEX sessions_user ON sessions (namespace, user) WHERE erased = 0;
CREATE INDEX sessions_erased ON sessions (erased) WHERE erased = 1;

-- In the order in which they were first named.
CREATE TABLE session_sections (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  name    TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_sections_name ON session_sections (session, name);

-- A tree: parent is the id of another one, '' of none. data is JSON of the rest.
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
CREATE INDEX session_messages_session ON session_messages (session); -- by seq, as all indexes end with it
CREATE INDEX session_messages_section ON session_messages (session, section);
CREATE INDEX session_messages_label ON session_messages (session) WHERE label <> '';

-- Records of what is shown as a summary. "from" and "to" are ids of messages, or ''.
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

-- Observations that count, in their order.
CREATE TABLE session_notes (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  note    TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX session_notes_session ON session_notes (session);

CREATE TRIGGER sessions_of_erased BEFORE INSERT ON sessions WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
