package weaviate

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
)

func TestParse(t *testing.T) {
	hosts, name, err := parse("weaviate://a,b.example.com:9000/Team1", "")
	if err != nil || len(hosts) != 2 || hosts[0].String() != "http://a:8080" || hosts[1].String() != "http://b.example.com:9000" || name != "Team1" {
		t.Errorf("%v, %q, %v", hosts, name, err)
	}
	if _, _, err := parse("weaviate://b.example.com", "secret"); !errors.Is(err, ragctx.ErrInvalid) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a key without TLS: %v", err)
	}
	if hosts, _, err := parse("weaviates://b.example.com", "secret"); err != nil || hosts[0].String() != "https://b.example.com:8080" {
		t.Errorf("a key with TLS: %v, %v", hosts, err)
	}
	for _, other := range []string{"http://a", "https://a", "ftp://a", "postgres://a/x", "a"} {
		if err := Check(other); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestFailover sends requests to the next endpoint when one is away or out of order, and stays there. A rejected request is not sent to others.
func TestFailover(t *testing.T) {
	var asked [2]atomic.Int32
	var status [2]atomic.Int32
	var urls []string
	for i := range asked {
		status[i].Store(http.StatusOK)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked[i].Add(1)
			w.WriteHeader(int(status[i].Load()))
			_, _ = w.Write([]byte(`{"error":[{"message":"trouble"}]}`))
		}))
		t.Cleanup(s.Close)
		urls = append(urls, strings.TrimPrefix(s.URL, "http://"))
	}
	p, err := New(Options{URL: "weaviate://127.0.0.1:1," + strings.Join(urls, ",")})
	if err != nil {
		t.Fatal(err)
	}
	send := func() error { return p.do(t.Context(), searchTime, http.MethodGet, "/schema", nil, nil) }
	want := func(first, second int32) {
		t.Helper()
		if a, b := asked[0].Load(), asked[1].Load(); a != first || b != second {
			t.Fatalf("asked %d and %d times, want %d and %d", a, b, first, second)
		}
	}
	for range 2 {
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	want(2, 0)
	status[0].Store(http.StatusServiceUnavailable)
	for range 2 {
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	want(3, 2)
	status[1].Store(http.StatusUnprocessableEntity)
	if err := send(); !errors.Is(err, ragctx.ErrUnavailable) || !isStatus(err, http.StatusUnprocessableEntity) || !strings.Contains(err.Error(), "trouble") {
		t.Fatalf("rejected: %v", err)
	}
	want(3, 3)
	status[1].Store(http.StatusInternalServerError)
	if err := send(); !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, ragctx.ErrInvalid) {
		t.Fatalf("no endpoint: %v", err)
	}
	want(4, 4)
}

// TestSilentEndpoint lets a request end at an endpoint that does not answer. The next one goes to another endpoint.
func TestSilentEndpoint(t *testing.T) {
	urls := []string{"127.0.0.1:1"} // refuses
	for i := range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if i == 0 {
				<-r.Context().Done()
			}
		}))
		t.Cleanup(s.Close)
		urls = append(urls, strings.TrimPrefix(s.URL, "http://"))
	}
	p, err := New(Options{URL: "weaviate://" + strings.Join(urls, ",")})
	if err != nil {
		t.Fatal(err)
	}
	short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if err := p.do(short, searchTime, http.MethodGet, "/schema", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("an endpoint that does not answer: %v", err)
	}
	if err := p.do(t.Context(), time.Minute, http.MethodGet, "/schema", nil, nil); err != nil || p.first.Load() != 2 {
		t.Errorf("endpoint %d, %v", p.first.Load(), err)
	}
}

// TestConnectionIsUsedAgain sends requests one after another, whose answers come in pieces.
func TestConnectionIsUsedAgain(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":{}}`))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(10 * time.Millisecond)
		_, _ = w.Write([]byte("\n"))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	p, err := New(Options{URL: "weaviate://" + strings.TrimPrefix(s.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		var out struct{}
		if err := p.query(t.Context(), "{}", &out); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for requests one after another", n)
	}
}

func TestObjectID(t *testing.T) {
	for _, chunk := range []uint64{0, 1, 1 << 48, 1<<48 - 1, math.MaxUint64} {
		if got, err := chunkOf(objectID(chunk)); got != chunk || err != nil || len(objectID(chunk)) != 36 {
			t.Errorf("%d is %s, which is %d, %v", chunk, objectID(chunk), got, err)
		}
	}
}

// TestTerms counts the terms of a chunk: its words and smoothing decide how many they are.
func TestTerms(t *testing.T) {
	terms := strings.Fields(termsOf(index.TextChunk{Title: "Storm", Text: "the harbour storm harbour"}))
	if len(terms) != termsPerWord*(5+smoothing) {
		t.Errorf("%d terms of 5 words", len(terms))
	}
	often := make(map[string]int)
	for _, term := range terms {
		often[term]++
	}
	if often["storm"] != 3 || often["harbour"] != 2 || often["harbour"+pairMark+"storm"] != 1 || often[gramMark+"_sto"] != 1 {
		t.Errorf("terms: %v", often)
	}
}

func TestAway(t *testing.T) {
	indextest.TestAway(t, func(t *testing.T, address string) index.Opener {
		p, err := New(Options{URL: "weaviate://" + address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	})
}

// noAnswer is a transport whose requests are not answered.
type noAnswer struct{ error }

func (n noAnswer) RoundTrip(*http.Request) (*http.Response, error) { return nil, n.error }

// TestNoAnswer checks that a server is away if a request is not answered, whatever the error of net/http.
func TestNoAnswer(t *testing.T) {
	p, err := New(Options{URL: "weaviate://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.client.http = &http.Client{Transport: noAnswer{errors.New("http: server closed idle connection")}}
	if err := p.KeepSpace(t.Context(), "space"); !errors.Is(err, index.ErrAway) {
		t.Errorf("the server is not away: %v", err)
	}
}
