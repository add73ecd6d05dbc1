// Package weaviate keeps the indexes of all collections in a Weaviate server (1.38 or later) or cluster, over HTTP. This process has
// the catalog of each open collection, in memory; it is read from the store when the collection is opened.
//
// A kind of item has a class for its words, and one for the vectors of each embedding space. A namespace is a tenant of these
// classes. Objects have the ids of their chunks. Reads and writes are at QUORUM.
package weaviate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// scheme and schemeTLS begin the URL of a cluster.
const (
	scheme    = "weaviate"
	schemeTLS = "weaviates"
)

const (
	defaultPort = "8080"
	defaultName = "ragctx"
	layout      = "1" // of the objects; another one makes the indexes anew
)

// Options configure an [Opener].
type Options struct {
	// URL is weaviate://host:port,host:port/name, or weaviates:// for TLS. The hosts are endpoints of one cluster; the port is
	// 8080 by default. The name begins the names of the classes, "ragctx" by default: each database needs its own.
	URL string
	// Key is the API key, or "". It is sent without TLS to private hosts only.
	Key string
	// Follows reports whether another process writes to the indexes, from the same changes. This one then only reads. nil is never.
	Follows func() bool
	Now     func() time.Time // nil is the system clock
	Logger  *slog.Logger     // nil is silent
}

// parse returns the endpoints and the name in a URL.
func parse(raw, key string) (hosts []*url.URL, name string, err error) {
	given, rest, _ := strings.Cut(raw, "://")
	list, name, named := strings.Cut(rest, "/")
	if !named || name == "" {
		name = defaultName
	}
	to := map[string]string{scheme: "http", schemeTLS: "https"}[given]
	if to == "" || list == "" || strings.Trim(name, nameLetters) != "" || len(name) > maxName {
		return nil, "", ragctx.Invalid("index", "%q is no URL of a Weaviate cluster; write it as weaviate://host1,host2 or "+
			"weaviate://host:8080/name, with a name of at most %d letters and digits", ragctx.Clip(raw), maxName)
	}
	for host := range strings.SplitSeq(list, ",") {
		if u := (&url.URL{Host: host}); u.Port() == "" {
			host += ":" + defaultPort
		}
		u, err := httpclient.ParseEndpoint(to+"://"+host, key)
		if err != nil {
			return nil, "", err
		}
		if u.Hostname() == "" || u.RawQuery != "" {
			return nil, "", ragctx.Invalid("index", "%q is no host; write host or host:port", ragctx.Clip(host))
		}
		hosts = append(hosts, u)
	}
	return hosts, name, nil
}

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	maxName     = 40
)

// Check returns an error that matches [ragctx.ErrInvalid] unless raw is a URL for [Options].
func Check(raw string) error {
	_, _, err := parse(raw, "")
	return err
}

// Opener opens indexes in a cluster.
type Opener struct {
	*client

	prefix  string
	follows func() bool
	log     *slog.Logger

	mu    sync.Mutex
	known map[string]int // replicas of each object, by the classes that exist
}

var _ index.Opener = (*Opener)(nil)

// New returns an opener. It sends no request.
func New(o Options) (*Opener, error) {
	hosts, name, err := parse(o.URL, o.Key)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Opener{
		client: newClient(hosts, o.Key, o.Now, o.Logger), prefix: strings.ToUpper(name[:1]) + name[1:], follows: o.Follows, log: o.Logger,
		known: make(map[string]int),
	}
	if p.follows == nil {
		p.follows = func() bool { return false }
	}
	return p, nil
}

// Close ends all requests, and closes the connections.
func (p *Opener) Close() error {
	for _, d := range p.dogs {
		d.Close()
	}
	p.http.CloseIdleConnections()
	return nil
}

// wordClass returns the name of the class of a kind's words, and vectorClass of its vectors in an embedding space.
func (p *Opener) wordClass(kind string) string { return p.prefix + "_" + kind + "_words" }

func (p *Opener) vectorClass(kind, space string) string {
	return p.prefix + "_" + kind + vectorsOf + fmt.Sprintf("%x", space)
}

