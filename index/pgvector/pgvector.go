// Package pgvector keeps the indexes of all collections in a PostgreSQL database with the extension pgvector. This process has the
// catalog of each open collection, in memory; it is read from the store when the collection is opened.
//
// The tables are in a schema of their own (schema.sql): one of words for all collections, and one of vectors for each embedding space. A
// batch of changes is applied in one transaction, together with the cursor.
package pgvector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/pgclient"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

const (
	defaultSchema = "ragctx_index"
	maxSchema     = 40
	schemaLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	schemaParam   = "schema"
	publicSchema  = "public" // other programs have tables in it
	poolParam     = "pool_"
	layout        = "1" // of the rows; another one makes the indexes anew
)

//go:embed schema.sql
var tables string

// Options configure an [Opener].
type Options struct {
	// URL is postgres://user@host/name, as for the store. The parameter schema names the schema of the tables, "ragctx_index" by
	// default: each database of ragctx needs its own.
	URL string
	// Follows reports whether another process writes to the indexes, from the same changes. This one then only reads. nil is never.
	Follows func() bool
	Logger  *slog.Logger // nil is silent
}

// Serves reports whether the URL of an index is one of a PostgreSQL database.
func Serves(raw string) bool {
	return strings.HasPrefix(raw, "postgres://") || strings.HasPrefix(raw, "postgresql://")
}

// Check returns an error that matches [ragctx.ErrInvalid] unless raw is a URL for [Options].
func Check(raw string) error {
	_, _, err := parse(raw)
	return err
}

// parse returns the configuration of connections, and the schema.
func parse(raw string) (config *pgxpool.Config, schema string, err error) {
	u, err := url.Parse(raw)
	if err != nil || !Serves(raw) {
		return nil, "", ragctx.Invalid("index", "is no URL of a database; write it as postgres://user@host/name")
	}
	params := u.Query()
	if schema = params.Get(schemaParam); schema == "" {
		schema = defaultSchema
	}
	if schema == publicSchema || strings.Trim(schema, schemaLetters) != "" || len(schema) > maxSchema {
		return nil, "", ragctx.Invalid("index",
			"has the schema %q; use one of its own, of at most %d small letters, digits and underscores", ragctx.Clip(schema), maxSchema)
	}
	params.Del(schemaParam)
	for name := range params {
		if strings.HasPrefix(name, poolParam) {
			return nil, "", ragctx.Invalid("index", "has the parameter %s; remove it: there are at most %d connections",
				ragctx.Clip(name), maxConnections)
		}
	}
	u.RawQuery = params.Encode()
	one, err := pgclient.Config("index", u.String())
	if err != nil {
		return nil, "", err
	}
	if config, err = pgxpool.ParseConfig(u.String()); err != nil {
		return nil, "", fmt.Errorf("index: %w", err) // which the line above has reported
	}
	config.ConnConfig = one
	config.MaxConns, config.MaxConnIdleTime = maxConnections, time.Minute
	maps.Copy(one.RuntimeParams, map[string]string{
		"search_path":         `"` + schema + `", "$user", public, extensions`,
		"lock_timeout":        fmt.Sprint(writeTime.Milliseconds()),
		"plan_cache_mode":     "force_custom_plan", // a plan depends on the words and the collection
		"jit":                 "off",
		"enable_seqscan":      "off", // the planner prefers it for many words, or without statistics
		"hnsw.ef_search":      efSearch,
		"hnsw.iterative_scan": "relaxed_order",
	})
	return config, schema, nil
}

// Connections, and writes at the same time: those that wait for a lock leave connections to searches.
const (
	maxConnections = 16
	maxWrites      = 8
)

// Limits of a search, and of a write with as many times rowTime as it has rows. A collection that is dropped may have millions.
const (
	searchTime = 3 * time.Second
	writeTime  = 10 * time.Second
	rowTime    = 50 * time.Millisecond
	dropTime   = 10 * time.Minute
)

// Opener opens indexes in a database.
type Opener struct {
	pool    *pgxpool.Pool
	schema  string
	follows func() bool
	writes  chan struct{} // has the writes under way
	log     *slog.Logger
	dog     *httpclient.Watchdog
	back    httpclient.Signal

	mu    sync.Mutex
	known map[string]bool // the tables of words and vectors that exist
}

var (
	_ index.Opener = (*Opener)(nil)
	_ index.Shared = (*Opener)(nil)
)

