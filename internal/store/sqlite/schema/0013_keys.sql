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

-- What a server was asked to change, by whom, and with what result. It holds names and
-- no contents.
CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  at        INTEGER NOT NULL,
  key       TEXT    NOT NULL, -- id of the API key; '' without one
  request   TEXT    NOT NULL,
  operation TEXT    NOT NULL,
  namespace TEXT    NOT NULL, -- '' if it is about none
  target    TEXT    NOT NULL, -- id of what it is about; '' once that is erased
  status    INTEGER NOT NULL
) STRICT;
