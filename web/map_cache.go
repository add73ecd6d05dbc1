package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

const (
	maxPoints   = 20_000           // of a map; larger namespaces are sampled evenly
	maxMaps     = 4                // that are kept; a map has at most 20 MB of vectors
	mapLifetime = 10 * time.Minute // after that a map is made again, so that it does not keep what was erased
	mapTime     = 3 * time.Minute  // that making one may take
	mapBatch    = 400_000          // bytes of texts of one request of embeddings; REST allows 512 KiB to readers
	mapTexts    = 1024             // texts of one request
)

// mapPoint is a chunk on the map. Texts are not kept: they are read when they are shown.
type mapPoint struct {
	ID, Document, Source string
	Tags                 []string
	At                   [2]float64
}

// vectorMap is a map of a namespace, or one in the making.
type vectorMap struct {
	begun    time.Time
	cancel   context.CancelFunc
	read     atomic.Int64 // documents so far
	of       atomic.Int64
	done     chan struct{} // closed when the fields below are set
	err      error
	points   []mapPoint
	chunks   int // of the namespace
	vectors  vectors
	plane    plane
	low      [2]float64 // ends of the map
	high     [2]float64
	outliers []neighbour
	pairs    []pair
}

// ready reports whether the map is made.
func (m *vectorMap) ready() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// mapCache has the maps of a console, by key and namespace. Each is made in the background, once, and ends with
// its lifetime.
type mapCache struct {
	drawing sync.Mutex // held while a map is drawn

	mu  sync.Mutex
	all map[string]*vectorMap
}

// of returns the map of a key and a namespace, and begins to make it if there is none.
func (c *mapCache) of(name string, now time.Time, draw func(context.Context, *vectorMap) error) *vectorMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, m := range c.all {
		if now.Sub(m.begun) > mapLifetime {
			delete(c.all, other)
		}
	}
	if m := c.all[name]; m != nil {
		return m
	}
	if len(c.all) >= maxMaps {
		oldest := ""
		for other, m := range c.all {
			if oldest == "" || m.begun.Before(c.all[oldest].begun) {
				oldest = other
			}
		}
		c.all[oldest].cancel()
		delete(c.all, oldest)
	}
	ctx, cancel := context.WithTimeout(context.Background(), mapTime)
	m := &vectorMap{begun: now, cancel: cancel, done: make(chan struct{})}
	c.all[name] = m
	go func() {
		defer cancel()
		defer close(m.done)
		c.drawing.Lock() // one at a time, as each keeps a processor busy
		defer c.drawing.Unlock()
		m.err = draw(ctx, m)
	}()
	return m
}

// drop forgets a map, so that it is made again, unless it is still in the making.
func (c *mapCache) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.all[name]; m != nil && m.ready() {
		delete(c.all, name)
	}
}

// documentOf has the fields of a document that the map needs.
type documentOf struct {
	ID, Source string
	Tags       []string
	Chunks     int
	ChunkList  []struct{ ID, Text string } `json:"chunk_list"`
}

