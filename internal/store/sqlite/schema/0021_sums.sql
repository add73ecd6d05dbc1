-- What tells damage and loss: see sums.go and state.go.

-- Checksums of rows, added up by table and by range of their first column. The row of no
-- table counts the transactions.
CREATE TABLE sums (
  bucket INTEGER NOT NULL,
  tab    TEXT    NOT NULL,
  sum    INTEGER NOT NULL,
  PRIMARY KEY (bucket, tab)
) STRICT, WITHOUT ROWID;

-- Whoever erases a document takes its id from all items of jobs.
DROP INDEX job_items_open;
CREATE INDEX job_items_key ON job_items (key);

-- Tells this database from others, whatever it is copied to.
INSERT INTO settings (key, value) VALUES ('database', lower(hex(randomblob(16)))) ON CONFLICT DO NOTHING;