// New returns an opener. It opens no connection.
func New(o Options) (*Opener, error) {
	config, schema, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	p := &Opener{
		schema: schema, follows: o.Follows, writes: make(chan struct{}, maxWrites), log: o.Logger, known: make(map[string]bool),
	}
	if p.follows == nil {
		p.follows = func() bool { return false }
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	one := config.ConnConfig.Copy()
	one.ConnectTimeout = httpclient.PingTime
	p.dog = httpclient.NewWatchdog(one.Host, func(ctx context.Context) error { return ping(ctx, one) }, &p.back, p.log)
	return p, nil
}

// ping connects to the server. An error that the server reports is an answer, unless it is starting or being shut down.
func ping(ctx context.Context, config *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, httpclient.PingTime) // that of the configuration holds for each of several hosts
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, config)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && !strings.HasPrefix(e.Code, shutDown) {
		return nil
	}
	if err != nil {
		return err
	}
	_ = c.Close(ctx) // it has answered
	return nil
}

// closeTime is how long [Opener.Close] waits for the server. Connections to one that hangs end later.
const closeTime = 2 * time.Second

// Close ends all requests, and closes the connections.
func (p *Opener) Close() error {
	p.dog.Close()
	closed := make(chan struct{})
	go func() { p.pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	return nil
}

// Open implements [index.Opener]. The engine is an [index.Hybrid] with both indexes in the database. It opens while the server is
// away: it is degraded then, and opens its indexes when the server answers.
func (p *Opener) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	if err := checkSpace(o.Space); err != nil {
		return nil, err
	}
	h, err := index.Open(ctx, index.Options{
		Feed: o.Feed, Space: o.Space, Origin: o.Origin, Knows: o.Knows, Monitor: o.Monitor, Deferred: o.Deferred,
		Keyword: func(ctx context.Context) (index.KeywordIndex, error) { return p.openWords(ctx, o) },
		Vector:  func(ctx context.Context, s index.Space) (index.VectorIndex, error) { return p.openVectors(ctx, o, s) },
		Back:    p.back.Next,
		Logger:  p.log.With("namespace", o.Namespace, "kind", o.Kind),
	})
	if err != nil {
		return nil, err
	}
	return hybrid{h}, nil
}

func (p *Opener) openWords(ctx context.Context, o index.Opening) (*keywordIndex, error) {
	x := p.newWords(o)
	return x, x.open(ctx, o.Knows, "")
}

func (p *Opener) newWords(o index.Opening) *keywordIndex {
	return &keywordIndex{part: p.part(o, "", wordTable, layout+"-"+analysis.Version), candidatesUpTo: candidates}
}

func (p *Opener) openVectors(ctx context.Context, o index.Opening, s index.Space) (*vectorIndex, error) {
	x := p.newVectors(o, s)
	return x, x.open(ctx, o.Knows, x.making())
}

func (p *Opener) newVectors(o index.Opening, s index.Space) *vectorIndex {
	return &vectorIndex{part: p.part(o, s.Name, vectorTable(s), layout+"-"+s.Identity), dim: s.Dimensions, scanUpTo: scanUpTo}
}

// Has implements [index.Shared].
func (p *Opener) Has(ctx context.Context, o index.Opening, seq uint64) (bool, error) {
	words, vectors := p.newWords(o), p.newVectors(o, o.Space)
	if ours, err := words.load(ctx, o.Knows, ""); err != nil || !ours || words.saved < seq {
		return false, err
	}
	ours, err := vectors.load(ctx, o.Knows, vectors.making())
	return ours && vectors.saved >= seq, err
}

func (p *Opener) part(o index.Opening, space, table, format string) part {
	return part{Opener: p, of: o.Collection, space: space, table: table, format: format, origin: o.Origin}
}

// vectorTables makes the table of an embedding space.
const vectorTables = `
CREATE TABLE %[1]s (collection int NOT NULL, chunk bigint NOT NULL, vector vector(%[2]d) NOT NULL, PRIMARY KEY (collection, chunk));
CREATE INDEX ON %[1]s USING hnsw (vector vector_cosine_ops);`

// making returns the statements that make the table.
func (x *vectorIndex) making() string { return fmt.Sprintf(vectorTables, quoted(x.table), x.dim) }

const (
	wordTable    = "words"
	wordIndex    = "words_terms" // there if the tables are ours
	vectorPrefix = "vectors_"
)

// vectorTable returns the name of the table of an embedding space.
func vectorTable(s index.Space) string {
	return fmt.Sprintf("%s%d_%x", vectorPrefix, s.Dimensions, s.Name)
}

func quoted(table string) string { return pgx.Identifier{table}.Sanitize() }

// hybrid is an [index.Hybrid] that rejects embedding spaces that the server cannot hold.
type hybrid struct{ *index.Hybrid }

