-- Who said the units of conversations, apart from them: the index reads them all
-- without walking over texts, and the units of documents have no row.
CREATE TABLE voices (
  unit  INTEGER PRIMARY KEY REFERENCES units (id) ON DELETE CASCADE,
  role  TEXT    NOT NULL,
  name  TEXT    NOT NULL,
  timed INTEGER NOT NULL -- 1 if the unit speaks of a time
);
