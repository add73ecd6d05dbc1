-- What SQLite has built in and the statements of the store use; see the fragments of the dialect.

-- Text that is compared by its bytes wherever a function returns it.
CREATE DOMAIN ragctx_text AS TEXT COLLATE "C";

-- The elements of a JSON array or the members of an object. Numbers keep their digits in json.
CREATE FUNCTION ragctx_each(document TEXT)
RETURNS TABLE (id BIGINT, key ragctx_text, value ragctx_text, type TEXT, "json" ragctx_text)
LANGUAGE SQL IMMUTABLE PARALLEL SAFE ROWS 10 AS $$
  SELECT e.n, e.k, CASE json_typeof(e.v) WHEN 'null' THEN NULL ELSE e.v #>> '{}' END,
    CASE json_typeof(e.v) WHEN 'string' THEN 'text' ELSE json_typeof(e.v) END, e.v::text
  FROM (
    SELECT a.n, (a.n - 1)::text AS k, a.v FROM json_array_elements(
      CASE json_typeof(document::json) WHEN 'array' THEN document::json ELSE '[]' END) WITH ORDINALITY AS a (v, n)
    UNION ALL
    SELECT o.n, o.k, o.v FROM json_each(
      CASE json_typeof(document::json) WHEN 'object' THEN document::json ELSE '{}' END) WITH ORDINALITY AS o (k, v, n)
  ) AS e
$$;

-- A document without the member that a path of one name names.
CREATE FUNCTION ragctx_json_remove(document TEXT, path TEXT) RETURNS ragctx_text LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT (document::jsonb - substr(path, 3))::text
$$;

-- An array with one more text at its end.
CREATE FUNCTION ragctx_json_insert(document TEXT, path TEXT, value TEXT) RETURNS ragctx_text LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT (document::jsonb || to_jsonb(value))::text
$$;

-- The number that a path of one name names.
CREATE FUNCTION ragctx_json_extract(document TEXT, path TEXT) RETURNS BIGINT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT (document::json ->> substr(path, 3))::bigint
$$;

CREATE FUNCTION ragctx_json_valid(document TEXT) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF document IS NULL THEN RETURN NULL; END IF;
  PERFORM document::json;
  RETURN true;
EXCEPTION WHEN data_exception THEN
  RETURN false;
END $$;

-- exp fails where its result is nearly zero.
CREATE FUNCTION ragctx_exp(x DOUBLE PRECISION) RETURNS DOUBLE PRECISION LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN x < -700 THEN 0 ELSE exp(x) END
$$;

-- The text of an item with its ASCII letters folded.
CREATE FUNCTION ragctx_lower(document BYTEA) RETURNS ragctx_text LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(convert_from(document, 'UTF8') COLLATE "C")
$$;
