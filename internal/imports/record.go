package imports

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// textKeys are the names of a text in the payloads of vector stores and frameworks, in order of preference.
var textKeys = []string{"text", "page_content", "content", "document", "body", "chunk", "chunk_text"}

// record converts a payload of a vector store to a document. The fields that hold no text are metadata. It
// returns nil without a text. A given text comes before one of the payload, and that before one of its metadata.
func record(id, text string, payload map[string]any) *ragctx.Document {
	d := &ragctx.Document{ExternalID: id, Text: text, Metadata: map[string]any{}}
	nested, _ := payload["metadata"].(map[string]any) // LangChain's form
	for key, v := range payload {
		if v != nil && (key != "metadata" || nested == nil) {
			d.Metadata[key] = v
		}
	}
	if node, _ := payload["_node_content"].(string); node != "" { // LlamaIndex' form
		var in struct {
			Text string `json:"text"`
		}
		if json.Unmarshal([]byte(node), &in) == nil {
			d.Text = cmp.Or(d.Text, in.Text)
		}
		delete(d.Metadata, "_node_content")
	}
	takeText(d)
	for k, v := range nested {
		if _, taken := d.Metadata[k]; v != nil && !taken {
			d.Metadata[k] = v
		}
	}
	takeText(d)
	if d.Text == "" {
		return nil
	}
	d.Title = take(d.Metadata, "title")
	d.Source = take(d.Metadata, "source")
	return d
}

// takeText makes the first text of the metadata that of the document, unless it has one.
func takeText(d *ragctx.Document) {
	for _, key := range textKeys {
		if text, ok := d.Metadata[key].(string); ok && d.Text == "" && strings.TrimSpace(text) != "" {
			d.Text = text
			delete(d.Metadata, key)
		}
	}
}

// takeID removes an id from fields. It may be a number.
func takeID(fields map[string]any, key string) string {
	switch v := fields[key].(type) {
	case string:
		return take(fields, key)
	case nil, bool, map[string]any, []any:
		return ""
	default:
		delete(fields, key)
		return fmt.Sprint(v)
	}
}

// take removes a text from metadata.
func take(m map[string]any, key string) string {
	s, ok := m[key].(string)
	if ok {
		delete(m, key)
	}
	return s
}

// jsonLines reads a line as a turn if it has messages or a prompt, as a memory if it has "memory" or
// "memory_type", and as a document otherwise. A document without an id gets one of its text.
func jsonLines(ctx context.Context, source string, emit func(Item) error) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 64<<10)
	var line []byte
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := false
		line, whole, err = readLine(lines, line[:0], maxElement)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", source, err)
		}
		item := Item{Name: fmt.Sprintf("line %d", n), Err: ragctx.TooLarge("line", "is longer than %d MiB", maxElement>>20)}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if whole {
			item = lineItem(item.Name, line)
		}
		if !whole || len(line) > 0 {
			if err := emit(item); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line into buf, or skips a line that is longer than limit.
func readLine(r *bufio.Reader, buf []byte, limit int) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if whole = whole && len(buf)+len(part) <= limit; whole {
			buf = append(buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, whole, err
		}
	}
}

func lineItem(name string, line []byte) Item {
	var fields map[string]any
	if err := json.Unmarshal(line, (*ragctx.Metadata)(&fields)); err != nil || fields == nil {
		return Item{Name: name, Err: ragctx.Invalid("line", "is not a JSON object")}
	}
	has := func(key string) bool { _, ok := fields[key]; return ok }
	switch {
	case has("messages"), has("prompt"):
		t := &ragctx.Turn{}
		if err := decode(line, t); err != nil {
			return Item{Name: name, Err: err}
		}
		t.Namespace = ""
		t.ID = cmp.Or(t.ID, "jsonl:"+digest(string(line)))
		return Item{Name: name, Turn: t}
	case has("memory"), has("memory_type"):
		return memoryOf(name, line)
	}
	var known struct {
		Text string   `json:"text"`
		MIME string   `json:"mime"`
		Tags []string `json:"tags"`
		When string   `json:"occurred"`
	}
	if err := decode(line, &known); err != nil {
		return Item{Name: name, Err: err}
	}
	id := cmp.Or(takeID(fields, "id"), takeID(fields, "external_id"))
	for _, key := range []string{"mime", "tags", "occurred", "namespace"} {
		delete(fields, key)
	}
	d := record(id, "", fields)
	if d == nil {
		return Item{Name: name, LeftOut: "lines without text; name it " + strings.Join(textKeys[:3], ", ")}
	}
	d.ExternalID = cmp.Or(d.ExternalID, "jsonl/"+digest(d.Text))
	d.MIME, d.Tags, d.Occurred = known.MIME, known.Tags, parseTime(known.When)
	return Item{Name: name, Document: d}
}

// digest returns an id of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// mem0 reads memories in the form that mem0's API lists them.
func mem0(ctx context.Context, source string, emit func(Item) error) error {
	return each(source, emit, func(files []file) error {
		for _, f := range files {
			err := elements(f, func(n int, raw json.RawMessage) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return emit(memoryOf(fmt.Sprintf("%s: memory %d", f.name, n), raw))
			}, "results", "memories", "data")
			if err := leave(f, err, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

// memoryOf reads a memory in the form of mem0 or of ragctx.
func memoryOf(name string, raw []byte) Item {
	var in struct {
		ID         string          `json:"id"`
		Memory     string          `json:"memory"`
		Content    string          `json:"content"`
		Text       string          `json:"text"`
		UserID     string          `json:"user_id"`
		AgentID    string          `json:"agent_id"`
		RunID      string          `json:"run_id"`
		SessionID  string          `json:"session_id"`
		Type       string          `json:"memory_type"`
		Categories []string        `json:"categories"`
		Tags       []string        `json:"tags"`
		Metadata   ragctx.Metadata `json:"metadata"`
		Created    string          `json:"created_at"`
		Occurred   string          `json:"occurred"`
		Expires    string          `json:"expiration_date"`
	}
	if err := decode(raw, &in); err != nil {
		return Item{Name: name, Err: err}
	}
	kind, err := ragctx.ParseMemoryType(cmp.Or(in.Type, string(ragctx.MemorySemantic)))
	if err != nil {
		return Item{Name: name, Err: err}
	}
	m := &ragctx.Memory{
		ID: in.ID, UserID: in.UserID, AgentID: in.AgentID, SessionID: cmp.Or(in.RunID, in.SessionID), Type: kind,
		Content: cmp.Or(in.Memory, in.Content, in.Text), Importance: ragctx.DefaultImportance,
		Tags: append([]string{}, slices.Concat(in.Categories, in.Tags)...), Metadata: in.Metadata,
		Occurred: parseTime(cmp.Or(in.Created, in.Occurred)), Expires: parseTime(in.Expires),
	}
	m.ID = cmp.Or(m.ID, digest(m.UserID+"\n"+m.Content))
	if strings.TrimSpace(m.Content) == "" {
		return Item{Name: name, LeftOut: "memories without text"}
	}
	return Item{Name: name, Memory: m}
}
