-- What namespaces hold and may hold at most, and those that were erased.

-- 1 once a namespace is erased. Its row stays without its name, so that its id is never
-- another's: the name is a NUL and the id, which no caller can ask for.
ALTER TABLE namespaces ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

-- What is current, kept by the triggers below, and the limits of it; 0 is none.
ALTER TABLE namespaces ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN memories INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN max_documents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN max_memories INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN max_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE namespaces SET documents = u.documents, memories = u.memories, bytes = u.bytes
  FROM (SELECT namespace, sum(kind = 1) documents, sum(kind = 2) memories, sum(bytes) bytes
    FROM items WHERE superseded IS NULL GROUP BY namespace) u WHERE u.namespace = namespaces.id;

CREATE TRIGGER items_come AFTER INSERT ON items WHEN NEW.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents + (NEW.kind = 1), memories = memories + (NEW.kind = 2), bytes = bytes + NEW.bytes
    WHERE id = NEW.namespace;
END;
CREATE TRIGGER items_return AFTER UPDATE OF superseded ON items WHEN OLD.superseded IS NOT NULL AND NEW.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents + (NEW.kind = 1), memories = memories + (NEW.kind = 2), bytes = bytes + NEW.bytes
    WHERE id = NEW.namespace;
END;
CREATE TRIGGER items_end AFTER UPDATE OF superseded ON items WHEN OLD.superseded IS NULL AND NEW.superseded IS NOT NULL BEGIN
  UPDATE namespaces SET documents = documents - (OLD.kind = 1), memories = memories - (OLD.kind = 2), bytes = bytes - OLD.bytes
    WHERE id = OLD.namespace;
END;
CREATE TRIGGER items_go AFTER DELETE ON items WHEN OLD.superseded IS NULL BEGIN
  UPDATE namespaces SET documents = documents - (OLD.kind = 1), memories = memories - (OLD.kind = 2), bytes = bytes - OLD.bytes
    WHERE id = OLD.namespace;
END;

-- Writers that took the id of a namespace before it was erased write nothing. Items are
-- met by the change that makes one visible.
CREATE TRIGGER changes_erased BEFORE INSERT ON changes WHEN NEW.op = 1 AND (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER turns_erased BEFORE INSERT ON turns WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER history_erased BEFORE INSERT ON history WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER quarantine_erased BEFORE INSERT ON quarantine WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER procedures_erased BEFORE INSERT ON procedures WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER ledgers_erased BEFORE INSERT ON ledgers WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
CREATE TRIGGER session_providers_erased BEFORE INSERT ON session_providers
    WHEN (SELECT erased FROM namespaces WHERE id = NEW.namespace) BEGIN
  SELECT RAISE(ABORT, 'the namespace is erased');
END;