const vectorsOf = "_vectors_"

func tenantName(c index.Collection) string { return "ns" + strconv.FormatInt(c.Namespace, 10) }

// Open implements [index.Opener]. The engine is an [index.Hybrid] with both indexes in the cluster. It opens while the cluster is
// away: it is degraded then, and opens its indexes when the cluster answers.
func (p *Opener) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	if err := checkSpace(o.Space); err != nil {
		return nil, err
	}
	knows, origin := o.Knows, o.Origin
	if knows == nil {
		knows = func(string) bool { return true }
	}
	if origin == nil {
		origin = func() string { return "" }
	}
	tenantOf := func(class, format string) tenant {
		return tenant{
			client: p.client, class: class, name: tenantName(o.Collection), format: format, origin: origin, follows: p.follows,
		}
	}
	h, err := index.Open(ctx, index.Options{
		Feed: o.Feed, Space: o.Space, Origin: o.Origin, Knows: o.Knows, Monitor: o.Monitor, Deferred: o.Deferred,
		Keyword: func(ctx context.Context) (index.KeywordIndex, error) {
			x := &keywordIndex{tenant: tenantOf(p.wordClass(o.Kind), layout+"-"+analysis.Version)}
			return x, p.openTenant(ctx, &x.tenant, words(), knows)
		},
		Vector: func(ctx context.Context, s index.Space) (index.VectorIndex, error) {
			x := &vectorIndex{tenant: tenantOf(p.vectorClass(o.Kind, s.Name), layout+"-"+s.Identity), dim: s.Dimensions}
			return x, p.openTenant(ctx, &x.tenant, vectors(), knows)
		},
		Sweep:  sweepInterval,
		Back:   p.back.Next,
		Logger: p.log.With("namespace", o.Namespace, "kind", o.Kind),
	})
	if err != nil {
		return nil, err
	}
	return hybrid{h}, nil
}

// hybrid is an [index.Hybrid] that rejects embedding spaces with interim vectors.
type hybrid struct{ *index.Hybrid }

// Prepare implements [index.Spaces].
func (h hybrid) Prepare(ctx context.Context, to index.Space) error {
	if err := checkSpace(to); err != nil {
		return err
	}
	return h.Hybrid.Prepare(ctx, to)
}

func checkSpace(s index.Space) error {
	if s.Interim == nil {
		return nil
	}
	return ragctx.Invalid("embedder", "has interim vectors, which an index in Weaviate does not hold; use static, minilm or a service")
}

// openTime bounds the opening of an index.
const openTime = 5 * time.Second

// openTenant opens a tenant, and creates its class unless it exists.
func (p *Opener) openTenant(ctx context.Context, t *tenant, class map[string]any, knows func(string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, openTime+p.client.slack)
	defer cancel()
	var err error
	if t.replicas, err = p.ensureClass(ctx, t.class, class); err != nil {
		return err
	}
	if err := t.open(ctx, knows); err != nil {
		p.mu.Lock()
		delete(p.known, t.class) // it may have been deleted
		p.mu.Unlock()
		return err
	}
	return nil
}

// ensureClass creates a class unless it exists. It returns the number of replicas of each object.
func (p *Opener) ensureClass(ctx context.Context, name string, class map[string]any) (replicas int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.known[name]; n > 0 {
		return n, nil
	}
	n, err := p.replicas(ctx, name)
	if isStatus(err, http.StatusNotFound) {
		if err = p.create(ctx, name, class); err != nil {
			return 0, err
		}
		n, err = p.replicas(ctx, name)
	}
	if err != nil {
		return 0, err
	}
	p.known[name] = n
	return n, nil
}

func (p *Opener) replicas(ctx context.Context, class string) (int, error) {
	var had struct{ ReplicationConfig struct{ Factor int } }
	err := p.do(ctx, searchTime, http.MethodGet, "/schema/"+class, nil, &had)
	return max(1, had.ReplicationConfig.Factor), err
}

// maxReplicas is the number of nodes that hold each object, or all nodes if they are fewer.
const maxReplicas = 3

