//go:build unix

package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

var benchChunks = flag.Int("chunks", 2000, "chunks that the benchmark of the pages stores; the budget is for 100000")

// processTime returns the processor time that this process has used.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPages measures the server's time for each page, which must stay below 200 ms with 100,000 chunks. On a busy machine
// the time of the processors, of which a page may use two, says more.
func BenchmarkPages(b *testing.B) {
	f := start(b, api.Options{})
	fill(b, f, *benchChunks)
	f.talk(1000)
	for _, path := range []string{
		"/console/memory?user=ada", "/console/memory/timeline?user=ada&step=700", "/console/conversations",
		"/console/conversations/one?id=long&user=ada", "/console/conversations/tokens?id=long&user=ada",
		"/console/map", "/console/map?q=bafo+cedi+note", "/console/map/points", "/console/teams", "/console/teams/one?cluster=crew",
		"/console/playground?q=where+did+bafo+cedi+the+jeki+note%3F", "/console/playground?q=where+did+bafo+cedi+the+jeki+note%3F&compare=1",
		"/console/playground/answer?q=where+did+bafo+cedi+the+jeki+note%3F&max_tokens=1234", "/console/documents", "/console/documents?q=bafo+cedi+note",
		"/console/documents/one?id=d00007", "/console/health", "/console/health/jobs", "/console/health/audit",
	} {
		for a := f.get(path); strings.Contains(a.body, "is being drawn"); a = f.get(path) { // opens the indexes
			time.Sleep(100 * time.Millisecond)
		}
		b.Run(strings.ReplaceAll(path, "/", "."), func(b *testing.B) {
			before := processTime()
			for b.Loop() {
				if a := f.get(path); a.status != 200 {
					b.Fatal(a.status, a.body)
				}
			}
			b.ReportMetric((processTime()-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// talk stores a conversation, turns and messages of a team.
func (f *fixture) talk(n int) {
	f.t.Helper()
	post := func(path string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			f.t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+path, bytes.NewReader(b))
		if err != nil {
			f.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if a := f.do(r); a.status >= 300 {
			f.t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
	}
	var messages []map[string]any
	for i := range n {
		messages = append(messages, map[string]any{
			"role": []string{"user", "assistant"}[i%2], "content": fmt.Sprintf("Message %d: the deploy of service %d waits for a review.", i, i%17),
		})
	}
	post("/v1/sessions", map[string]any{"id": "long", "user_id": "ada", "messages": messages})
	for i := range n {
		post("/v1/turns", map[string]any{
			"user_id": "ada", "session_id": fmt.Sprintf("s-%d", i/20), "prompt": fmt.Sprintf("I live in Town%d and my favourite tool is tool%d.", i, i%7),
			"response": "Noted.",
		})
		if i%5 == 0 {
			post("/v1/clusters/crew/messages", map[string]any{"topic": "task", "sender": "planner", "text": fmt.Sprintf("Step %d is done.", i)})
		}
	}
	if err := f.eng.Sessions().SettleAll(f.t.Context()); err != nil { // learning is not the time of a page
		f.t.Fatal(err)
	}
}

// fill stores documents of 50 chunks each. Some words are frequent and most are rare, as in a language.
func fill(b *testing.B, f *fixture, chunks int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Minute)
	defer cancel()
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 3, 40_000)
	word := func() string {
		n := zipf.Uint64()
		var w strings.Builder
		for ; n > 0 || w.Len() == 0; n /= 20 {
			w.WriteString([]string{
				"ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi", "yo", "zu",
			}[n%20])
		}
		return w.String()
	}
	for d := range chunks / 50 {
		var text strings.Builder
		for c := range 50 {
			fmt.Fprintf(&text, "# Note %d of %d\n\n", c, d)
			for range 55 {
				text.WriteString(word() + " ")
			}
			text.WriteString("\n\n")
		}
		_, err := f.eng.Documents().Put(ctx, "default", ragctx.Document{
			ExternalID: fmt.Sprintf("d%05d", d), Text: text.String(), MIME: "text/markdown",
		}, "")
		if err != nil {
			b.Fatal(err)
		}
	}
	st, err := f.eng.Admin().Stats(ctx, "default")
	b.Logf("%+v, %v", st, err)
}
