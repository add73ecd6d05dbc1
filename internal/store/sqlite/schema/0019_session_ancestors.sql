-- The sessions that a fork has messages of and that were deleted since, though not for good:
-- who erases one of them by its name erases the fork, too.

CREATE TABLE session_ancestors (
  session   INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  namespace INTEGER NOT NULL,
  user      TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  PRIMARY KEY (session, user, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_ancestors_name ON session_ancestors (namespace, name);
