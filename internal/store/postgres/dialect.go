package postgres

import (
	"context"
	"database/sql/driver"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// dialect is the dialect of PostgreSQL.
var dialect = sqlstore.Dialect{
	Insert: func(ctx context.Context, run sqlstore.Execer, id, query string, args ...any) (n int64, err error) {
		err = run.QueryRowContext(ctx, query+` RETURNING `+id, args...).Scan(&n)
		return n, err
	},
	NewestChange: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM changes_seq_seq`,
	Erased:       "\x01", // PostgreSQL has no NUL in texts
}

// fragments are the parts of statements that PostgreSQL spells otherwise. The functions are in
// schema/0001_functions.sql.
var fragments = strings.NewReplacer(
	`json_each(`, `ragctx_each(`,
	`json_remove(`, `ragctx_json_remove(`,
	`json_insert(`, `ragctx_json_insert(`,
	`json_valid(`, `ragctx_json_valid(`,
	`json_extract(`, `ragctx_json_extract(`,
	`exp(-max(0,`, `ragctx_exp(-greatest(0,`,
	`instr(lower(x.text), lower(?))`, `strpos(ragctx_lower(x.text), lower(? COLLATE "C"))`,
	`i.metadata -> m.fullkey`, `m.json`,
	`SELECT ?1, 0 UNION ALL`, `SELECT CAST(?1 AS TEXT) COLLATE "C", 0 UNION ALL`,
	`CROSS JOIN`, `JOIN`, // a hint for SQLite's planner
)

// hints are SQLite's names of indexes to use.
var hints = regexp.MustCompile(` INDEXED BY \w+`)

// reserved are the names of columns that PostgreSQL reserves.
var reserved = map[string]bool{"user": true, "only": true}

// statement is a statement as PostgreSQL reads it.
type statement struct {
	text string
	args []int // the argument of each parameter, from 0
}

// statements caches translated statements by text.
var statements sync.Map

// longestCached is the length of a text from which on a translation is not cached: long ones have
// lists of many lengths.
const longestCached = 4 << 10

// translate returns a statement of package sqlstore as PostgreSQL reads it. A parameter that stands at
// several places becomes several: each gets the type of its place.
func translate(query string) statement {
	if s, ok := statements.Load(query); ok {
		return s.(statement) //nolint:forcetypeassert // there is nothing else in it
	}
	text := fragments.Replace(hints.ReplaceAllString(query, ""))
	s := statement{}
	var b strings.Builder
	last := 0 // highest argument so far
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			end := i + 1 + strings.IndexByte(text[i+1:], c) + 1
			b.WriteString(text[i:end])
			i = end
		case c == '?':
			end := i + 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			n := last + 1
			if end > i+1 {
				n, _ = strconv.Atoi(text[i+1 : end])
			}
			last = max(last, n)
			s.args = append(s.args, n-1)
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(len(s.args)))
			i = end
		case isLetter(c):
			end := i + 1
			for end < len(text) && (isLetter(text[end]) || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			if word := text[i:end]; reserved[word] {
				b.WriteString(`"` + word + `"`)
			} else {
				b.WriteString(word)
			}
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	s.text = b.String()
	if len(query) < longestCached {
		statements.Store(query, s)
	}
	return s
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// arrange returns the arguments of the statement's parameters.
func (s statement) arrange(args []driver.NamedValue) []driver.NamedValue {
	out := make([]driver.NamedValue, len(s.args))
	for i, at := range s.args {
		if at < len(args) {
			out[i] = driver.NamedValue{Ordinal: i + 1, Value: args[at].Value}
		}
	}
	return out
}
