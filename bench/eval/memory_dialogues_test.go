package eval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

// labelledDialogue is a line of testdata/memory. Its README explains the fields.
type labelledDialogue struct {
	ID    string         `json:"id"`
	Lang  string         `json:"lang"`
	Turns []dialogueTurn `json:"turns"`
	// Now is the time of the checks; empty means an hour after the last turn.
	Now string `json:"now"`

	Known       []pattern `json:"known"`
	Gone        []pattern `json:"gone"`
	Ended       []pattern `json:"ended"`
	Kept        []pattern `json:"kept"`
	Never       []pattern `json:"never"`
	Quarantined []pattern `json:"quarantined"`

	Standing   []standing              `json:"standing"`
	Finds      []find                  `json:"finds"`
	Procedures []ragctx.NamedProcedure `json:"procedures"`
	Steps      *stepWords              `json:"steps"`

	theme string
	half  string
}

// dialogueTurn is one exchange of a dialogue.
type dialogueTurn struct {
	At        string     `json:"at"`
	Session   string     `json:"session"`
	User      string     `json:"user"`
	Assistant string     `json:"assistant"`
	Calls     []toolCall `json:"calls"`
	Says      []pattern  `json:"says"`
	May       []pattern  `json:"may"`
	Secrets   []string   `json:"secrets"`
}

// toolCall is a call of a tool by the assistant, and its result.
type toolCall struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Result string          `json:"result"`
	Failed bool            `json:"failed"`
}

// standing is a query with the words that the stable block must and must not contain.
type standing struct {
	Query string    `json:"query"`
	Must  []pattern `json:"must"`
	Not   []pattern `json:"not"`
}

// find is a query with the words of a memory that must be among the first K, 5 by default. With Skill it
// is the words of a procedure that must be found; without words none must be.
type find struct {
	Query   string  `json:"query"`
	Session string  `json:"session"`
	Must    pattern `json:"must"`
	K       int     `json:"k"`
	Skill   bool    `json:"skill"`
}

// stepWords are words that the steps of the extracted procedures must and must not contain.
type stepWords struct {
	Must []pattern `json:"must"`
	Not  []pattern `json:"not"`
}

// pattern describes a text: each word begins a word of the text, in any order and case. "a|b" are
// alternatives, "!a" must not appear, and "*a" may be inside a word.
type pattern struct {
	text  string
	words []patternWord
}

type patternWord struct {
	re  *regexp.Regexp
	not bool
}

// UnmarshalJSON reads a pattern from a string.
func (p *pattern) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.text); err != nil {
		return err
	}
	for w := range strings.FieldsSeq(p.text) {
		rest, not := strings.CutPrefix(w, "!")
		var alternatives []string
		for a := range strings.SplitSeq(rest, "|") {
			if a == "" {
				return fmt.Errorf("pattern %q has an empty word", p.text)
			}
			if inside, anywhere := strings.CutPrefix(a, "*"); anywhere {
				alternatives = append(alternatives, regexp.QuoteMeta(inside))
			} else {
				alternatives = append(alternatives, `(?:^|[^\p{L}\p{N}])`+regexp.QuoteMeta(a))
			}
		}
		re, err := regexp.Compile(`(?i)(?:` + strings.Join(alternatives, "|") + `)`)
		if err != nil {
			return err
		}
		p.words = append(p.words, patternWord{re, not})
	}
	if len(p.words) == 0 {
		return errors.New("a pattern is empty")
	}
	return nil
}

func (p pattern) matches(text string) bool {
	for _, w := range p.words {
		if w.re.MatchString(text) == w.not {
			return false
		}
	}
	return true
}

