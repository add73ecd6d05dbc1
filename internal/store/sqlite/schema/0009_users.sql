-- The items of one user among those of many.
CREATE INDEX IF NOT EXISTS items_user ON items (namespace, kind, user) WHERE superseded IS NULL;
