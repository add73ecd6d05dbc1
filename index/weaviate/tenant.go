package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// stateID is the id of the object that holds a tenant's [state].
const stateID = "00000000-0000-8000-ffff-000000000001"

// Sizes of requests. The server deletes at most 10,000 objects in one request, and returns at most that many.
const (
	writeBatch = 200
	maxResults = 10_000
	// maxOnly is the number of ids up to which a search sends them as a filter.
	maxOnly = 5_000
)

// saveAfter is the time after which the cursor is saved again.
const saveAfter = time.Second

// state describes the contents of a tenant. It is stored as an object of the tenant, and so is lost together with it.
type state struct {
	Seq    uint64 `json:"seq"`
	Origin string `json:"origin"`
	// Format names the rules by which the objects were made.
	Format string `json:"format"`
}

// tenant is the part of a class that belongs to a namespace. It has the common methods of both indexes.
type tenant struct {
	*client

	class, name, format string
	replicas            int // of each object
	origin              func() string
	follows             func() bool

	closed atomic.Bool
	stale  atomic.Bool // chunks is out of date
	chunks atomic.Int64

	mu             sync.Mutex // guards the fields below
	applied, saved uint64
	savedAt        time.Time
	followed       bool // applied has changes of another process, which saved does not have
	failed         bool // the last write
}

// object is an object of a class.
type object struct {
	Class      string         `json:"class"`
	Tenant     string         `json:"tenant"`
	ID         string         `json:"id"`
	Properties map[string]any `json:"properties"`
	Vector     []float32      `json:"vector,omitempty"`
}

// open creates the tenant unless it exists, and reads its state. Contents of another store or format are deleted.
func (t *tenant) open(ctx context.Context, knows func(origin string) bool) error {
	t.stale.Store(true)
	var had struct {
		Properties struct {
			State string `json:"state"`
		} `json:"properties"`
	}
	path := fmt.Sprintf("/objects/%s/%s?tenant=%s&consistency_level=QUORUM", t.class, stateID, t.name)
	err := t.do(ctx, searchTime, http.MethodGet, path, nil, &had)
	if err != nil && !isStatus(err, http.StatusNotFound) && !isStatus(err, http.StatusUnprocessableEntity) {
		return err
	}
	var s state
	if err == nil && json.Unmarshal([]byte(had.Properties.State), &s) == nil && s.Format == t.format && knows(s.Origin) {
		t.applied, t.saved = s.Seq, s.Seq
		return nil
	}
	if t.follows() {
		return fmt.Errorf("%w: weaviate: the process that writes has not filled %s yet", ragctx.ErrUnavailable, t.class)
	}
	tenants := "/schema/" + t.class + "/tenants"
	if err := t.do(ctx, writeTime, http.MethodDelete, tenants, []string{t.name}, nil); err != nil {
		return err
	}
	return t.do(ctx, writeTime, http.MethodPost, tenants, []map[string]string{{"name": t.name}}, nil)
}

