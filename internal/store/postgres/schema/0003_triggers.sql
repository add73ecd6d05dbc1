-- The counts of namespaces.
CREATE FUNCTION ragctx_count(ns BIGINT, kind BIGINT, by BIGINT, bytes BIGINT) RETURNS VOID LANGUAGE SQL AS $$
  UPDATE namespaces n SET documents = n.documents + CASE ragctx_count.kind WHEN 1 THEN by ELSE 0 END,
    memories = n.memories + CASE ragctx_count.kind WHEN 2 THEN by ELSE 0 END, bytes = n.bytes + by * ragctx_count.bytes WHERE n.id = ns
$$;

CREATE FUNCTION ragctx_items_counted() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF OLD.superseded IS NULL AND (TG_OP = 'DELETE' OR NEW.superseded IS NOT NULL) THEN
      PERFORM ragctx_count(OLD.namespace, OLD.kind, -1, OLD.bytes);
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.superseded IS NULL AND (TG_OP = 'INSERT' OR OLD.superseded IS NOT NULL) THEN
      PERFORM ragctx_count(NEW.namespace, NEW.kind, 1, NEW.bytes);
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER items_counted AFTER INSERT OR DELETE OR UPDATE OF superseded ON items FOR EACH ROW EXECUTE FUNCTION ragctx_items_counted();

CREATE FUNCTION ragctx_sessions_counted() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF OLD.erased = 0 AND OLD.bytes <> 0 THEN
      UPDATE namespaces SET bytes = bytes - OLD.bytes WHERE id = OLD.namespace;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.erased = 0 AND NEW.bytes <> 0 THEN
      UPDATE namespaces SET bytes = bytes + NEW.bytes WHERE id = NEW.namespace;
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_counted AFTER INSERT OR DELETE OR UPDATE OF bytes, erased ON sessions
  FOR EACH ROW EXECUTE FUNCTION ragctx_sessions_counted();

-- Writers that took the id of a namespace before it was erased write nothing. Items are
-- met by the change that makes one visible.
CREATE FUNCTION ragctx_not_erased() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM namespaces WHERE id = NEW.namespace AND erased = 1) THEN
    RAISE EXCEPTION 'the namespace is erased' USING ERRCODE = 'RC001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER changes_erased BEFORE INSERT ON changes FOR EACH ROW WHEN (NEW.op = 1) EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER turns_erased BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER history_erased BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER quarantine_erased BEFORE INSERT ON quarantine FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER procedures_erased BEFORE INSERT ON procedures FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER ledgers_erased BEFORE INSERT ON ledgers FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER session_providers_erased BEFORE INSERT ON session_providers FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();
CREATE TRIGGER sessions_erased BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION ragctx_not_erased();

-- Tells this database from others, whatever it is copied to.
INSERT INTO settings (key, value) VALUES ('database', replace(gen_random_uuid()::text, '-', ''));
