package bench

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ragctx/ragctx"
)

// ReadQueries reads one query per line: plain text, or a JSON object with the query in the field
// "text" or "query". Empty lines are skipped. Line numbers in errors count from 1.
func ReadQueries(r io.Reader) ([]string, error) {
	var out []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 2*ragctx.MaxQueryBytes)
	for n := 1; lines.Scan(); n++ {
		field := "line " + strconv.Itoa(n)
		text, err := parseLine(field, strings.TrimSpace(lines.Text()))
		if err != nil {
			return nil, err
		}
		if text == "" {
			continue
		}
		if len(text) > ragctx.MaxQueryBytes {
			return nil, ragctx.TooLarge(field, "is %d bytes long; the limit is %d", len(text), ragctx.MaxQueryBytes)
		}
		if err := ragctx.ValidText(field, text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, ragctx.TooLarge("queries", "has a line of more than %d bytes; put one query on each line",
			2*ragctx.MaxQueryBytes)
	} else if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, ragctx.Invalid("queries", "is empty; put one query on each line")
	}
	return out, nil
}

func parseLine(field, line string) (string, error) {
	if !strings.HasPrefix(line, "{") {
		return line, nil
	}
	var q struct{ Text, Query string }
	if err := json.Unmarshal([]byte(line), &q); err != nil {
		return "", ragctx.Invalid(field, "starts like JSON but is not: %v", err)
	}
	text := strings.TrimSpace(cmp.Or(q.Text, q.Query))
	if text == "" {
		return "", ragctx.Invalid(field, `has no query; write {"text": "…"}`)
	}
	return text, nil
}

// Text is a document from which queries are drawn.
type Text struct{ ID, Title, Body string }

// Lengths in bytes of the sentences that become queries. Shorter ones ask for nothing; users do not
// type longer ones.
const (
	minSentence = 30
	maxSentence = 200
)

// DrawQueries returns up to n queries made from the texts: a title and a sentence of each, in an
// order that depends only on the ids. Such queries are easier than a user's, because their words
// are the document's.
func DrawQueries(texts []Text, n int) []string {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b Text) int { return byHash(a.ID, b.ID) })
	var out []string
	seen := make(map[string]bool)
	add := func(q string) {
		if q = strings.Join(strings.Fields(q), " "); q != "" && !seen[q] && len(out) < n {
			seen[q] = true
			out = append(out, q)
		}
	}
	for _, t := range texts {
		if len(out) >= n {
			break
		}
		add(sentence(t))
		add(t.Title)
	}
	return out
}

// Sample returns up to n of the ids. Equal ids give equal samples.
func Sample(ids []string, n int) []string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, byHash)
	return ids[:min(n, len(ids))]
}

// byHash orders ids pseudo-randomly.
func byHash(a, b string) int {
	return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b))
}

// sentence picks one of the text's sentences of suitable length, by the text's id.
func sentence(t Text) string {
	var all []string
	for s := sentences.FromString(t.Body); s.Next(); {
		if v := strings.TrimSpace(s.Value()); len(v) >= minSentence && len(v) <= maxSentence && !strings.Contains(v, "\n") {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[hash("sentence:"+t.ID)%uint64(len(all))]
}

// hashOf identifies a list of queries.
func hashOf(queries []ragctx.ContextQuery) string {
	h := fnv.New64a()
	for _, q := range queries {
		h.Write([]byte(q.Query + "\x00"))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
