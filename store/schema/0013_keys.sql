-- API keys. hash is the SHA-256 of the key's text, which is nowhere.
CREATE TABLE keys (
  id         TEXT    PRIMARY KEY,
  name       TEXT    NOT NULL,
  prefix     TEXT    NOT NULL UNIQUE,
  hash       BLOB    NOT NULL,
  role       TEXT    NOT NULL,
  namespaces TEXT    NOT NULL,  -- names, as a JSON array; [] is all
  user       TEXT    NOT NULL,  -- '' is any
  created    INTEGER NOT NULL,  -- Unix microseconds, as all times here
  expires    INTEGER,
  revoked    INTEGER,
  used       INTEGER
) STRICT;
