package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/remote"
	"github.com/ragctx/ragctx/internal/tokens"
)

// TestAnyBatches embeds random texts, some of which the service rejects, under random limits on
// both sides. Every text that the service accepts alone has its vector, whatever else is in its
// batch.
func TestAnyBatches(t *testing.T) {
	counter, err := tokens.New("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	var current *fake
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		f := current
		mu.Unlock()
		f.ServeHTTP(w, r)
	}))
	defer s.Close()
	rapid.Check(t, func(rt *rapid.T) {
		f := &fake{
			shape:    rapid.SampledFrom(remote.Shapes()).Draw(rt, "shape"),
			dim:      rapid.IntRange(1, 8).Draw(rt, "dim"),
			maxItems: rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(rt, "max items"),
			bad:      func(text string) bool { return strings.Contains(text, "bad") },
			badness:  rapid.SampledFrom([]int{400, 413, 422, 500, 424}).Draw(rt, "badness"),
		}
		mu.Lock()
		current = f
		mu.Unlock()
		o := remote.Options{
			Dimensions: rapid.SampledFrom([]int{0, f.dim}).Draw(rt, "dimensions"),
			BatchSize:  rapid.IntRange(1, 9).Draw(rt, "batch size"), BatchTokens: rapid.IntRange(1, 40).Draw(rt, "batch tokens"),
			Parallel: rapid.IntRange(1, 3).Draw(rt, "parallel"), Base64: rapid.Bool().Draw(rt, "base64"),
			DocumentPrefix: rapid.SampledFrom([]string{"", "passage: "}).Draw(rt, "prefix"),
		}
		word := rapid.SampledFrom([]string{"", " ", "\n", "bad", "a", "two words", "größer", "日本語の文書", strings.Repeat("long ", 20), "\xff\xfe"})
		texts := rapid.SliceOfN(word, 0, 30).Draw(rt, "texts")
		for i, text := range texts {
			if strings.TrimSpace(text) != "" {
				texts[i] = fmt.Sprint(text, i%25) // some come again
			}
		}
		c, _ := newClient(t, s.URL, f.shape, o)
		got, err := c.EmbedDocuments(t.Context(), texts)
		if err != nil || len(got) != len(texts) {
			rt.Fatalf("%d vectors for %d texts: %v", len(got), len(texts), err)
		}
		rejected := make(map[string]bool)
		for i, text := range texts {
			var want []float32
			switch {
			case strings.TrimSpace(text) == "":
			case strings.Contains(text, "bad"):
				rejected[text] = true
			default:
				want = f.want(strings.ToValidUTF8(o.DocumentPrefix+text, "\ufffd"))
				if text[0] == '\xff' { // each byte is replaced by itself
					want = f.want(o.DocumentPrefix + "\ufffd\ufffd" + text[2:])
				}
			}
			if !near(got[i], want) {
				rt.Errorf("text %d, %q: %v, want %v", i, text, got[i], want)
			}
		}
		u := c.Usage().Documents
		if int(u.Rejected) != len(rejected) || u.Failures != 0 {
			rt.Errorf("%d rejected, want %d; %+v", u.Rejected, len(rejected), u)
		}
		for _, sent := range f.served() {
			sum := 0
			for _, text := range sent {
				sum += counter.Count(text)
			}
			if len(sent) > o.BatchSize || len(sent) > 1 && sum > o.BatchTokens {
				rt.Errorf("a request of %d texts with %d tokens", len(sent), sum)
			}
		}
	})
}

// numbered returns n texts.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("t", i)
	}
	return texts
}

// TestRepeatedTexts are sent once.
func TestRepeatedTexts(t *testing.T) {
	f := &fake{shape: remote.TEI, dim: 3, bad: func(s string) bool { return s == "bad" }, badness: 422}
	c, _ := start(t, f, remote.Options{})
	got, err := c.EmbedDocuments(t.Context(), []string{"a", "bad", "a", "b", "bad", "a"})
	if err != nil || !near(got[5], f.want("a")) || !near(got[2], got[0]) || got[1] != nil || got[4] != nil {
		t.Errorf("%v, %v", got, err)
	}
	if u := c.Usage().Documents; u.Texts-u.Rejected > 4 || u.Rejected != 1 || len(f.served()[0]) != 3 {
		t.Errorf("%+v, %q", u, f.served())
	}
}

func near(a, b []float32) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	for i := range a {
		if d := a[i] - b[i]; d > 1e-6 || d < -1e-6 {
			return false
		}
	}
	return true
}

