-- What sessions hold, how often and when they were changed, and what they were forked from.

ALTER TABLE sessions ADD COLUMN version INTEGER NOT NULL DEFAULT 1; -- counts changes
ALTER TABLE sessions ADD COLUMN updated INTEGER NOT NULL DEFAULT 0; -- nanoseconds since 1970
ALTER TABLE sessions ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of the messages, without ids
ALTER TABLE sessions ADD COLUMN origin INTEGER; -- id of the session that this is a fork of
UPDATE sessions SET updated = unixepoch(created) * 1000000000,
  messages = (SELECT count(*) FROM session_messages WHERE session = sessions.id),
  bytes = (SELECT coalesce(sum(octet_length(data)), 0) FROM session_messages WHERE session = sessions.id);

DROP INDEX sessions_user;
CREATE INDEX sessions_user ON sessions (namespace, user, updated) WHERE erased = 0;
CREATE INDEX sessions_recent ON sessions (namespace, updated) WHERE erased = 0;
CREATE INDEX sessions_origin ON sessions (origin) WHERE origin IS NOT NULL;
CREATE INDEX session_messages_parent ON session_messages (session, parent);

-- They count as text of their namespace.
UPDATE namespaces SET bytes = namespaces.bytes + u.bytes
  FROM (SELECT namespace, sum(bytes) bytes FROM sessions WHERE erased = 0 GROUP BY namespace) u WHERE u.namespace = namespaces.id;
CREATE TRIGGER sessions_come AFTER INSERT ON sessions WHEN NEW.erased = 0 AND NEW.bytes > 0 BEGIN
  UPDATE namespaces SET bytes = bytes + NEW.bytes WHERE id = NEW.namespace;
END;
CREATE TRIGGER sessions_grow AFTER UPDATE OF bytes, erased ON sessions WHEN OLD.bytes <> NEW.bytes OR OLD.erased <> NEW.erased BEGIN
  UPDATE namespaces SET bytes = bytes + (NEW.erased = 0) * NEW.bytes - (OLD.erased = 0) * OLD.bytes WHERE id = NEW.namespace;
END;
CREATE TRIGGER sessions_go AFTER DELETE ON sessions WHEN OLD.erased = 0 BEGIN
  UPDATE namespaces SET bytes = bytes - OLD.bytes WHERE id = OLD.namespace;
END;
