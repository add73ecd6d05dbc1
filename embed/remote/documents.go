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

// counter counts tokens for the limit of a batch, and where a service does not.
const counter = "cl100k_base"

// count returns the number of tokens of a text, about.
func count(text string) int {
	c, err := tokens.New(counter)
	if err != nil {
		return len(text)/3 + 1 // not reached: the vocabulary is part of the program
	}
	return c.Count(text)
}

// shortCall is how many texts a call has at most that does not wait behind long
// ones: a turn of a conversation has two or three.
const shortCall = 4

// EmbedDocuments implements [embed.Embedder]. A text without a visible character
// has no vector, and neither has one that the service refuses by itself while it
// takes others: that is logged and counted. Any other failure is that of the whole
// call; [ragctx.ErrUnavailable] says that it may help to ask later.
func (c *Client) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	r := &run{client: c, texts: make([]string, len(texts)), out: make([][]float32, len(texts))}
	lane := c.bulk
	if len(texts) <= shortCall {
		lane = c.fast
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
	for i, first := range r.same {
		r.out[i] = r.out[first]
	}
	return r.out, nil
}

// run is one call of EmbedDocuments.
type run struct {
	client *Client
	texts  []string    // as they are sent
	out    [][]float32 // each place is written by one goroutine
	same   map[int]int // the places of repeated texts to those of the first
	call   call
	budget atomic.Int64

	proving sync.Mutex
	proven  bool // the service has taken something in this call
}

// batches returns the places of the texts that are sent, in batches within the
// limits. A text that comes again is sent once: services charge by the token.
func (r *run) batches(texts []string) (out [][]int) {
	o := &r.client.opts
	first := make(map[string]int, len(texts))
	r.same = make(map[int]int)
	var batch []int
	sum := 0
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			continue // services refuse it
		}
		r.texts[i] = r.client.documentText(t)
		if at, again := first[r.texts[i]]; again {
			r.same[i] = at
			continue
		}
		first[r.texts[i]] = i
		n := count(r.texts[i])
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

// embed embeds the texts at some places. What the service refuses is cut in halves
// until the texts to blame stand alone.
func (r *run) embed(ctx context.Context, at []int) error {
	err := r.ask(ctx, at)
	status := refusal(err)
	if status == 0 {
		return err
	}
	if perr := r.prove(ctx, status); perr != nil {
		if refusal(perr) != 0 {
			perr = fmt.Errorf("it refuses any text, so model, URL or another setting is wrong: %w", perr)
		}
		return perr
	}
	if len(at) == 1 {
		return r.alone(ctx, at[0], err)
	}
	half := len(at) / 2
	if err := r.embed(ctx, at[:half]); err != nil {
		return err
	}
	return r.embed(ctx, at[half:])
}

// ask sends one request and keeps the vectors.
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
	r.proving.Lock()
	r.proven = true
	r.proving.Unlock()
	return nil
}

// refusal returns the status with which a service says that it will not have what
// a request holds, 0 for any other error. 500 and 424 are among them, after a
// repetition: some services answer so what is too long, or cannot be computed.
func refusal(err error) int {
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

// prove makes sure that it is the texts that the service refuses and not the model,
// the key or the URL: it has taken another text in this call. A status that could
// mean that the service is broken wants a proof of just now.
func (r *run) prove(ctx context.Context, status int) error {
	r.proving.Lock()
	defer r.proving.Unlock()
	fresh := status == http.StatusInternalServerError || status == http.StatusFailedDependency
	if r.proven && !fresh {
		return nil
	}
	_, err := r.client.ask(ctx, r.call, []string{r.client.documentText(probe)})
	r.proven = r.proven || err == nil
	return err
}

// shortest is how long a text is at least that is tried again with half of it.
const shortest = 512

// alone deals with a text that was refused by itself: it may be too long for the
// model, by a count that only the service knows.
func (r *run) alone(ctx context.Context, at int, refused error) error {
	c := r.client
	prefix := len(c.opts.DocumentPrefix)
	for text := r.texts[at]; len(text)-prefix >= shortest; {
		text = cut(text, prefix+(len(text)-prefix)/2)
		v, err := c.ask(ctx, r.call, []string{text})
		if err == nil {
			r.out[at] = v[0]
			c.meter.documents.shortened()
			return nil
		}
		if status := refusal(err); status == 0 {
			return err
		} else if err := r.prove(ctx, status); err != nil {
			return err
		}
	}
	c.meter.documents.rejected()
	c.opts.Logger.WarnContext(ctx, "embedding service refuses a text; it is found by its words only",
		"service", c.String(), "bytes", len(r.texts[at])-prefix, "error", refused)
	return nil
}
