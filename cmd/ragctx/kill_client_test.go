//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/store"
)

const (
	killClients = 6 // at the same time
	killNames   = 12
	// bigSections make a document of more than a megabyte.
	bigSections = 3000
)

// part is a piece of a text that is found by itself.
type part struct{ text, embedded, token string }

// content is a text that was sent.
type content struct {
	title string
	text  string
	parts []part
}

// record is what one client knows of one document or memory. Nobody else
// writes it, so at most one write of it is cut off by a kill.
type record struct {
	kind store.Kind
	id   string

	known *content // the newest that was acknowledged; nil when there is none
	old   *content // something it was before
	// cut says that a write was sent and not acknowledged; its outcome is next, or
	// known.
	cut   bool
	next  *content
	idle  int       // rounds without a write
	group []*record // that came in one request; all of them or none
	// erase says that the write that is under way erases. If it is cut off, it may
	// go on at any later time: then the outcome stays in doubt, and nobody writes
	// the record again.
	erase, doubt bool
}

// killClient writes, notes which writes were acknowledged, and reads them back.
type killClient struct {
	*killer

	number  int
	rand    *rand.Rand
	tokens  int
	api     *api.Client
	base    string
	records []*record // in the order of their first writing
	named   map[string]*record
	erased  []string // words that no file may hold any more
}

func newClient(k *killer, number int) *killClient {
	return &killClient{killer: k, number: number, named: make(map[string]*record)}
}

// namespace keeps the big documents, which hold up smaller ones, apart.
func (c *killClient) namespace() string { return fmt.Sprintf("space-%d", c.number%3) }

// work writes until the server is gone.
func (c *killClient) work(base string) {
	c.api, c.base = api.NewClient(base), base
	defer c.api.Close()
	for !c.killed.Load() {
		r, err := c.write()
		switch {
		case r == nil:
			continue
		case err != nil:
			c.total.flying.Add(int64(max(1, len(r.group))))
		default:
			c.total.acknowledged.Add(int64(max(1, len(r.group))))
			err = c.acknowledged(r)
		}
		if err != nil && !c.killed.Load() {
			c.Errorf("round %d, client %d, %s: %v", c.round, c.number, r.id, err)
			return
		}
	}
}

// write does something; nil if there is nothing to do.
func (c *killClient) write() (*record, error) {
	switch n := c.rand.IntN(20); {
	case n < 7:
		return c.put()
	case n < 9:
		return c.remove(store.KindDocuments)
	case n < 13:
		return c.turn()
	case n < 17:
		return c.remember()
	case n < 18:
		return c.bulk()
	default:
		return c.remove(store.KindMemories)
	}
}

// acknowledged notes a write and asks for it. A bulk request is acknowledged as
// a job, which goes on.
func (c *killClient) acknowledged(r *record) error {
	if r.group == nil {
		if r.erase {
			c.erased = append(c.erased, r.known.parts[0].token)
		}
		r.settle()
		return c.ask(r)
	}
	for _, of := range r.group {
		of.settle()
	}
	return nil
}

// settle makes what was sent the known content.
func (r *record) settle() {
	if r.known != nil {
		r.old = r.known
	}
	r.cut, r.known, r.next, r.erase = false, r.next, nil, false
}

// open finds or begins a record and notes that next is sent for it.
func (c *killClient) open(kind store.Kind, id string, next *content) *record {
	r := c.named[id]
	if r == nil {
		r = &record{kind: kind, id: id}
		c.named[id] = r
		c.records = append(c.records, r)
	}
	r.cut, r.next, r.idle = true, next, 0
	return r
}

// doubtful reports whether a record may not be written again.
func (c *killClient) doubtful(id string) bool { return c.named[id] != nil && c.named[id].doubt }

func (c *killClient) put() (*record, error) {
	id := fmt.Sprintf("c%d/doc-%02d.md", c.number, c.rand.IntN(killNames))
	if c.doubtful(id) {
		return nil, nil
	}
	sections := 1 + c.rand.IntN(5)
	switch {
	case c.number == 0 && c.round%2 == 0: // the others have room in the other rounds
		sections = bigSections + c.rand.IntN(bigSections)
	case c.rand.IntN(8) == 0:
		sections = 200
	}
	title := "Page " + c.token()
	text := c.sections(title, sections)
	r := c.open(store.KindDocuments, id, text)
	put, err := c.api.PutDocument(context.Background(), c.namespace(), ragctx.Document{ExternalID: id, Title: title, Text: text.text}, "")
	if err == nil && put.Chunks != len(text.parts) {
		c.Errorf("round %d: %s has %d chunks, want %d", c.round, id, put.Chunks, len(text.parts))
	}
	return r, err
}

