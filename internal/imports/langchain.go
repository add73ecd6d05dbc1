package imports

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// langChainRows lists the records of all collections. A record that is too long has neither text nor metadata.
const langChainRows = `SELECT c.name, r.id, r.bytes, CASE WHEN r.bytes <= $1 THEN r.document END,
		CASE WHEN r.bytes <= $1 THEN r.metadata END
	FROM (SELECT e.collection_id, %s AS id, e.document, e.cmetadata::text AS metadata,
			coalesce(octet_length(e.document), 0) + coalesce(octet_length(e.cmetadata::text), 0) AS bytes
		FROM langchain_pg_embedding e) r
	JOIN langchain_pg_collection c ON c.uuid = r.collection_id ORDER BY c.name, r.id`

// hasNewIDs reports whether the records have ids as langchain-postgres writes them. Those of langchain-community have a
// UUID, and an id of their own if the caller gave one.
const hasNewIDs = `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('langchain_pg_embedding') AND attname = 'id')`

// pythonDriver is the part of a URL of SQLAlchemy that names a driver.
var pythonDriver = regexp.MustCompile(`^postgres(?:ql)?\+\w+:`)

const langChainTimeout = 30 * time.Second // to connect

// langChain reads the records that LangChain's PGVector has in a PostgreSQL database.
func langChain(ctx context.Context, source string, emit func(Item) error) error {
	config, err := pgx.ParseConfig(pythonDriver.ReplaceAllString(source, "postgres:"))
	if err != nil { // the error may quote the password
		return ragctx.Invalid("source", "is no URL of a database; write it as postgres://user@host/name, with the password in PGPASSWORD")
	}
	config.ConnectTimeout = langChainTimeout
	config.DialFunc = httpclient.Dial(net.Dialer{})
	config.LookupFunc = httpclient.Unresolved
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["client_encoding"] = "UTF8"
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	id, isNew := "coalesce(e.custom_id, e.uuid::text)", false
	if err := db.QueryRow(ctx, hasNewIDs).Scan(&isNew); err != nil {
		return err
	}
	if isNew {
		id = "e.id::text"
	}
	rows, err := db.Query(ctx, fmt.Sprintf(langChainRows, id), maxElement)
	if err != nil {
		return fmt.Errorf("%s has no tables of LangChain's PGVector: %w", config.Database, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := emitLangChain(rows, emit); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the tables of LangChain's PGVector in %s: %w", config.Database, err)
	}
	return nil
}

func emitLangChain(row pgx.Row, emit func(Item) error) error {
	var collection, id string
	var bytes int
	var text, metadata *string
	if err := row.Scan(&collection, &id, &bytes, &text, &metadata); err != nil {
		return err
	}
	name := collection + "/" + id
	if bytes > maxElement {
		return emit(Item{Name: name, Err: ragctx.TooLarge("record", "is longer than %d MiB", maxElement>>20)})
	}
	var fields ragctx.Metadata
	if metadata != nil {
		if err := fields.UnmarshalJSON([]byte(*metadata)); err != nil {
			return emit(Item{Name: name, Err: ragctx.Invalid("cmetadata", "cannot be read: %v", err)})
		}
	}
	if text == nil {
		text = new(string)
	}
	d := record("langchain/"+name, *text, fields)
	if d == nil {
		return emit(Item{Name: name, LeftOut: "records without a text"})
	}
	return emit(Item{Name: name, Document: d})
}