// TestBisectingIsCheap: one bad text of 64 costs some 2·log2(64) requests more.
func TestBisectingIsCheap(t *testing.T) {
	f := &fake{shape: remote.OpenAI, dim: 3, bad: func(s string) bool { return s == "t37" }, badness: 400}
	c, _ := start(t, f, remote.Options{APIKey: secret, BatchSize: 64})
	got, err := c.EmbedDocuments(t.Context(), numbered(64))
	if err != nil || got[37] != nil || slices.ContainsFunc(slices.Delete(got, 37, 38), func(v []float32) bool { return v == nil }) {
		t.Errorf("%v", err)
	}
	if n := len(f.served()); n > 14 {
		t.Errorf("%d requests", n)
	}
}

// TestTooLongForTheModel: if only the service knows that a text is too long, the beginning of the
// text is embedded.
func TestTooLongForTheModel(t *testing.T) {
	f := &fake{shape: remote.OpenAI, dim: 3, maxBytes: 900}
	c, _ := start(t, f, remote.Options{DocumentPrefix: "d: "})
	long := strings.Repeat("größer ", 300)
	got, err := c.EmbedDocuments(t.Context(), []string{"short", long})
	if err != nil || !near(got[0], f.want("d: short")) || got[1] == nil {
		t.Fatalf("%v, %v", got, err)
	}
	sent := f.served()
	last := sent[len(sent)-1][0]
	if !strings.HasPrefix("d: "+long, last) || len(last) < 450 || !near(got[1], f.want(last)) {
		t.Errorf("%d bytes were taken", len(last))
	}
	if u := c.Usage().Documents; u.Shortened != 1 || u.Rejected != 0 {
		t.Errorf("%+v", u)
	}
}

// TestWrongSettings: a service that refuses everything has not refused the texts.
func TestWrongSettings(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 413, 422} {
		f := &fake{shape: remote.Ollama, dim: 3, status: status}
		c, _ := start(t, f, remote.Options{})
		got, err := c.EmbedDocuments(t.Context(), []string{"a", "b", "c"})
		if got != nil || err == nil || errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "on purpose") {
			t.Errorf("%d: %v, %v", status, got, err)
		}
		if n := len(f.served()); n > 2 {
			t.Errorf("%d: %d requests", status, n)
		}
		if u := c.Usage().Documents; u.Rejected != 0 || u.Texts != 0 {
			t.Errorf("%d: %+v", status, u)
		}
	}
}

// TestRetryAfterIsHonoured: documents wait as long as the service asks, up to a limit, and all
// batches of a call share its budget.
func TestRetryAfterIsHonoured(t *testing.T) {
	f := &fake{shape: remote.TEI, dim: 3, status: 429, header: http.Header{"Retry-After": {"7"}}}
	c, clock := start(t, f, remote.Options{Retries: 2})
	_, err := c.EmbedDocuments(t.Context(), []string{"a"})
	if !errors.Is(err, ragctx.ErrUnavailable) || clock.slept < 7*time.Second || clock.slept > 21*time.Second {
		t.Errorf("%v after %v", err, clock.slept)
	}
	f.header.Set("Retry-After", "3600")
	before := clock.slept
	if _, err = c.EmbedDocuments(t.Context(), []string{"a"}); !errors.Is(err, ragctx.ErrUnavailable) || clock.slept != before {
		t.Errorf("%v after %v more", err, clock.slept-before)
	}
}

func TestBudget(t *testing.T) {
	f := &fake{shape: remote.TEI, dim: 3, status: 503}
	o := remote.Options{Retries: 3, BatchSize: 1, Parallel: 1}
	o.Breaker.After = 1000
	c, _ := start(t, f, o)
	if _, err := c.EmbedDocuments(t.Context(), numbered(50)); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Error(err)
	}
	if u := c.Usage().Documents; u.Requests > 10 || u.Retries < 3 || u.Failures < 1 {
		t.Errorf("%+v", u)
	}
}

// TestCancelled: a caller that cancels ends the call, which says nothing about the service.
func TestCancelled(t *testing.T) {
	f := &fake{shape: remote.OpenAI, dim: 3, hang: make(chan struct{})}
	defer close(f.hang)
	o := remote.Options{BatchSize: 1}
	o.Breaker.After = 1
	c, _ := start(t, f, o)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := c.EmbedDocuments(ctx, numbered(20)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if u := c.Usage(); u.State != "closed" || u.Documents.Failures != 0 {
		t.Errorf("%+v", u)
	}
}
