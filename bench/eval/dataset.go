package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Names of the files of a set.
const (
	corpusFile  = "corpus.jsonl"
	queriesFile = "queries.jsonl"
	qrelsFile   = "qrels.tsv"
	groupsFile  = "groups.tsv"
)

// scopeFields are the metadata fields that can bound a search: a question then searches only the
// entries with the same value.
var scopeFields = [...]string{"conversation", "lang"}

// entry is one line of a corpus.
type entry struct {
	ID       string         `json:"_id"`
	Title    string         `json:"title"`
	Text     string         `json:"text"`
	Metadata map[string]any `json:"metadata"`
}

// Question is one line of the queries.
type Question struct {
	ID       string   `json:"_id"`
	Text     string   `json:"text"`
	Metadata struct { // the other fields hold answers, which the engine must not see
		Conversation label    `json:"conversation"`
		Lang         label    `json:"lang"`
		Doc          string   `json:"doc"`
		Spans        [][2]int `json:"spans"`
	} `json:"metadata"`
}

// label is the value of a scope field: a string or a number.
type label string

// UnmarshalJSON implements [json.Unmarshaler]. Other types become the empty label.
func (l *label) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	e := entry{Metadata: map[string]any{"": v}}
	*l = label(e.field(""))
	return nil
}

// Set is an opened collection. Its corpus stays on disk.
type Set struct {
	Name      string
	Dir       string
	Docs      int
	Questions []Question
	Qrels     Qrels
	Groups    Groups // nil if the set has no categories

	// Field is the metadata field that bounds searches; "" if none does.
	Field string
	// Dialogue is set if the entries belong to sessions or batches.
	Dialogue bool
	// HasSpans is set if the questions name the part of a text that answers them.
	HasSpans bool

	scopes map[string]*scope
	dates  timeexpr.Dates
	// undated counts the entries without a known time.
	undated Reasons
}

// scope is the part of a corpus that a question searches.
type scope struct {
	docs int
	last time.Time // time of the last session; zero if no entry has a time
	time bool      // an entry so far states its time
}

// ListSets returns the names of the sets below dir, sorted.
func ListSets(dir string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(dir), "*/"+corpusFile)
	if err != nil {
		return nil, fmt.Errorf("list sets: %w", err)
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = path.Dir(f)
	}
	slices.Sort(names)
	return names, nil
}

// OpenSet reads a set except its texts.
func OpenSet(dir string) (*Set, error) {
	s := &Set{Name: filepath.Base(dir), Dir: dir, scopes: make(map[string]*scope)}
	seen := make(map[string]bool)
	err := readJSONL(filepath.Join(dir, queriesFile), func(q Question) error {
		if err := checkID(q.ID, seen); err != nil {
			return err
		}
		s.HasSpans = s.HasSpans || len(q.Metadata.Spans) > 0
		s.Questions = append(s.Questions, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.Qrels, err = readFile(filepath.Join(dir, qrelsFile), ReadQrels); err != nil {
		return nil, err
	}
	if s.Groups, err = readFile(filepath.Join(dir, groupsFile), readGroups); err != nil &&
		!errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return s, s.survey()
}

// survey reads the corpus to find its scopes and times.
func (s *Set) survey() error {
	shared := make(map[string]bool)
	for _, f := range scopeFields {
		shared[f] = len(s.Questions) > 0 && !slices.ContainsFunc(s.Questions,
			func(q Question) bool { return q.scope(f) == "" })
	}
	seen := make(map[string]bool)
	err := s.each(func(e entry) error {
		if err := checkID(e.ID, seen); err != nil {
			return err
		}
		s.Docs++
		s.dates.Note(e.timestamp())
		s.Dialogue = s.Dialogue || e.session() != ""
		for f := range shared {
			shared[f] = shared[f] && e.field(f) != ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range scopeFields {
		if s.Field == "" && shared[f] {
			s.Field = f
		}
	}
	return s.each(func(e entry) error {
		name := e.field(s.Field)
		sc := s.scopes[name]
		if sc == nil {
			sc = &scope{}
			s.scopes[name] = sc
		}
		sc.docs++
		t, err := s.occurred(&e)
		switch {
		case err != nil:
			s.undated.add(err.Error(), e.ID, ragctx.Clip(e.timestamp()))
		case !t.IsZero():
			sc.time = true
		case !sc.time:
			s.undated.add("states no time, and neither does an earlier entry of its conversation", e.ID, "")
		}
		if t.After(sc.last) {
			sc.last = t
		}
		return nil
	})
}

// scopeNames returns the scopes, sorted.
func (s *Set) scopeNames() []string { return slices.Sorted(maps.Keys(s.scopes)) }

// each calls fn for every entry of the corpus, in order.
func (s *Set) each(fn func(entry) error) error {
	return readJSONL(filepath.Join(s.Dir, corpusFile), fn)
}

// checkID rejects ids that a run file cannot hold, and duplicates, whose judgements would be
// ambiguous.
func checkID(id string, seen map[string]bool) error {
	if id == "" || strings.ContainsAny(id, "\t\r\n") {
		return ragctx.Invalid("_id", "%q cannot be an id; use text without tabs and line breaks", ragctx.Clip(id))
	}
	if seen[id] {
		return ragctx.Invalid("_id", "%q is given twice; give every line an id of its own", ragctx.Clip(id))
	}
	seen[id] = true
	return nil
}

// scope returns the value of a scope field.
func (q *Question) scope(field string) string {
	switch field {
	case "conversation":
		return string(q.Metadata.Conversation)
	case "lang":
		return string(q.Metadata.Lang)
	default:
		return ""
	}
}

// field returns a metadata value as text, or "" if it is missing.
func (e *entry) field(name string) string {
	switch v := e.Metadata[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

func (e *entry) session() string { return cmp.Or(e.field("session"), e.field("batch")) }

// timestamp returns the time that an entry states, as written; "" if it states none.
func (e *entry) timestamp() string {
	return strings.TrimSpace(cmp.Or(e.field("date_time"), e.field("time_anchor")))
}

// occurred returns the time that an entry states, or zero if it states none.
func (s *Set) occurred(e *entry) (time.Time, error) {
	if e.timestamp() == "" {
		return time.Time{}, nil
	}
	return s.dates.Parse(e.timestamp())
}

// readJSONL calls fn for each value of a file, with one value in memory at a time.
func readJSONL[T any](path string, fn func(T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read set: %w", err)
	}
	defer f.Close()
	dec := json.NewDecoder(withoutBOM(f))
	dec.UseNumber()
	for n := 1; ; n++ {
		var v T
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(v)
		}
		if err != nil {
			return fmt.Errorf("%s, entry %d: %w", path, n, err)
		}
	}
}

// withoutBOM skips a byte order mark at the start, which some editors write.
func withoutBOM(r io.Reader) io.Reader {
	br := bufio.NewReaderSize(r, 1<<20)
	if b, err := br.Peek(3); err == nil && string(b) == "\ufeff" {
		_, _ = br.Discard(3) // the bytes are in the buffer
	}
	return br
}

func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, fmt.Errorf("read set: %w", err)
	}
	defer f.Close()
	v, err := read(withoutBOM(f))
	if err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