// Prepare implements [index.Spaces].
func (h hybrid) Prepare(ctx context.Context, to index.Space) error {
	if err := checkSpace(to); err != nil {
		return err
	}
	return h.Hybrid.Prepare(ctx, to)
}

// maxDimensions is the limit of pgvector's graph.
const maxDimensions = 2000

func checkSpace(s index.Space) error {
	switch {
	case s.Interim != nil:
		return ragctx.Invalid("embedder",
			"has interim vectors, which an index in PostgreSQL does not hold; use static, minilm or a service")
	case s.Dimensions > maxDimensions:
		return ragctx.Invalid("embedder", "has %d dimensions; pgvector indexes at most %d: use a smaller model or an index in files",
			s.Dimensions, maxDimensions)
	}
	return nil
}

// ensure makes the schema and a table unless they exist.
func (p *Opener) ensure(ctx context.Context, table, making string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[table] {
		return nil
	}
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "ragctx index "+p.schema); err != nil {
			return err
		}
		if there, err := exists(ctx, tx, p.schema, wordIndex); err != nil {
			return err
		} else if !there {
			if _, err := tx.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS vector SCHEMA "+publicSchema); err != nil {
				return p.extensionError(err)
			}
			if err := p.checkVersion(ctx, tx); err != nil {
				return err
			}
			if err := p.create(ctx, tx); err != nil {
				return p.tablesError(err)
			}
		}
		if there, err := exists(ctx, tx, p.schema, table); there || err != nil {
			return err
		}
		_, err := tx.Exec(ctx, making)
		return p.tablesError(err)
	})
	if err == nil {
		p.known[table] = true
	}
	return wrap(ctx, err)
}

// checkVersion rejects an extension that cannot continue a search until enough vectors pass.
func (p *Opener) checkVersion(ctx context.Context, tx pgx.Tx) error {
	var version string
	var old bool
	err := tx.QueryRow(ctx, "SELECT extversion, (split_part(extversion, '.', 1)::int, split_part(extversion, '.', 2)::int) < (0, 8) "+
		"FROM pg_extension WHERE extname = 'vector'").Scan(&version, &old)
	if err == nil && old {
		err = fmt.Errorf("the extension vector of the database %s is %s; install pgvector 0.8 or later there, "+
			"then run ALTER EXTENSION vector UPDATE", p.pool.Config().ConnConfig.Database, version)
	}
	return err
}

// create makes the schema, unless a role with more rights has made it, and its tables.
func (p *Opener) create(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", quoted(p.schema)).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+quoted(p.schema)); err != nil {
			return err
		}
	} else if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1)", p.schema).Scan(&there); err != nil {
		return err
	} else if there {
		return ragctx.Invalid("index", "has the schema %s, which has tables of another program; name one of its own with ?%s=",
			p.schema, schemaParam)
	}
	_, err := tx.Exec(ctx, tables)
	return err
}

func exists(ctx context.Context, tx pgx.Tx, schema, table string) (there bool, err error) {
	err = tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", pgx.Identifier{schema, table}.Sanitize()).Scan(&there)
	return there, err
}

// Codes of errors of the server, and the beginnings of codes.
const (
	lostConnection = "08"
	noResources    = "53"
	shutDown       = "57"

	readOnly  = "25006"
	noRights  = "42501"
	noFeature = "0A000"
	noFile    = "58P01"
	noTable   = "42P01"
	noType    = "42704"
)

func isCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	for _, c := range codes {
		if ok && e.Code == c {
			return true
		}
	}
	return false
}

// extensionError adds the remedy to an error of the creation of the extension.
func (p *Opener) extensionError(err error) error {
	switch database := p.pool.Config().ConnConfig.Database; {
	case isCode(err, noRights):
		return fmt.Errorf("the database %s has no extension vector; a superuser must run CREATE EXTENSION vector in it: %w", database, err)
	case isCode(err, noFeature, noFile):
		return fmt.Errorf("the server has no extension vector; install pgvector there, "+
			"then run CREATE EXTENSION vector in the database %s: %w", database, err)
	}
	return err
}

// tablesError adds the remedy to an error of the creation of tables.
func (p *Opener) tablesError(err error) error {
	switch c := p.pool.Config().ConnConfig; {
	case isCode(err, noRights):
		return fmt.Errorf("the role %[1]s may not make the tables of the indexes; the owner of the database must run "+
			"CREATE SCHEMA %[2]s AUTHORIZATION %[1]s: %[3]w", quoted(c.User), quoted(p.schema), err)
	case isCode(err, noType):
		return fmt.Errorf("the extension vector is in a schema that is not searched; its owner must run "+
			"ALTER EXTENSION vector SET SCHEMA %s in the database %s: %w", publicSchema, c.Database, err)
	}
	return err
}