// sections returns a document of so many sections, about 400 bytes each.
func (c *killClient) sections(title string, n int) *content {
	out := &content{title: title}
	var b strings.Builder
	for range n {
		token, heading := c.token(), "Part "+c.token()
		chunk := "## " + heading + "\n\n" + token + strings.Repeat(" harbour granite lantern meadow", 1+c.rand.IntN(11)) + "."
		b.WriteString(chunk + "\n\n")
		out.parts = append(out.parts, part{chunk, title + "\n" + heading + "\n" + chunk, token})
	}
	out.text = b.String()
	return out
}

// token returns a word that is in no other text, that no stemmer touches, and
// that shares few runs of letters with others.
func (c *killClient) token() string {
	const (
		letters = "bcdfghjklmnpqrtvwxz"
		all     = 19 * 19 * 19 * 19 * 19 * 19 * 19 * 19 * 19 * 19
	)
	c.tokens++
	n := uint64(c.tokens*killClients+c.number) * 3_141_592_653_589 % all // prime to 19: no two are the same
	w := make([]byte, 10)
	for i := range w {
		w[i], n = letters[n%19], n/19
	}
	return string(w)
}

func (c *killClient) turn() (*record, error) {
	id := fmt.Sprintf("c%d-turn-%d", c.number, c.tokens)
	prompt, response := c.token()+" is asked about the harbour", c.token()+" is the answer about the granite"
	said := []string{"user: " + prompt, "assistant: " + response}
	text := &content{text: strings.Join(said, "\n")}
	for i, s := range said {
		text.parts = append(text.parts, part{s, s, strings.Fields([]string{prompt, response}[i])[0]})
	}
	r := c.open(store.KindMemories, id, text)
	_, err := c.api.CompleteTurn(context.Background(), ragctx.Turn{
		ID: id, Namespace: c.namespace(), SessionID: "s", Prompt: prompt, Response: response,
	})
	return r, err
}

func (c *killClient) remember() (*record, error) {
	id := fmt.Sprintf("c%d-note-%02d", c.number, c.rand.IntN(killNames))
	if c.doubtful(id) {
		return nil, nil
	}
	token := c.token()
	said := token + " was seen near the lantern"
	r := c.open(store.KindMemories, id, &content{text: said, parts: []part{{said, said, token}}})
	_, _, err := c.api.Remember(context.Background(), ragctx.Memory{
		ID: id, Namespace: c.namespace(), Type: ragctx.MemorySemantic, Content: said, Importance: .5,
	})
	return r, err
}

// bulk sends some documents in one request. Nobody writes them again, as the job
// may come to them when the request is long over.
func (c *killClient) bulk() (*record, error) {
	var group []*record
	lines := func(yield func(api.BulkLine, error) bool) {
		for _, r := range group {
			if !yield(api.BulkLine{ID: r.id, Title: r.next.title, Text: r.next.text}, nil) {
				return
			}
		}
	}
	for range 2 + c.rand.IntN(20) {
		title := "Page " + c.token()
		id := fmt.Sprintf("c%d/bulk-%d.md", c.number, c.tokens)
		group = append(group, c.open(store.KindDocuments, id, c.sections(title, 1+c.rand.IntN(5))))
	}
	for _, r := range group {
		r.group = group
	}
	_, err := c.api.PutDocuments(context.Background(), c.namespace(), lines)
	return group[0], err
}

// remove deletes or erases something that is there; nil if there is nothing.
func (c *killClient) remove(kind store.Kind) (*record, error) {
	var there []*record
	for _, r := range c.records {
		if r.kind == kind && r.known != nil && r.group == nil && !r.doubt {
			there = append(there, r)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	r := there[c.rand.IntN(len(there))]
	c.open(kind, r.id, nil)
	path := "/v1/memories/"
	if kind == store.KindDocuments {
		path = "/v1/documents/"
	}
	query := "?namespace=" + c.namespace()
	if r.erase = c.rand.IntN(3) == 0; r.erase {
		query += "&erase=true"
	}
	req, err := http.NewRequest(http.MethodDelete, c.base+path+url.PathEscape(r.id)+query, nil)
	if err != nil {
		return r, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		return r, errors.New(res.Status)
	}
	return r, nil
}

// ask wants to find what was acknowledged a moment ago, and not what it replaced.
func (c *killClient) ask(r *record) error {
	for _, text := range []*content{r.known, r.old} {
		if text == nil {
			continue
		}
		p := text.parts[c.rand.IntN(len(text.parts))]
		q := ragctx.NewQuery(p.token)
		q.Namespace = c.namespace()
		found, err := c.api.Search(context.Background(), q)
		if err != nil {
			return err
		}
		is := slices.ContainsFunc(found.Items, func(it ragctx.ContextItem) bool { return strings.Contains(it.Content, p.token) })
		if is != (text == r.known) && len(found.Degraded) == 0 {
			c.Errorf("round %d: %s was acknowledged; that %q is found is %v, of %d items", c.round, r.id, p.token, is, len(found.Items))
		}
	}
	return nil
}
