// Package imports reads the exports and stores of other systems. A reader turns one format into
// documents, memories and turns. The ids of these are stable, so that a second import of the same
// source changes nothing.
package imports

import (
	"context"
	"time"

	"github.com/ragctx/ragctx"
)

// Item is one thing in a source. Exactly one field besides Name is set.
type Item struct {
	// Name is the place in the source, such as "general/2024-05-01.json".
	Name string

	Document *ragctx.Document
	Memory   *ragctx.Memory
	Turn     *ragctx.Turn
	// LeftOut is the reason why the thing is not imported, although it can be read.
	LeftOut string
	// Err is the reason why the thing cannot be read.
	Err error
}

// Kind is a format that can be imported.
type Kind struct {
	Name   string // such as "slack"
	Source string // placeholder of the source in help texts, such as "ZIP"
	What   string // description
	// Read calls emit for each item of a source and ends with its first error. An item that cannot be read
	// does not end it.
	Read func(ctx context.Context, source string, emit func(Item) error) error
}

// Kinds returns the formats in order of their names.
func Kinds() []Kind {
	return []Kind{
		{"chatgpt", "ZIP", "conversations of an export of ChatGPT as turns", conversations("chatgpt", chatGPT)},
		{"chroma", "DIR", "documents of a persistent client of Chroma", chroma},
		{"claude", "ZIP", "conversations of an export of Claude as turns, and documents of projects", claude},
		{"jsonl", "FILE", "documents, memories and turns as JSON lines", jsonLines},
		{"langchain-pg", "URL", "documents of LangChain's PGVector in a PostgreSQL database", langChain},
		{"mem0", "FILE", "memories of mem0 as JSON", mem0},
		{"notion", "ZIP", "pages and tables of an export of Notion as Markdown & CSV", notion},
		{"obsidian", "DIR", "notes of a vault of Obsidian", obsidian},
		{"qdrant", "URL|DIR", "payloads of a server of Qdrant, or of the local mode of its Python client", qdrant},
		{"slack", "ZIP", "channels of an export of Slack, a document per channel and day", slack},
	}
}

// seconds converts seconds since 1970. Zero is no time.
func seconds(s float64) time.Time {
	if !(s > 0 && s < 1e11) {
		return time.Time{}
	}
	return time.UnixMicro(int64(s * 1e6)).UTC()
}

// parseTime reads the times of exports. It returns the zero time for any other text.
func parseTime(s string) time.Time {
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