// wrap makes an error of the server match [ragctx.ErrUnavailable]. It returns the error of a context that has ended.
func wrap(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, index.ErrAway) || errors.Is(err, ragctx.ErrInvalid):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case isAway(err):
		return fmt.Errorf("%w: pgvector: %w", index.ErrAway, err)
	case errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, ragctx.ErrClosed):
		return err
	}
	return fmt.Errorf("%w: pgvector: %w", ragctx.ErrUnavailable, err)
}

// isAway reports whether an error concerns all collections: no connection can be made, it was lost, the server is being shut down, it
// lacks resources, may not be written to, or does not answer in time.
func isAway(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{lostConnection, noResources, shutDown}, e.Code[:min(2, len(e.Code))]) || e.Code == readOnly
	}
	return httpclient.IsAway(err) || pgconn.SafeToRetry(err)
}

// do calls f with a context that ends after a limit, unless the server has no schema yet.
func (p *Opener) do(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.dog.Do(short, f)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == noTable {
		p.mu.Lock()
		clear(p.known)
		p.mu.Unlock()
	} else if ok && strings.HasPrefix(e.Code, shutDown) {
		p.dog.Check()
	}
	return wrap(ctx, err)
}

// change calls f like do, once fewer than [maxWrites] others write.
func (p *Opener) change(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	select {
	case p.writes <- struct{}{}:
		defer func() { <-p.writes }()
		return p.do(ctx, limit, f)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// vectorNames are the names that [vectorTable] returns.
const vectorNames = vectorPrefix + `\d+_[0-9a-f]*`

// tablesOf returns the tables of the schema whose names match a pattern.
func (p *Opener) tablesOf(ctx context.Context, pattern string) ([]string, error) {
	rows, _ := p.pool.Query(ctx, "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2",
		p.schema, "^("+pattern+")$")
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// vacuum removes deleted rows from tables and their indexes.
func (p *Opener) vacuum(ctx context.Context, tables ...string) error {
	for _, t := range tables {
		err := p.dog.Do(ctx, func(ctx context.Context) error {
			_, err := p.pool.Exec(ctx, "VACUUM (INDEX_CLEANUP ON) "+quoted(t))
			return err
		})
		if err != nil {
			return wrap(ctx, err)
		}
	}
	return nil
}

// Drop implements [index.Opener].
func (p *Opener) Drop(ctx context.Context, c index.Collection) error {
	return p.change(ctx, dropTime, func(ctx context.Context) error {
		names, err := p.tablesOf(ctx, wordTable+"|"+vectorNames)
		if err != nil || len(names) == 0 {
			return err
		}
		err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			return remove(ctx, tx, names, "namespace = $1 AND kind = $2", c.Namespace, c.Kind)
		})
		if err != nil {
			return err
		}
		return p.vacuum(ctx, names...)
	})
}

// remove deletes the collections that a condition selects, and then their rows in some tables: it waits for a write that has changed
// the row of a collection, and later ones fail.
func remove(ctx context.Context, tx pgx.Tx, tables []string, where string, args ...any) error {
	rows, _ := tx.Query(ctx, "DELETE FROM collections WHERE "+where+" RETURNING id", args...)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	for _, t := range tables {
		if err == nil {
			_, err = tx.Exec(ctx, "DELETE FROM "+quoted(t)+" WHERE collection = ANY($1)", ids)
		}
	}
	return err
}

// KeepSpace implements [index.Opener].
func (p *Opener) KeepSpace(ctx context.Context, space string) error {
	if p.follows() {
		return nil
	}
	return p.change(ctx, writeTime, func(ctx context.Context) error {
		names, err := p.tablesOf(ctx, vectorNames)
		if err != nil || len(names) == 0 {
			return err
		}
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			for _, name := range names {
				if strings.HasSuffix(name, fmt.Sprintf("_%x", space)) {
					continue
				}
				if _, err := tx.Exec(ctx, "DROP TABLE "+quoted(name)); err != nil {
					return err
				}
			}
			p.mu.Lock()
			clear(p.known)
			p.mu.Unlock()
			return remove(ctx, tx, nil, "space NOT IN ('', $1)", space)
		})
	})
}

// Newest implements [index.Opener]. It returns no change: an index of another or an older store is found when it is opened.
func (p *Opener) Newest(context.Context) (uint64, string, error) { return 0, "", nil }

// Size implements [index.Opener].
func (p *Opener) Size(ctx context.Context) (bytes int64, err error) {
	err = p.do(ctx, searchTime, func(ctx context.Context) error {
		return p.pool.QueryRow(ctx, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "+
			"JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'", p.schema).Scan(&bytes)
	})
	return bytes, err
}