// apply writes and then deletes objects, by the id of their chunk. While another process does that, it only counts the change.
func (t *tenant) apply(ctx context.Context, seq uint64, objects []object, deletes []uint64) error {
	if t.closed.Load() {
		return index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stale.Store(true)
	switch {
	case t.follows():
		t.applied, t.followed = max(t.applied, seq), true
		return nil
	case t.followed:
		return fmt.Errorf("%w: weaviate: this process writes from now on, beginning with the changes that the other one may not have saved",
			ragctx.ErrUnavailable)
	}
	err := t.change(ctx, objects, deletes)
	t.stale.Store(true) // it may have been counted in between
	if err == nil {
		t.applied = max(t.applied, seq)
		if t.now().Sub(t.savedAt) >= saveAfter {
			err = t.save(ctx)
		}
	}
	t.failed = err != nil
	return err
}

// change writes and then deletes objects.
func (t *tenant) change(ctx context.Context, objects []object, deletes []uint64) error {
	for some := range slices.Chunk(objects, writeBatch) {
		if err := t.write(ctx, some); err != nil {
			return err
		}
	}
	return t.remove(ctx, "QUORUM", deletes)
}

// write creates or replaces objects.
func (t *tenant) write(ctx context.Context, objects []object) error {
	var results []struct {
		Result struct {
			Errors struct {
				Error problems `json:"error"`
			} `json:"errors"`
		} `json:"result"`
	}
	err := t.do(ctx, writeTime, http.MethodPost, "/batch/objects?consistency_level=QUORUM", map[string]any{"objects": objects}, &results)
	if err != nil {
		return err
	}
	if len(results) != len(objects) {
		return fmt.Errorf("%w: weaviate: wrote %d of %d objects", ragctx.ErrUnavailable, len(results), len(objects))
	}
	for _, r := range results {
		if problem := r.Result.Errors.Error.first(); problem != "" {
			return fmt.Errorf("%w: weaviate: write: %s", ragctx.ErrUnavailable, ragctx.Clip(problem))
		}
	}
	return nil
}

// remove deletes objects from the copies that a consistency level names. It sends the time of the deletion: a node that was away
// restores the objects that it has when it returns, unless they are older than their deletion.
func (t *tenant) remove(ctx context.Context, level string, chunks []uint64) error {
	for some := range slices.Chunk(chunks, maxOnly) {
		if err := t.removeSome(ctx, level, some); err != nil {
			return err
		}
	}
	return nil
}

func (t *tenant) removeSome(ctx context.Context, level string, chunks []uint64) error {
	ids := make([]string, len(chunks))
	for i, c := range chunks {
		ids[i] = objectID(c)
	}
	body := map[string]any{
		"match": map[string]any{
			"class": t.class, "where": map[string]any{"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": ids},
		},
		"output": "minimal", "deletionTimeUnixMilli": t.latest().UnixMilli(),
	}
	var answer struct {
		Results struct {
			Failed int `json:"failed"`
		} `json:"results"`
	}
	err := t.do(ctx, writeTime, http.MethodDelete, "/batch/objects?consistency_level="+level+"&tenant="+t.name, body, &answer)
	if err == nil && answer.Results.Failed > 0 {
		err = fmt.Errorf("%w: weaviate: %d objects could not be deleted", ragctx.ErrUnavailable, answer.Results.Failed)
	}
	return err
}

// save writes the state. The caller holds mu.
func (t *tenant) save(ctx context.Context) error {
	if t.saved == t.applied || t.followed {
		return nil
	}
	text, err := json.Marshal(state{t.applied, t.origin(), t.format})
	if err != nil {
		return err
	}
	o := object{Class: t.class, Tenant: t.name, ID: stateID, Properties: map[string]any{"state": string(text)}}
	if err := t.write(ctx, []object{o}); err != nil {
		return err
	}
	t.saved, t.savedAt = t.applied, t.now()
	return nil
}

// Cursor implements [index.KeywordIndex].
func (t *tenant) Cursor() uint64 {
	if t.closed.Load() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saved
}

// Flush implements [index.KeywordIndex]. The server has written its log when it acknowledges an object.
func (t *tenant) Flush(ctx context.Context) error {
	if t.closed.Load() {
		return index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.save(ctx)
}

// Compact implements [index.KeywordIndex]. The server rewrites its files by itself, and offers no way to wait for that.
func (t *tenant) Compact(ctx context.Context) error { return t.Flush(ctx) }

// Close implements [index.KeywordIndex].
func (t *tenant) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed.Swap(true) {
		return index.ErrClosed
	}
	if t.failed { // the server would not take this, either
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	// If this fails, the changes since the last save are applied again.
	_ = t.save(ctx)
	return nil
}

// Stats implements [index.KeywordIndex]. The chunks are counted again after a change; while the server is away, the last number counts.
func (t *tenant) Stats() index.PartStats {
	if t.closed.Load() {
		return index.PartStats{}
	}
	if t.stale.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), searchTime)
		defer cancel()
		_, _ = t.countChunks(ctx)
	}
	return index.PartStats{Chunks: int(t.chunks.Load()), Kind: "weaviate"}
}

