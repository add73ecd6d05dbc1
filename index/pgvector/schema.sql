-- The tables of the indexes, in a schema of their own that is first in the search path.

-- A row for each index of a namespace: of its words, or of its vectors in one embedding space.
CREATE TABLE collections (
  id        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace bigint NOT NULL,
  kind      text NOT NULL,
  space     text NOT NULL, -- empty for words
  format    text NOT NULL, -- the rules by which the rows were made
  origin    text NOT NULL, -- the state of the store that they were made of
  seq       bigint NOT NULL DEFAULT 0,
  chunks    bigint NOT NULL DEFAULT 0,
  items     bigint NOT NULL DEFAULT 0,
  length    bigint NOT NULL DEFAULT 0, -- words of all chunks
  UNIQUE (namespace, kind, space)
);

-- A lexeme is the number of the collection, a colon and a term, so that the index needs no other column to tell namespaces apart.
CREATE TABLE words (
  collection  int NOT NULL,
  chunk       bigint NOT NULL,
  item        bigint NOT NULL,
  place       int NOT NULL, -- among the chunks of the item, from 0
  chunks      int NOT NULL, -- of the item
  length      int NOT NULL, -- words of the chunk
  item_length int NOT NULL,
  words       tsvector NOT NULL, -- words, each with as many positions as it counts, and pairs of words
  grams       tsvector NOT NULL,
  PRIMARY KEY (collection, chunk)
) WITH (toast_tuple_target = 8160);
ALTER TABLE words ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX words_terms ON words USING gin (words, grams) WITH (gin_pending_list_limit = 1024);

-- frequency returns how many positions a lexeme has. The rank of one lexeme is a partial sum of 1/n² divided by its limit.
CREATE FUNCTION frequency(words tsvector, lexeme tsquery) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  width_bucket(ts_rank('{1,1,1,1}', words, lexeme)::float8 * pi() ^ 2 / 6, ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615, 1.5679, 1.5734, 1.5782, 1.5824]);