func (p *Opener) create(ctx context.Context, name string, class map[string]any) error {
	var nodes struct{ Nodes []struct{} }
	if err := p.do(ctx, searchTime, http.MethodGet, "/nodes", nil, &nodes); err != nil {
		return err
	}
	class["class"], class["vectorizer"] = name, "none"
	class["multiTenancyConfig"] = map[string]any{"enabled": true, "autoTenantActivation": true}
	class["replicationConfig"] = map[string]any{
		"factor": max(1, min(maxReplicas, len(nodes.Nodes))), "asyncEnabled": len(nodes.Nodes) > 1,
		"deletionStrategy": "TimeBasedResolution",
	}
	err := p.do(ctx, writeTime, http.MethodPost, "/schema", class, nil)
	if isStatus(err, http.StatusUnprocessableEntity) {
		if _, there := p.replicas(ctx, name); there == nil {
			return nil // another process created it
		}
	}
	return err
}

// property describes a property of a class. It is only indexed as it is asked for.
func property(name, kind string, filter bool) map[string]any {
	return map[string]any{"name": name, "dataType": []string{kind}, "indexFilterable": filter, "indexSearchable": false}
}

// words describes a class of words.
func words() map[string]any {
	return map[string]any{
		"properties": []any{property("chunk", "boolean", true), property("state", "text", false), map[string]any{
			"name": "terms", "dataType": []string{"text"}, "tokenization": "whitespace", "indexFilterable": true, "indexSearchable": true,
		}},
		"vectorIndexConfig": map[string]any{"skip": true},
		"invertedIndexConfig": map[string]any{
			"bm25": map[string]any{"k1": k1, "b": b}, "stopwords": map[string]any{"preset": "none"},
		},
	}
}

// flatCutoff is the number of chunks that pass a filter up to which the server compares all of them. It is above any number, so that a
// search with a filter is exact.
const flatCutoff = 1 << 40

// vectors describes a class of vectors.
func vectors() map[string]any {
	return map[string]any{
		"properties":      []any{property("chunk", "boolean", true), property("state", "text", false)},
		"vectorIndexType": "hnsw",
		"vectorIndexConfig": map[string]any{
			"distance": "cosine", "efConstruction": 128, "maxConnections": 32, "flatSearchCutoff": flatCutoff,
		},
	}
}

// classes returns the names of the classes that this opener has created.
func (p *Opener) classes(ctx context.Context) (names []string, err error) {
	var schema struct{ Classes []struct{ Class string } }
	err = p.do(ctx, searchTime, http.MethodGet, "/schema", nil, &schema)
	for _, c := range schema.Classes {
		if strings.HasPrefix(c.Class, p.prefix+"_") {
			names = append(names, c.Class)
		}
	}
	return names, err
}

// Drop implements [index.Opener].
func (p *Opener) Drop(ctx context.Context, c index.Collection) error {
	names, err := p.classes(ctx)
	errs := []error{err}
	for _, name := range names {
		if strings.HasPrefix(name, p.prefix+"_"+c.Kind+"_") {
			errs = append(errs, p.do(ctx, writeTime, http.MethodDelete, "/schema/"+name+"/tenants", []string{tenantName(c)}, nil))
		}
	}
	return errors.Join(errs...)
}

// KeepSpace implements [index.Opener].
func (p *Opener) KeepSpace(ctx context.Context, space string) error {
	if p.follows() {
		return nil
	}
	names, err := p.classes(ctx)
	errs := []error{err}
	for _, name := range names {
		if _, of, ok := strings.Cut(name, vectorsOf); ok && of != fmt.Sprintf("%x", space) {
			errs = append(errs, p.do(ctx, writeTime, http.MethodDelete, "/schema/"+name, nil, nil))
		}
	}
	return errors.Join(errs...)
}

// Newest implements [index.Opener]. It returns no change: a tenant of another or an older store is found when it is opened.
func (p *Opener) Newest(context.Context) (uint64, string, error) { return 0, "", nil }

// Size implements [index.Opener]. It returns 0, as the server does not say it.
func (p *Opener) Size(context.Context) (int64, error) { return 0, nil }
