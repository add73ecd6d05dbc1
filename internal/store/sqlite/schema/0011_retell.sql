-- How often a turn was noted to be told again: what was told before that does not end
-- the note.
ALTER TABLE untold ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
