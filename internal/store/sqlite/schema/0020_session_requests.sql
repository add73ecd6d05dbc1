-- The request that made a session, where that may be sent again, and what makes what callers see
-- of its versions say nothing of other sessions.
ALTER TABLE sessions ADD COLUMN request TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN salt TEXT NOT NULL DEFAULT '';
UPDATE sessions SET salt = hex(randomblob(16));
