-- Documents with the same text: it is stored once.
-- text_hash finds them. text_of is the row whose text the row shares; NULL has its own.
ALTER TABLE items ADD COLUMN text_hash BLOB;
ALTER TABLE items ADD COLUMN text_of INTEGER;
CREATE INDEX items_text ON items (namespace, text_hash) WHERE text_hash IS NOT NULL AND seq > 0;
CREATE INDEX items_text_of ON items (text_of) WHERE text_of IS NOT NULL;

-- By which nearly the same texts are found.
ALTER TABLE items ADD COLUMN sketch BLOB;