// readDialogues reads the files of one half, dev or held. A file's name is its theme.
func readDialogues(half string) ([]*labelledDialogue, error) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "memory", half, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []*labelledDialogue
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		for {
			d := &labelledDialogue{half: half, theme: strings.TrimSuffix(filepath.Base(file), ".jsonl")}
			err := dec.Decode(d)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = d.check()
			}
			if err != nil {
				return nil, fmt.Errorf("%s, after %d dialogues in all: %s: %w", file, len(out), d.ID, err)
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// endOnly reports whether a dialogue labels what is known at its end, and not what each turn says.
func (d *labelledDialogue) endOnly() bool {
	return len(d.Known)+len(d.Kept)+len(d.Gone)+len(d.Ended) > 0 &&
		!slices.ContainsFunc(d.Turns, func(t dialogueTurn) bool { return len(t.Says) > 0 })
}

func (d *labelledDialogue) check() error {
	if d.ID == "" || len(d.Turns) == 0 || !slices.Contains([]string{"en", "de", "fr", "es"}, d.Lang) {
		return errors.New("a dialogue needs an id, a language and turns")
	}
	var last time.Time
	for i, t := range d.Turns {
		at, err := parseAt(t.At)
		if err != nil {
			return err
		}
		if !at.After(last) {
			return fmt.Errorf("turn %d is not after the one before", i)
		}
		last = at
		if strings.TrimSpace(t.User) == "" {
			return fmt.Errorf("turn %d has no words of the user", i)
		}
		for _, s := range t.Secrets {
			if !strings.Contains(t.User+t.Assistant, s) {
				return fmt.Errorf("turn %d does not contain %q", i, s)
			}
		}
	}
	if d.Now == "" {
		return nil
	}
	now, err := parseAt(d.Now)
	if err == nil && !now.After(last) {
		err = errors.New("now is not after the last turn")
	}
	return err
}

// parseAt parses a time of a dialogue, such as "2026-03-01 09:30".
func parseAt(s string) (time.Time, error) { return time.Parse("2006-01-02 15:04", s) }

// end returns the time of the checks.
func (d *labelledDialogue) end() time.Time {
	if now, err := parseAt(d.Now); err == nil {
		return now
	}
	last, _ := parseAt(d.Turns[len(d.Turns)-1].At)
	return last.Add(time.Hour)
}

// dialogueUser is the user of all dialogues. Each dialogue has a namespace of its own.
const dialogueUser = "u1"

func (d *labelledDialogue) turnID(i int) string { return fmt.Sprintf("%s-t%d", d.ID, i) }

// turn returns turn i as the engine receives it.
func (d *labelledDialogue) turn(i int) ragctx.Turn {
	t := d.Turns[i]
	at, _ := parseAt(t.At)
	out := ragctx.Turn{
		ID: d.turnID(i), Namespace: d.ID, UserID: dialogueUser, SessionID: sessionName(t.Session), Occurred: at,
		Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, t.User)},
	}
	for j, c := range t.Calls {
		call := fmt.Sprint("call-", j)
		out.Messages = append(out.Messages,
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{
				{Type: ragctx.BlockToolUse, ID: call, Name: c.Tool, Input: c.Input},
			}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{
				{Type: ragctx.BlockToolResult, ToolUseID: call, Content: ragctx.Text(c.Result), IsError: c.Failed},
			}})
	}
	if t.Assistant != "" {
		out.Messages = append(out.Messages, ragctx.TextMessage(ragctx.RoleAssistant, t.Assistant))
	}
	if len(t.Calls) > 0 {
		out.Confidence = new(0.9)
	}
	return out
}

func sessionName(s string) string {
	if s == "" {
		return "s1"
	}
	return s
}

// TestMemoryDialoguesFormat reads both halves: at least 200 dialogues for development, and 40 held back.
func TestMemoryDialoguesFormat(t *testing.T) {
	seen := make(map[string]bool)
	count := make(map[string]int)
	for _, half := range []string{"dev", "held"} {
		all, err := readDialogues(half)
		if err != nil {
			t.Fatal(err)
		}
		secrets, harmless := 0, 0
		for _, d := range all {
			if seen[d.ID] {
				t.Errorf("two dialogues are called %s", d.ID)
			}
			seen[d.ID] = true
			count[half]++
			for _, turn := range d.Turns {
				if secrets += len(turn.Secrets); d.theme == "harmless" {
					harmless++
				}
			}
		}
		t.Logf("%s: %d dialogues, %d secrets, %d turns that only look like secrets", half, len(all), secrets, harmless)
	}
	if count["held"] == 0 {
		t.Skip("the held half has been read and is written anew")
	}
	if count["dev"] < 200 || count["held"] < 40 {
		t.Errorf("%v dialogues; at least 200 for development and 40 held", count)
	}
}
