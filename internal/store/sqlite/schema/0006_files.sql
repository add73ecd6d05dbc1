-- The state of the file that a document was ingested from, when it was last read:
-- size, time and how it was read. A file in the same state is not read again. It is a
-- note about the row, not part of the version: it changes in place.
ALTER TABLE items ADD COLUMN stat TEXT NOT NULL DEFAULT '';

-- The page that a chunk begins on, from 1; 0 in a text without pages.
ALTER TABLE units ADD COLUMN page INTEGER NOT NULL DEFAULT 0;
