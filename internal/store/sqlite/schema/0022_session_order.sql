-- Sessions are listed in order of creation, which is that of their ids: a change does not move them.

DROP INDEX sessions_user;
DROP INDEX sessions_recent;
CREATE INDEX sessions_user ON sessions (namespace, user) WHERE erased = 0;
CREATE INDEX sessions_namespace ON sessions (namespace) WHERE erased = 0;
