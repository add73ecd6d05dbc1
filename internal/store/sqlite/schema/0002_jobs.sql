-- Work that outlives a request. A job is one row; what it works through may be
-- rows of job_items. Times are Unix microseconds; NULL is "not yet".
CREATE TABLE jobs (
  n           INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT    NOT NULL UNIQUE,
  kind        TEXT    NOT NULL,             -- who runs it: documents, folder, ...
  namespace   TEXT    NOT NULL DEFAULT '',  -- by name; '' is none or all
  state       TEXT    NOT NULL,             -- spooling, queued, running, done, failed, cancelled
  place       INTEGER,                      -- in the order of acceptance
  request     TEXT    NOT NULL DEFAULT '{}', -- JSON, the kind's own
  result      TEXT    NOT NULL DEFAULT '',   -- JSON, the kind's own
  stage       TEXT    NOT NULL DEFAULT '',
  items       INTEGER NOT NULL DEFAULT 0,   -- how many there are; 0 is unknown
  counts      TEXT    NOT NULL DEFAULT '{}', -- JSON
  chunks      INTEGER NOT NULL DEFAULT 0,   -- of documents that were written
  bytes       INTEGER NOT NULL DEFAULT 0,   -- of items that are dealt with
  written     INTEGER NOT NULL DEFAULT 0,   -- of those that were created or replaced
  total_bytes INTEGER NOT NULL DEFAULT 0,   -- of all items; 0 is unknown
  error       TEXT    NOT NULL DEFAULT '',  -- what ended the job, not a single item
  created     INTEGER NOT NULL,
  started     INTEGER,
  heartbeat   INTEGER,
  finished    INTEGER
);
CREATE INDEX jobs_active ON jobs (kind, place) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_finished ON jobs (finished) WHERE finished IS NOT NULL;

-- One row per item of a job that has any: each document of a bulk request, each
-- file that a folder's ingest left out. A body is there as long as the item may
-- have to be done: while it is pending, and after it failed.
CREATE TABLE job_items (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  job    INTEGER NOT NULL REFERENCES jobs (n) ON DELETE CASCADE,
  n      INTEGER NOT NULL,            -- counts from 1; the line or part of the request
  key    TEXT    NOT NULL,            -- id of the document, or path of the file
  op     TEXT    NOT NULL,            -- put, delete
  state  TEXT    NOT NULL,            -- pending, done, failed, skipped
  status TEXT    NOT NULL DEFAULT '', -- of a done item: created, replaced, unchanged, deleted
  field  TEXT    NOT NULL DEFAULT '', -- what the error is about
  error  TEXT    NOT NULL DEFAULT '',
  bytes  INTEGER NOT NULL DEFAULT 0,  -- of the text
  chunks INTEGER NOT NULL DEFAULT 0,
  body   BLOB                         -- JSON; last, so that lists do not walk over it
);
CREATE UNIQUE INDEX job_items_n ON job_items (job, n);
CREATE INDEX job_items_state ON job_items (job, state, n);
CREATE INDEX job_items_open ON job_items (key) WHERE state IN ('pending', 'failed');

-- Answers to requests that carried an Idempotency-Key, for a day. A row without
-- status belongs to a request that is under way, or was when the process ended.
CREATE TABLE idempotency (
  namespace TEXT    NOT NULL,
  route     TEXT    NOT NULL,             -- method and path template
  key       TEXT    NOT NULL,
  hash      BLOB    NOT NULL,             -- of the request
  seed      TEXT    NOT NULL,             -- the id of what the request makes, if it names none
  status    INTEGER,
  header    TEXT    NOT NULL DEFAULT '{}', -- JSON
  body      BLOB,
  created   INTEGER NOT NULL,
  PRIMARY KEY (namespace, route, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created);
