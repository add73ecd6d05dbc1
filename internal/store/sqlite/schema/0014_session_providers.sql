-- Providers that sessions have asked for. A row stays when its provider is removed: the
-- session is known from then on.

CREATE TABLE session_providers (
  namespace INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  session   TEXT    NOT NULL,
  user      TEXT    NOT NULL, -- '' is nobody's
  name      TEXT    NOT NULL,
  added     INTEGER NOT NULL, -- Unix microseconds
  removed   INTEGER NOT NULL DEFAULT 0, -- 1 once it is
  PRIMARY KEY (namespace, session, user, name)
) STRICT, WITHOUT ROWID;