// makeMap reads the chunks of a namespace, embeds a sample of them and finds their plane.
func makeMap(ctx context.Context, client *api.Client, namespace string, m *vectorMap) error {
	scope := func(args ...string) url.Values {
		q := url.Values{}
		for i := 0; i+1 < len(args); i += 2 {
			q.Set(args[i], args[i+1])
		}
		if namespace != "" {
			q.Set("namespace", namespace)
		}
		return q
	}
	var documents []documentOf
	for cursor := ""; ; {
		q := scope("limit", "1000")
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		list, err := call[struct {
			Documents []documentOf
			Next      string `json:"next_cursor"`
		}](ctx, client, http.MethodGet, "/v1/documents", q, nil)
		if err != nil {
			return err
		}
		documents = append(documents, list.Documents...)
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	for _, d := range documents {
		m.chunks += d.Chunks
	}
	m.of.Store(int64(len(documents)))
	e := embedding{ctx: ctx, client: client, m: m}
	at := 0 // number of the next chunk of the namespace
	for _, d := range documents {
		m.read.Add(1)
		first := at
		at += d.Chunks
		if !sampled(first, at, m.chunks) {
			continue
		}
		full, err := call[documentOf](ctx, client, http.MethodGet, "/v1/documents/"+segment(d.ID), scope("chunks", "true", "text",
			"false"), nil)
		if errors.Is(err, ragctx.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		for i, c := range full.ChunkList {
			if !sampled(first+i, first+i+1, m.chunks) {
				continue
			}
			if err := e.add(mapPoint{ID: c.ID, Document: d.ID, Source: d.Source, Tags: d.Tags}, c.Text); err != nil {
				return err
			}
		}
	}
	if err := e.flush(); err != nil {
		return err
	}
	if len(m.points) == 0 {
		return nil
	}
	m.plane = principal(m.vectors)
	for i := range m.points {
		at := m.plane.at(m.vectors.row(i))
		if m.points[i].At = at; i == 0 {
			m.low, m.high = at, at
		}
		for k := range at {
			m.low[k], m.high[k] = min(m.low[k], at[k]), max(m.high[k], at[k])
		}
	}
	m.outliers, m.pairs = m.vectors.outliers(20), m.vectors.duplicates(0.95, 100)
	return nil
}

// sampled reports whether the sample has one of the chunks from first to before end.
func sampled(first, end, of int) bool {
	if of <= maxPoints {
		return end > first
	}
	return first*maxPoints/of != end*maxPoints/of
}

// embedding embeds texts in batches.
type embedding struct {
	ctx    context.Context //nolint:containedctx // of the one call that makes the map
	client *api.Client
	m      *vectorMap
	points []mapPoint
	texts  []string
	bytes  int
}

func (e *embedding) add(p mapPoint, text string) error {
	if e.bytes+len(text) > mapBatch || len(e.texts) == mapTexts {
		if err := e.flush(); err != nil {
			return err
		}
	}
	if len(text) > mapBatch {
		text = text[:mapBatch]
	}
	e.points, e.texts, e.bytes = append(e.points, p), append(e.texts, text), e.bytes+len(text)
	return nil
}

// flush embeds the texts that are waiting. A text without a vector gives no point.
func (e *embedding) flush() error {
	if len(e.texts) == 0 {
		return nil
	}
	all, err := vectorsOf(e.ctx, e.client, e.texts)
	if err != nil {
		return err
	}
	for i, v := range all {
		if len(v) == 0 {
			continue
		}
		e.m.vectors.dims = len(v)
		e.m.vectors.all = append(e.m.vectors.all, v...)
		e.m.points = append(e.m.points, e.points[i])
	}
	e.points, e.texts, e.bytes = nil, nil, 0
	return nil
}

// vectorsOf returns the vectors of texts. A text that the model cannot represent has an empty one.
func vectorsOf(ctx context.Context, client *api.Client, texts []string) ([][]float32, error) {
	out, err := call[struct{ Data []struct{ Embedding string } }](ctx, client, http.MethodPost, "/v1/embeddings", nil,
		map[string]any{"input": texts, "encoding_format": "base64"})
	if err != nil {
		return nil, err
	}
	if len(out.Data) != len(texts) {
		return nil, errors.New("the embeddings of " + strconv.Itoa(len(texts)) + " texts are " + strconv.Itoa(len(out.Data)))
	}
	all := make([][]float32, len(texts))
	for i, d := range out.Data {
		raw, err := base64.StdEncoding.DecodeString(d.Embedding)
		if err != nil {
			return nil, err
		}
		all[i] = make([]float32, len(raw)/4)
		if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, all[i]); err != nil {
			return nil, err
		}
		for _, x := range all[i] {
			if math.IsNaN(float64(x)) {
				all[i] = nil
				break
			}
		}
	}
	return all, nil
}