// countChunks returns the number of chunks.
func (t *tenant) countChunks(ctx context.Context) (int64, error) {
	if !t.stale.Swap(false) {
		return t.chunks.Load(), nil
	}
	counts, err := t.counts(ctx, []string{everyChunk})
	if err != nil {
		t.stale.Store(true)
		return 0, err
	}
	t.chunks.Store(counts[0])
	return counts[0], nil
}

// everyChunk is a filter that all chunks pass, and no other object.
const everyChunk = `{path:["chunk"],operator:Equal,valueBoolean:true}`

// among is a filter that the given chunks pass.
func among(chunks []uint64) string {
	var b strings.Builder
	b.WriteString(`{path:["id"],operator:ContainsAny,valueText:[`)
	for i, c := range chunks {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + objectID(c) + `"`)
	}
	b.WriteString("]}")
	return b.String()
}

// counts returns the number of objects that pass each of some filters.
func (t *tenant) counts(ctx context.Context, filters []string) ([]int64, error) {
	var b strings.Builder
	b.WriteString("{Aggregate{")
	for i, f := range filters {
		fmt.Fprintf(&b, "n%d:%s(tenant:%q,where:%s){meta{count}}", i, t.class, t.name, f)
	}
	b.WriteString("}}")
	var answer struct {
		Aggregate map[string][]struct{ Meta struct{ Count int64 } }
	}
	if err := t.query(ctx, b.String(), &answer); err != nil {
		return nil, err
	}
	counts := make([]int64, len(filters))
	for i := range counts {
		if rows := answer.Aggregate[fmt.Sprint("n", i)]; len(rows) > 0 {
			counts[i] = rows[0].Meta.Count
		}
	}
	return counts, nil
}

// hit is an object that a search found.
type hit struct {
	ID       string  `json:"id"`
	Score    string  `json:"score"`
	Distance float64 `json:"distance"`
}

// find returns the first n objects of a search, which is given by its arguments.
func (t *tenant) find(ctx context.Context, search, filter string, n int) ([]hit, error) {
	if filter != "" {
		filter = ",where:" + filter
	}
	if t.replicas > 1 { // else the server does not know the argument
		search += ",consistencyLevel:QUORUM"
	}
	text := fmt.Sprintf("{Get{%s(tenant:%q,limit:%d%s%s){_additional{id score distance}}}}", t.class, t.name, n, search, filter)
	var answer struct {
		Get map[string][]struct {
			Additional hit `json:"_additional"`
		}
	}
	if err := t.query(ctx, text, &answer); err != nil {
		return nil, err
	}
	rows := answer.Get[t.class]
	hits := make([]hit, len(rows))
	for i := range rows {
		hits[i] = rows[i].Additional
	}
	return hits, nil
}

// best returns the k best accepted hits of a search.
func (t *tenant) best(
	ctx context.Context, search string, every bool, k int, accept index.Accept, only index.Only, score func(hit) (float64, error),
) ([]index.Scored, error) {
	filter, listed := "", only != nil && len(only) <= maxOnly
	if every {
		filter = everyChunk
	}
	if listed {
		filter, k = among(only), min(k, len(only))
	}
	return index.BestAccepted(k, maxResults, accept, listed, func(n int) (hits []index.Scored, all bool, err error) {
		rows, err := t.find(ctx, search, filter, n)
		if err != nil {
			return nil, false, err
		}
		for _, row := range rows {
			id, err := chunkOf(row.ID)
			if err != nil {
				continue
			}
			s, err := score(row)
			if err != nil {
				return nil, false, err
			}
			hits = append(hits, index.Scored{ID: id, Score: s})
		}
		return hits, len(rows) < n, nil
	})
}
