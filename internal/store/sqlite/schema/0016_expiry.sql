-- What expires, for finding out until when an answer holds; few items do.
CREATE INDEX items_expires ON items(namespace, expires) WHERE expires IS NOT NULL;
