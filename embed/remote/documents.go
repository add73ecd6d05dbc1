package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/tokens"
)

// tokenizerName is the tokenizer that limits batches, and estimates usage if the service reports none.
const tokenizerName = "cl100k_base"

// countTokens returns the approximate number of tokens of a text.
func countTokens(text string) int {
	c, err := tokens.New(tokenizerName)
	if err != nil {
		return len(text)/3 + 1 // unreachable: the vocabulary is part of the program
	}
	return c.Count(text)
}

// shortCall is the maximum number of texts of a call that uses the fast slots. A turn of a
// conversation has two or three.
const shortCall = 4

// EmbedDocuments implements [embed.Embedder]. A blank text has no vector. A text that the service
// rejects while it accepts others has no vector either; it is logged and counted. Any other failure
// fails the whole call. [ragctx.ErrUnavailable] says that a later call may succeed.
func (c *Client) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	r := &run{client: c, texts: make([]string, len(texts)), out: make([][]float32, len(texts))}
	lane := c.bulkSlots
	if len(texts) <= shortCall {
		lane = c.fastSlots
	}
	r.call = c.documentCall(lane, &r.budget)
	batches := r.batches(texts)
	r.budget.Store(int64(max(4*c.opts.Retries, len(batches))))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(c.opts.Parallel)
	for _, b := range batches {
		g.Go(func() error { return r.embed(gctx, b) })
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("embed %d texts by %s: %w", len(texts), c, err)
	}
	for i, first := range r.duplicates {
		r.out[i] = r.out[first]
	}
	return r.out, nil
}

// run is one call of EmbedDocuments.
type run struct {
	client     *Client
	texts      []string    // as sent to the service
	out        [][]float32 // each element is written by one goroutine
	duplicates map[int]int // index of each repeated text to the index of its first occurrence
	call       call
	budget     atomic.Int64

	mu       sync.Mutex
	accepted bool // the service has accepted a text in this call
}

// batches returns the indexes of the texts to send, in batches within the limits. A repeated text
// is sent once, because services charge by the token.
func (r *run) batches(texts []string) (out [][]int) {
	o := &r.client.opts
	first := make(map[string]int, len(texts))
	r.duplicates = make(map[int]int)
	var batch []int
	sum := 0
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			continue // services reject blank texts
		}
		r.texts[i] = r.client.documentText(t)
		if at, again := first[r.texts[i]]; again {
			r.duplicates[i] = at
			continue
		}
		first[r.texts[i]] = i
		n := countTokens(r.texts[i])
		if len(batch) > 0 && (len(batch) == o.BatchSize || sum+n > o.BatchTokens) {
			out, batch, sum = append(out, batch), nil, 0
		}
		batch, sum = append(batch, i), sum+n
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// embed embeds the texts at the given indexes. A rejected batch is halved until the offending texts
// are isolated.
func (r *run) embed(ctx context.Context, at []int) error {
	err := r.ask(ctx, at)
	status := rejection(err)
	if status == 0 {
		return err
	}
	if perr := r.verifyService(ctx, status); perr != nil {
		if rejection(perr) != 0 {
			perr = fmt.Errorf("the service rejects every text, so the model, URL or another setting is wrong: %w", perr)
		}
		return perr
	}
	if len(at) == 1 {
		return r.embedSingle(ctx, at[0], err)
	}
	half := len(at) / 2
	if err := r.embed(ctx, at[:half]); err != nil {
		return err
	}
	return r.embed(ctx, at[half:])
}

// ask sends one request and stores the vectors.
func (r *run) ask(ctx context.Context, at []int) error {
	texts := make([]string, len(at))
	for i, place := range at {
		texts[i] = r.texts[place]
	}
	vectors, err := r.client.ask(ctx, r.call, texts)
	if err != nil {
		return err
	}
	for i, place := range at {
		r.out[place] = vectors[i]
	}
	r.mu.Lock()
	r.accepted = true
	r.mu.Unlock()
	return nil
}

// rejection returns the status of an error with which a service rejects the texts of a request, or 0.
// After a retry it includes 500 and 424, which some services return for texts that are too long or
// cannot be computed.
func rejection(err error) int {
	s, ok := errors.AsType[*httpclient.StatusError](err)
	if !ok || errors.Is(err, httpclient.ErrOpen) {
		return 0
	}
	switch s.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusFailedDependency, http.StatusInternalServerError:
		return s.Status
	}
	return 0
}

// verifyService checks that the service rejects only some texts, and that model, key and URL are right: it
// must have accepted another text in this call. For a status that may mean that the service is
// broken, it sends a probe.
func (r *run) verifyService(ctx context.Context, status int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := status == http.StatusInternalServerError || status == http.StatusFailedDependency
	if r.accepted && !fresh {
		return nil
	}
	_, err := r.client.ask(ctx, r.call, []string{r.client.documentText(probeText)})
	r.accepted = r.accepted || err == nil
	return err
}

// minShortened is the minimum length in bytes of a rejected text that is retried with its first half.
const minShortened = 512

// embedSingle handles a single rejected text. The text may be too long by a count that only the service
// knows, so it is shortened until the service accepts it.
func (r *run) embedSingle(ctx context.Context, at int, refused error) error {
	c := r.client
	prefix := len(c.opts.DocumentPrefix)
	for text := r.texts[at]; len(text)-prefix >= minShortened; {
		text = truncate(text, prefix+(len(text)-prefix)/2)
		v, err := c.ask(ctx, r.call, []string{text})
		if err == nil {
			r.out[at] = v[0]
			c.meter.documents.shortened()
			return nil
		}
		if status := rejection(err); status == 0 {
			return err
		} else if err := r.verifyService(ctx, status); err != nil {
			return err
		}
	}
	c.meter.documents.rejected()
	c.opts.Logger.WarnContext(ctx, "embedding service rejects a text; it is found by keywords only",
		"service", c.String(), "bytes", len(r.texts[at])-prefix, "error", refused)
	return nil
}
